package results

import "neardup/pipeline/workspace"

// ExtractCounts has the counts of the stage extract.
type ExtractCounts struct {
	workspace.RecordCounts
	Files      int   `json:"files"`
	Unreadable int   `json:"unreadable_files"`
	Bytes      int64 `json:"bytes"` // of the files
	Documents  int64 `json:"documents"`
	Duplicates int64 `json:"duplicates"`        // captures of a document met before
	Resolved   int64 `json:"resolved_revisits"` // captures that are revisits of a document; the others are skipped
	Texts      int64 `json:"texts"`             // distinct visible texts
}
