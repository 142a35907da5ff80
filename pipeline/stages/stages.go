// Package stages has the stages of a run: extract, sign, cluster and verify, which
// ends with the closing. Each reads rows and writes rows; what it computes is in
// the packages extract, signature, cluster and verify.
package stages

import (
	"context"
	"encoding/json"

	"neardup/configs"
	"neardup/pipeline/results"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

// The stages in their order.
//
//	version 1: first
//	extract 2: revisits, kinds of pages, overlays
//	extract 3: addresses of occurrences; 4: status and record_bytes of documents; 5: main content by a learned model; 6: title and by-line apart; 7: parts of streamed pages, short titles
//	extract 7: files of one name are told apart
//	sign 2: pages: topic; 3: texts without a signature; 4: frames
//	verify 2: subjects; when rounds are hopeless; 3: names of one wide character; 4: early ends are exact; 5: rarity; 6: partition; 7: frames
var All = []workspace.Stage{
	{Name: workspace.StageExtract, Version: 7, Options: extractOptions, Run: runExtract, Extends: always,
		Tables: []byte{store.TableDocument, store.TableText, store.TableOccurrence, store.TableRevisit, store.TableWanted}},
	{Name: workspace.StageSign, Version: 4, Options: signOptions, Run: runSign, Extends: withoutFrames,
		Tables: []byte{store.TableFrame, store.TableSigned, store.TablePosting}},
	{Name: workspace.StageCluster, Version: 1, Options: clusterOptions, Run: runCluster,
		Tables: []byte{store.TableEdge, store.TablePermuted, store.TableSet}},
	{Name: workspace.StageVerify, Version: 7, Options: verifyOptions, Run: runVerify,
		Tables: append([]byte{store.TableCommon, store.TableVerdict, store.TableChecked, store.TablePart}, tablesOfClosing...), Follows: closingAgain, Prepare: indexJudged},
}

func always(configs.Config) bool { return true }

// withoutFrames reports whether texts are signed as they are: what more crawls
// teach of frames changes the signatures of texts that were there before.
func withoutFrames(c configs.Config) bool { return c.Text.Frames == 0 }

// The options of each stage are whole sections of the config, so that none can
// be forgotten, but for those of parts that the method does not have.
func extractOptions(c configs.Config) (json.RawMessage, error) { return json.Marshal(c.Extract) }

func signOptions(c configs.Config) (json.RawMessage, error) { return json.Marshal(c.UsedBySign()) }

func clusterOptions(c configs.Config) (json.RawMessage, error) {
	digest, err := results.QualityDigest(c.Cluster.Quality)
	if err != nil {
		return nil, err
	}
	used := c.UsedByCluster()
	used["quality_digest"] = digest
	return json.Marshal(used)
}

func verifyOptions(c configs.Config) (json.RawMessage, error) { return json.Marshal(c.UsedByVerify()) }

// indexJudged makes the index of record ids if there are judged pairs to follow.
func indexJudged(ctx context.Context, w *workspace.Workspace, judged []workspace.EnforcedPair) error {
	if len(judged) == 0 {
		return nil
	}
	return results.IndexNames(ctx, w)
}

// Names lists the stages in their order.
func Names() []string {
	var names []string
	for _, st := range All {
		names = append(names, st.Name)
	}
	return names
}
