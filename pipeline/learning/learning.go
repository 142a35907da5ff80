// Package learning has what sign and verify learn from all texts before they look at
// each: the sentences that belong to the frames of sites, how common sentences are on
// their sites, and how frequent terms are. Where crawls were added, only the sentences
// of texts with new pages are counted again.
package learning

import (
	"errors"

	"neardup/pipeline/layout"
	"neardup/pipeline/store"
)

// Notes are the names of the rows about the database that say what is learned already.
var Notes = []string{noteOfCounts, noteOfTouched}

// cursor records what sign has learned.
type cursor struct {
	Learned bool `json:"learned"` // the frames
	Terms   bool `json:"terms,omitempty"`
}

// Forget has all sentences counted the next time, as where pages have gone.
func Forget(b store.Batch) error {
	return errors.Join(b.Delete(layout.MetaKey(noteOfCounts)), forgetTouched(b))
}
