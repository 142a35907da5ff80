package report

import (
	"encoding/json"
	"io"
)

// ContainedPage is a page whose text is contained in that of another page, which is
// in another cluster or in none. It stands for all pages with that text.
type ContainedPage struct {
	RecordID    string `json:"record_id"`
	URI         string `json:"uri"`
	Date        string `json:"date"`
	Path        string `json:"path"` // path of the file, as in Member
	Entry       string `json:"entry,omitempty"`
	Offset      int64  `json:"offset"`
	Pages       int    `json:"pages"`             // number of pages with its text
	Cluster     string `json:"cluster,omitempty"` // its own cluster
	In          string `json:"in"`                // record ID of the page that contains it
	Resemblance Score  `json:"resemblance"`
	Containment Score  `json:"containment"` // containment of its text in the other
	Document    string `json:"-"`           // docID

	// The page that contains it.
	InURI      string `json:"-"`
	InPath     string `json:"-"`
	InEntry    string `json:"-"`
	InOffset   int64  `json:"-"`
	InDate     string `json:"-"`
	InDocument string `json:"-"`
	InCluster  string `json:"-"` // empty if it is in no cluster
}

// ContainedCounts counts texts that are contained in texts of other clusters.
type ContainedCounts struct {
	Texts     int64 `json:"texts"`
	Pages     int64 `json:"pages"`     // pages that have these texts
	Clustered int64 `json:"clustered"` // pages of these that are in a cluster of their own
}

// ContainedWriter writes one contained page. It does not close the underlying
// writer.
type ContainedWriter func(ContainedPage) error

// NewContainedJSONL returns a writer of one line of JSON for each contained page.
func NewContainedJSONL(w io.Writer) ContainedWriter {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return func(p ContainedPage) error {
		return e.Encode(struct {
			ContainedPage
			InURI     string `json:"in_uri"`
			InDate    string `json:"in_date"`
			InPath    string `json:"in_path"`
			InEntry   string `json:"in_entry,omitempty"`
			InOffset  int64  `json:"in_offset"`
			InCluster string `json:"in_cluster,omitempty"`
		}{p, p.InURI, p.InDate, p.InPath, p.InEntry, p.InOffset, p.InCluster})
	}
}
