// Package stages has the stages of a run: extract, sign, cluster and verify, which
// ends with the closing. Each reads rows and writes rows. The computations are in
// packages extract, signature, cluster and verify.
package stages

import (
	"context"
	"encoding/json"

	"neardup/cluster/search"
	"neardup/configs"
	"neardup/pipeline/layout"
	"neardup/pipeline/learning"
	"neardup/pipeline/needs"
	"neardup/pipeline/preferences"
	"neardup/pipeline/results"
	"neardup/pipeline/withdrawals"
	"neardup/pipeline/workspace"
)

// All lists the stages in their order. This is the history of their versions:
//
//	version 1: first
//	extract 2: revisits, kinds of pages, overlays
//	extract 3: addresses of occurrences
//	extract 4: status and record_bytes of documents
//	extract 5: main content by a learned model
//	extract 6: title and by-line apart
//	extract 7: parts of streamed pages, short titles; files of one name are told apart
//	extract 8: what is visible around the main content
//	extract 9: PDF
//	extract 10: weights that their script makes again
//	extract 11: titles of the pages of a text
//	extract 12: short main content beside other text is uncertain
//	extract 13: units of texts and of what is around them
//	extract 14: units are hashes by xxHash
//	extract 15: words of titles
//	extract 16: what all records of a file may be decoded to
//	extract 17: IDs of documents cover titles, and media types of records without an HTTP header; a row of units around the text for each record
//	extract 18: captures with WARC-Truncated are clipped
//	extract 19: PDF documents of very many lines, texts that look chunked, gbk, brackets in URIs; elements that browsers break at, show or do not show
//	extract 20: units are of letters, marks and numbers
//	extract 21: each byte that cannot be decoded counts; texts with such bytes are noted, bodies shorter than declared are clipped
//	extract 22: derived documents, profiles and dates of revisits, wrong block digests
//	extract 23: text of PDF pages that is turned, shadow roots, several Content-Type fields
//	extract 24: a higher threshold of the main content where the best lines are far above; steps of PDF documents count for their file
//	extract 25: the only h1 below a line that is the whole title; numbers are words of titles; hosts without odd ports, header fields without C1 controls; sentences as sign 10
//	extract 26: addresses of pages without scheme, www and the fields of a visit; comments of threads; sentences as sign 11
//	sign 2: pages: topic
//	sign 3: texts without a signature
//	sign 4: frames
//	sign 5: frames of small sites, and of what is around texts
//	sign 7: rows of signed texts have their sentences in frames
//	sign 8: sentences by their letters, marks and numbers
//	sign 9: final sigma, variation selectors, texts of symbols
//	sign 10: spaces end clauses of Thai, Lao, Burmese and Khmer, ASCII marks those beside wide letters
//	sign 11: numbers of notes do not count; short sentences do where there are few others
//	cluster 2: rows count lists; long lists
//	cluster 3: captures of one page are one page where lists of few sites are deleted
//	verify 2: subjects; early end of rounds that cannot reach the threshold
//	verify 3: names of one wide character
//	verify 4: early ends are exact
//	verify 5: rarity
//	verify 6: partition
//	verify 7: frames
//	verify 8: pairs of long texts
//	verify 9: all pairs of sets with closing: transitive
//	verify 12: results of sets and components
//	verify 13: with quick digests
//	verify 14: subjects that titles name
//	verify 15: near pages that share little but a frame are compared without it
//	verify 16: in very large sets, texts that share only a little that many share are not compared
//	verify 17: results of sets and components have what the measure said
//	verify 18: they have decisions on pairs, and states of the texts
//	verify 19: the sentences of the leaders of a large set tell whom a text is compared with
//	verify 20: what they told is kept
//	verify 21: what the measure said of two whole texts is kept
//	verify 22: texts of different sites regain what is in the frame of one only
//	verify 23: weights of sentences by their letters, marks and numbers
//	verify 24: as sign 9
//	verify 25: pages of different sites that say other numbers
//	verify 26: numbers in titles, and how often texts say the words of both; as sign 10
//	verify 27: pages with other titles and addresses are not alike; as sign 11
var All = []workspace.Stage{
	{Name: workspace.StageExtract, Version: 26, Options: extractOptions, Run: runExtract, Extends: always, Need: needs.Extract,
		Tables: []byte{layout.TableDocument, layout.TableText, layout.TableUnits, layout.TableAround, layout.TableUnitsRound,
			layout.TableOccurrence, layout.TableRevisit, layout.TableWanted}},
	{Name: workspace.StageSign, Version: 11, Options: signOptions, Run: runSign, Extends: learnsNoTerms, Need: needs.Sign,
		Tables:  []byte{layout.TableFrame, layout.TableTerm, layout.TableSigned, layout.TablePosting},
		Scratch: []byte{layout.TableChanged, layout.TableCounted, layout.TableTouched}, Notes: append([]string{noteOfChanges, withdrawals.NoteOfVanished}, learning.Notes...)},
	{Name: workspace.StageCluster, Version: 3, Options: clusterOptions, Run: runCluster, Extends: updates, Need: needs.Cluster, Scored: true,
		Tables: []byte{layout.TableSearch, layout.TableLong, layout.TableFormerRows, layout.TableSet}, Scratch: []byte{layout.TableFilter, layout.TableFileScore}},
	{Name: workspace.StageVerify, Version: 27, Options: verifyOptions, Run: runVerify, Extends: inSets, Need: needs.Verify,
		Tables:  append([]byte{layout.TableCommon, layout.TableVerdict, layout.TableChecked, layout.TablePart, layout.TableSetResult, layout.TablePartResult}, tablesOfClosing...),
		Scratch: []byte{layout.TableState}, Follows: closingAgain, Prepare: indexJudged},
}

