package results

import (
	"encoding/binary"
	"slices"

	"neardup/pipeline/dataflow"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/verify/rarity"
)

// loadedSentences are the common sentences that are held in memory, 12 bytes
// each; more are looked up on disk.
const loadedSentences = 4 << 20

// Common tells on how many pages of a site a sentence stands. It does not
// change, so goroutines can share it.
type Common struct {
	w     *workspace.Workspace
	table byte // TableCommon or TableFrame

	loaded    bool
	sentences []uint64 // sorted
	pages     []uint32
}

// OpenCommon looks sentences up one by one, for few texts.
func OpenCommon(w *workspace.Workspace, table byte) *Common { return &Common{w: w, table: table} }

// LoadCommon looks sentences up in memory, if there are not too many.
func LoadCommon(w *workspace.Workspace, table byte) (*Common, error) {
	c := OpenCommon(w, table)
	for r, err := range w.DB.Table(table) {
		if err != nil {
			return nil, err
		}
		sentence, pages, err := r.Common()
		if err != nil {
			return nil, err
		}
		if len(c.sentences) == loadedSentences {
			return OpenCommon(w, table), nil
		}
		c.sentences, c.pages = append(c.sentences, sentence), append(c.pages, pages)
	}
	c.loaded = true
	return c, nil
}

// PagesOf is the number of pages of a site that have a sentence; 1 where they
// are too few to be kept.
func (c *Common) PagesOf(sentence uint64) (int, error) {
	if c.loaded {
		if i, ok := slices.BinarySearch(c.sentences, sentence); ok {
			return int(c.pages[i]), nil
		}
		return 1, nil
	}
	v, ok, err := c.w.DB.Get(store.CommonKey(c.table, sentence))
	switch {
	case err != nil || !ok:
		return 1, err
	case len(v) != 4:
		return 1, store.Corrupt(store.CommonKey(c.table, sentence))
	}
	return int(binary.BigEndian.Uint32(v)), nil
}

// Pages gives the pages of the common sentences of a text, by their units.
func (c *Common) Pages(t rows.TextID, compared string) (map[uint64]int, error) {
	sites, err := sitesOf(c.w, t)
	if err != nil || c.w.Config.Verify.RarePages == 0 {
		return nil, err
	}
	out := map[uint64]int{}
	for _, u := range rarity.Units(compared, rarity.UnitOf) {
		pages, err := dataflow.MaxPages(sites, u.Key, c.PagesOf)
		if err != nil {
			return nil, err
		}
		if pages > 1 {
			out[u.Key] = pages
		}
	}
	return out, nil
}

// sitesOf are the hashes of the sites that have the text, sorted.
func sitesOf(w *workspace.Workspace, t rows.TextID) (sites []uint64, err error) {
	for r, err := range w.DB.Rows(store.PrefixBounds(store.Key(store.TableOccurrence, t[:]))) {
		if err != nil {
			return nil, err
		}
		o, err := r.Occurrence()
		if err != nil {
			return nil, err
		}
		if o.Site != rows.NoSite && !slices.Contains(sites, o.Site) {
			sites = append(sites, o.Site)
		}
	}
	slices.Sort(sites)
	return sites, nil
}
