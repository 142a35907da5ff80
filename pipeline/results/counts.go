package results

import "neardup/pipeline/inputs"

// ExtractCounts are the counts of stage extract.
type ExtractCounts struct {
	inputs.RecordCounts
	Files      int   `json:"files"`
	Unreadable int   `json:"unreadable_files"`
	Bytes      int64 `json:"bytes"` // bytes of the files
	Documents  int64 `json:"documents"`
	Duplicates int64 `json:"duplicates"`        // captures of documents that another file had
	Resolved   int64 `json:"resolved_revisits"` // revisits whose capture was found; the others are skipped
	Texts      int64 `json:"texts"`             // distinct visible texts
}