func always(configs.Config, workspace.ScoreSet) bool { return true }

// learnsNoTerms reports whether new crawls leave the weights of terms as they are.
// Frequencies counted in the collection would change all of them.
func learnsNoTerms(c configs.Config, _ workspace.ScoreSet) bool { return !c.CountsTerms() }

// updates reports whether the rows of the search can be brought up to date where
// postings changed. With page scores, a new page may give any text another key.
func updates(c configs.Config, scores workspace.ScoreSet) bool {
	_, ok := c.NewSearch().(search.Updater)
	return ok && c.Cluster.Quality == "" && scores == (workspace.ScoreSet{})
}

// inSets reports whether candidates are sets. The results of sets are kept, and new
// crawls leave most of them as they are, unless they change the weights of terms.
func inSets(c configs.Config, _ workspace.ScoreSet) bool { return !c.Pairs() && !c.CountsTerms() }

// The options of a stage are whole sections of the config, so that no setting can
// be forgotten. Settings of parts that the method does not use are left out.
func extractOptions(c configs.Config) (json.RawMessage, error) { return json.Marshal(c.Extract) }

func signOptions(c configs.Config) (json.RawMessage, error) { return json.Marshal(c.UsedBySign()) }

func clusterOptions(c configs.Config) (json.RawMessage, error) {
	digest, err := preferences.FileDigest(c.Cluster.Quality)
	if err != nil {
		return nil, err
	}
	used := c.UsedByCluster()
	used["quality_digest"] = digest
	return json.Marshal(used)
}

func verifyOptions(c configs.Config) (json.RawMessage, error) { return json.Marshal(c.UsedByVerify()) }

// indexJudged makes the index of record IDs if there are judged pairs to follow.
func indexJudged(ctx context.Context, w *workspace.Workspace, judged []workspace.EnforcedPair) error {
	if len(judged) == 0 {
		return nil
	}
	return results.IndexNames(ctx, w)
}

// Names returns the names of the stages in their order.
func Names() []string {
	var names []string
	for _, st := range All {
		names = append(names, st.Name)
	}
	return names
}
