package results

import (
	"iter"
	"math/bits"
	"slices"

	"neardup/pipeline/dataflow"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/verify/pair"
	"neardup/verify/rarity"
)

// loadedSentences limits the common sentences that are held in memory, at 12 bytes
// each. More are looked up on disk.
const loadedSentences = 4 << 20

// Common tells on how many pages of a site a sentence stands. Goroutines can share it.
type Common struct {
	w     *workspace.Workspace
	table byte // TableCommon or TableFrame

	held      bool     // otherwise each sentence is looked up
	sentences []uint64 // sorted
	pages     []uint32
}

// OpenCommon returns a Common that looks up each sentence on disk. It is for few
// texts.
func OpenCommon(w *workspace.Workspace, table byte) *Common { return &Common{w: w, table: table} }

// LoadCommon returns a Common that holds the sentences in memory if they are not
// too many.
func LoadCommon(w *workspace.Workspace, table byte) (*Common, error) {
	c := &Common{w: w, table: table, held: true}
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
		if len(c.sentences) == cap(c.sentences) { // append would copy all of a long list several times
			c.sentences, c.pages = slices.Grow(c.sentences, max(1024, len(c.sentences))), slices.Grow(c.pages, max(1024, len(c.pages)))
		}
		c.sentences, c.pages = append(c.sentences, sentence), append(c.pages, pages)
	}
	return c, nil
}

// PagesOf returns the number of pages of a site that have a sentence, or 1 if they
// are too few to be kept.
func (c *Common) PagesOf(sentence uint64) (int, error) {
	pages, ok, err := c.Has(sentence)
	if err != nil || !ok {
		return 1, err
	}
	return pages, nil
}

// Has is PagesOf for callers that must know whether the table has the sentence.
func (c *Common) Has(sentence uint64) (pages int, ok bool, err error) {
	if !c.held {
		return c.w.DB.CommonPages(c.table, sentence)
	}
	i, ok := Find(c.sentences, sentence)
	if !ok {
		return 0, false, nil
	}
	return int(c.pages[i]), true, nil
}

// Find searches sorted hashes. They are spread evenly, so x is near the place that its
// value tells, which takes two looks at memory in place of twenty.
func Find(sorted []uint64, x uint64) (int, bool) {
	hi, _ := bits.Mul64(x, uint64(len(sorted)))
	at, step := int(hi), 8
	from, to := at, at
	for from > 0 && sorted[from] > x {
		from, step = max(0, from-step), 2*step
	}
	for step = 8; to < len(sorted) && sorted[to] < x; step *= 2 {
		to = min(len(sorted), to+step)
	}
	i, ok := slices.BinarySearch(sorted[from:min(len(sorted), to+1)], x)
	return from + i, ok
}

// Pages returns the number of pages of each common sentence of a text, by unit.
func (c *Common) Pages(t rows.TextID, compared string) (map[uint64]int, error) {
	sites, _, err := placesOf(c.w, t)
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

// placesOf returns the hashes of the sites that have the text, sorted, and what names
// its pages there.
func placesOf(w *workspace.Workspace, t rows.TextID) (sites []uint64, names pair.Names, err error) {
	return SitesAndNames(w.DB.Rows(layout.PrefixBounds(layout.OccurrencesOf(t))))
}

// NamesOf returns what names the pages of a text.
func NamesOf(w *workspace.Workspace, t rows.TextID) (pair.Names, error) {
	_, names, err := placesOf(w, t)
	return names, err
}

// SitesAndNames returns the hashes of the sites of a text, sorted, and what names its pages
// there, from its rows of TableOccurrence.
func SitesAndNames(occurrences iter.Seq2[layout.Row, error]) (sites []uint64, names pair.Names, err error) {
	for r, err := range occurrences {
		if err != nil {
			return nil, pair.Names{}, err
		}
		o, err := r.Occurrence()
		if err != nil {
			return nil, pair.Names{}, err
		}
		if o.Site != rows.NoSite {
			sites = append(sites, o.Site)
		}
		names.Add(o.Address, o.Title)
	}
	slices.Sort(sites)
	return slices.Compact(sites), names, nil
}
