// Package needs estimates the disk space that the stages take.
package needs

import (
	"strings"

	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
	"neardup/pipeline/preferences"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// What a stage takes on the disk, as measured on crawls (docs/running.md). Where the
// workspace has earlier results, their size counts in place of these figures.
const (
	compressedShare = 0.45    // bytes of rows for each byte of a compressed archive
	plainShare      = 0.12    // likewise of one that is not compressed
	revisitBytes    = 2000    // to look up a revisit: two sorted rows of JSON, and the keys by which it refers
	learnFrom       = 8 << 20 // bytes of inputs from which their rows are a better measure
	signaturesEach  = 64      // signatures of a text
	postingBytes    = 38      // of a row of the table of signatures
	edgeShare       = 0.1     // edges for each signature
	edgeBytes       = 41
	messageBytes    = 44
	verdictBytes    = 100 // rows of verify for each text
	exportBytes     = 800 // exports for each page
	sentencesEach   = 50  // sentences of a text
	logBytes        = 96 << 20

	scoreBytes       = 25 // of a row of such a file in the workspace
	sortedScoreBytes = 26 // of a page score, to find those of texts
	sortedPageBytes  = 34 // likewise of a page
	sortedTextBytes  = 46 // and of a text: its sorted row, and one for lookups
)

// isCompressed reports whether a source's name is that of a compressed file.
func isCompressed(s inputs.Source) bool {
	for _, end := range []string{".gz", ".zst", ".lz4", ".wacz", ".bz2"} {
		if strings.HasSuffix(strings.ToLower(s.FilePath()), end) {
			return true
		}
	}
	return s.File != ""
}

// Extract estimates what the stage takes. all is set if it starts over.
func Extract(w *workspace.Workspace, all bool) (n workspace.Need, err error) {
	known, err := w.Sources()
	if err != nil {
		return n, err
	}
	var read, rest, guess, revisits float64
	for _, s := range known {
		revisits += float64(s.Counts.Revisits)
		done := float64(s.Size)
		if s.State == inputs.Pending {
			done = float64(s.Position.Offset)
			if all {
				done = 0
			}
		}
		left := float64(s.Size) - done
		if all {
			left = float64(s.Size)
		}
		share := plainShare
		if isCompressed(s) {
			share = compressedShare
		}
		read, rest, guess = read+done, rest+left, guess+share*left
	}
	if read >= learnFrom && !all {
		var has float64
		for _, table := range []byte{layout.TableDocument, layout.TableText, layout.TableAround, layout.TableOccurrence, layout.TableRevisit} {
			bytes, err := w.DB.DiskUsage(table)
			if err != nil {
				return n, err
			}
			has += float64(bytes)
		}
		if has > 0 { // rows in the log have no size yet
			guess = rest * has / read
		}
		revisits *= 1 + rest/read
	}
	n.Temporary = int64(revisitBytes * revisits)        // all are looked up again
	n.Workspace = int64(guess + min(3*guess, logBytes)) // rows are in the log, too, uncompressed, until they are in tables
	return n, nil
}

// Sign estimates what the stage takes. all is set if it starts over.
func Sign(w *workspace.Workspace, all bool) (n workspace.Need, err error) {
	var extracted results.ExtractCounts
	if err := w.Counts(workspace.StageExtract, &extracted); err != nil {
		return n, err
	}
	texts := extracted.Texts
	if w.Config.Text.Frames > 0 && all {
		n.Temporary = sortBytes(w, texts)
	}
	if !w.Config.Signs() {
		return n, nil
	}
	var signed rows.SignCounts
	if err := w.Counts(workspace.StageSign, &signed); err != nil {
		return n, err
	}
	each := float64(signaturesEach)
	if signed.Texts > 0 {
		each = float64(signed.Signatures) / float64(signed.Texts)
	}
	if !all {
		done, err := w.DB.Count(layout.TableSigned)
		if err != nil {
			return n, err
		}
		texts -= done
	}
	n.Workspace = int64(float64(max(texts, 0)) * each * postingBytes)
	return n, nil
}

// sortBytes returns what sorting the sentences of all texts takes: nothing if they
// fit into memory.
func sortBytes(w *workspace.Workspace, texts int64) int64 {
	if texts*sentencesEach <= int64(w.Options.RunRows) {
		return 0
	}
	return texts * sentencesEach * 16
}

// Cluster estimates what the stage takes. all is set if it starts over.
func Cluster(w *workspace.Workspace, _ bool) (n workspace.Need, err error) {
	var signed rows.SignCounts
	if err := w.Counts(workspace.StageSign, &signed); err != nil {
		return n, err
	}
	edges := float64(signed.Signatures) * edgeShare
	var before rows.ClusterCounts
	if err := w.Counts(workspace.StageCluster, &before); err != nil {
		return n, err
	}
	if before.Edges > 0 {
		edges = float64(before.Edges)
	}
	n.Workspace = int64(2 * edges * edgeBytes) // edges, and sets
	if edges > float64(w.Options.RunRows) {
		n.Temporary = int64(edges * messageBytes)
	}
	scores, err := preferences.ScoreCount(w)
	if err != nil || scores == 0 {
		return n, err
	}
	var extracted results.ExtractCounts
	if err := w.Counts(workspace.StageExtract, &extracted); err != nil {
		return n, err
	}
	n.Temporary += scores*sortedScoreBytes + extracted.Documents*sortedPageBytes + extracted.Texts*sortedTextBytes
	if w.Config.Cluster.Quality != "" {
		n.Workspace += scores * scoreBytes
	}
	return n, nil
}

// Verify estimates what the stage takes. all is set if it starts over.
func Verify(w *workspace.Workspace, all bool) (n workspace.Need, err error) {
	var extracted results.ExtractCounts
	if err := w.Counts(workspace.StageExtract, &extracted); err != nil {
		return n, err
	}
	n.Workspace = extracted.Texts*verdictBytes + extracted.Documents*exportBytes
	if all && w.Config.Verify.RarePages > 0 {
		n.Temporary = sortBytes(w, extracted.Texts)
	}
	return n, nil
}
