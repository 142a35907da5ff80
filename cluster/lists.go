package cluster

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"

	"neardup/signature"
)

// Posting records that a document has a signature.
type Posting struct {
	Signature signature.Signature
	Key       Key
}

// Edge records that two documents are in one list. Rep has the larger key; as a
// rule it is the list's representative.
type Edge struct{ Rep, Member Key }

// ListOptions choose which lists are deleted. The paper: "We delete the signatures
// which exist very frequently ( > 10000 times) and which exist frequently ( > 400
// times) and focus on some certain web sites" (templates and spam).
type ListOptions struct {
	MaxList  int `json:"max_list" yaml:"max_list"`   // longer lists are deleted; at least 2
	SiteList int `json:"site_list" yaml:"site_list"` // lists of more pages are deleted if few sites hold them; 0: never
	AllPairs int `json:"all_pairs" yaml:"all_pairs"` // lists up to this length give an edge for every pair, longer ones only for pairs with the representative
}

// ListCounts accounts for every posting of the lists that have ended.
type ListCounts struct {
	Postings        int64 `json:"postings" yaml:"postings"`
	Lists           int64 `json:"lists" yaml:"lists"`                       // all lists, one for each signature
	Singletons      int64 `json:"singletons" yaml:"singletons"`             // lists of one document
	DeletedFrequent int64 `json:"deleted_frequent" yaml:"deleted_frequent"` // lists longer than MaxList
	DeletedSites    int64 `json:"deleted_sites" yaml:"deleted_sites"`       // lists concentrated on few sites
	DeletedPostings int64 `json:"deleted_postings" yaml:"deleted_postings"` // postings of deleted lists
	Edges           int64 `json:"edges" yaml:"edges"`
	Longest         int64 `json:"longest" yaml:"longest"`       // postings of the longest list, deleted or not
	OfLongest       int64 `json:"of_longest" yaml:"of_longest"` // lists with so many postings
}

// Remove takes the counts of other lists from c. It leaves Longest and OfLongest.
func (c *ListCounts) Remove(o ListCounts) {
	c.Postings -= o.Postings
	c.Lists -= o.Lists
	c.Singletons -= o.Singletons
	c.DeletedFrequent -= o.DeletedFrequent
	c.DeletedSites -= o.DeletedSites
	c.DeletedPostings -= o.DeletedPostings
	c.Edges -= o.Edges
}

// Add adds the counts of other lists to c.
func (c *ListCounts) Add(o ListCounts) {
	c.Postings += o.Postings
	c.Lists += o.Lists
	c.Singletons += o.Singletons
	c.DeletedFrequent += o.DeletedFrequent
	c.DeletedSites += o.DeletedSites
	c.DeletedPostings += o.DeletedPostings
	c.Edges += o.Edges
	switch {
	case o.Longest > c.Longest:
		c.Longest, c.OfLongest = o.Longest, o.OfLongest
	case o.Longest == c.Longest:
		c.OfLongest += o.OfLongest
	}
}

// Lists turns postings, sorted by signature, into the edges from each list's
// representative ("the document which has 'largest' key") to its other
// members. It never holds more than MaxList+1 keys. Do not use it after an
// error.
type Lists struct {
	o            ListOptions
	concentrated func([]Key) (bool, error)
	emit         func(Edge) error
	long         func(signature.Signature, LongList) error
	counts       ListCounts

	// The current list.
	signature signature.Signature
	begun     bool  // signature is set
	postings  int64 // of the list; 0 when it has been flushed
	keys      []Key
	sorted    bool // keys are sorted and distinct, because they were full once
	deleted   bool // there were more than MaxList
}

// NewLists returns a Lists that calls emit with each edge. It calls concentrated
// for lists of more than SiteList documents, with their keys from the largest
// down; nil turns that rule off. The options must be valid.
func NewLists(o ListOptions, concentrated func(members []Key) (bool, error), emit func(Edge) error) *Lists {
	return &Lists{o: o, concentrated: concentrated, emit: emitting("edge", emit)}
}

// Long makes l call to with each list of more than SiteList or MaxList documents,
// deleted or not.
func (l *Lists) Long(to func(signature.Signature, LongList) error) { l.long = to }

// LongList is a list that is long enough to be deleted.
type LongList struct {
	Postings     int64
	Concentrated bool // few sites hold it
}

// Add adds the next posting. Within a list, documents may come in any order (a
// page quality may have replaced the weight that they were sorted by) and more
// than once. When Add returns, it has emitted all edges of signatures before p's,
// and Counts counts exactly those, so a caller may save its place there.
func (l *Lists) Add(p Posting) error {
	order := bytes.Compare(p.Signature[:], l.signature[:])
	if l.begun && (order < 0 || order == 0 && l.postings == 0) {
		return fmt.Errorf("cluster: postings out of order: signature %x after %x", p.Signature, l.signature)
	}
	if order != 0 || !l.begun {
		if err := l.Flush(); err != nil {
			return err
		}
		l.begun, l.signature = true, p.Signature
	}
	l.postings++
	if !l.deleted {
		l.insert(p.Key)
	}
	return nil
}

// insert adds k to keys. It appends until keys are full. If repetitions filled
// them, it removes these and from then on inserts keys in place.
func (l *Lists) insert(k Key) {
	if !l.sorted {
		l.keys = append(l.keys, k)
	} else if i, found := slices.BinarySearchFunc(l.keys, k, Key.Compare); !found {
		l.keys = slices.Insert(l.keys, i, k)
	}
	if len(l.keys) > l.o.MaxList {
		l.sort()
		l.deleted = len(l.keys) > l.o.MaxList
	}
}

func (l *Lists) sort() {
	if !l.sorted {
		slices.SortFunc(l.keys, Key.Compare)
		l.keys = slices.Compact(l.keys)
		l.sorted = true
	}
}

// Flush ends the last list.
func (l *Lists) Flush() error {
	if l.postings == 0 {
		return nil
	}
	l.sort()
	list := LongList{Postings: l.postings}
	if !l.deleted && l.o.asks(len(l.keys)) && l.concentrated != nil {
		var err error
		if list.Concentrated, err = l.concentrated(l.keys); err != nil {
			return fmt.Errorf("cluster: sites of signature %x: %w", l.signature, err)
		}
	}
	if l.long != nil && (l.deleted || l.o.asks(len(l.keys))) {
		if err := l.long(l.signature, list); err != nil {
			return err
		}
	}
	counts, kept := l.o.Account(list, len(l.keys))
	if kept {
		for edge := range Pairs(l.keys, l.o.AllPairs) {
			if err := l.emit(edge); err != nil {
				return err
			}
		}
	}
	l.counts.Add(counts)
	l.keys, l.postings, l.sorted, l.deleted = l.keys[:0], 0, false, false
	return nil
}

// asks reports whether the sites of a list of n documents decide about it.
func (o ListOptions) asks(n int) bool { return o.SiteList > 0 && n > o.SiteList }

// IsLong reports whether a list of n documents is long enough to be deleted.
func (o ListOptions) IsLong(n int64) bool {
	return n > int64(o.MaxList) || o.SiteList > 0 && n > int64(o.SiteList)
}

// Account returns the counts of one list of n documents, and whether it is kept and
// has edges. n counts up to MaxList+1.
func (o ListOptions) Account(list LongList, n int) (c ListCounts, kept bool) {
	c = ListCounts{Postings: list.Postings, Lists: 1, Longest: list.Postings, OfLongest: 1}
	switch {
	case n > o.MaxList:
		c.DeletedFrequent, c.DeletedPostings = 1, list.Postings
	case list.Concentrated:
		c.DeletedSites, c.DeletedPostings = 1, list.Postings
	case n == 1:
		c.Singletons = 1
	case n <= o.AllPairs:
		c.Edges = int64(n) * int64(n-1) / 2
	default:
		c.Edges = int64(n - 1)
	}
	return c, c.Edges > 0
}

// Pairs yields the pairs of documents of one list, from the largest key down. It
// yields all pairs of up to limit documents. Of more documents it yields only the
// pairs with the first, so that their number does not grow with the square. Rep
// is the larger.
func Pairs(keys []Key, limit int) iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		reps := 1
		if len(keys) <= limit {
			reps = len(keys)
		}
		for i, rep := range keys[:min(reps, len(keys))] {
			for _, m := range keys[i+1:] {
				if !yield(Edge{Rep: rep, Member: m}) {
					return
				}
			}
		}
	}
}

// Counts returns the counts of the lists that have ended.
func (l *Lists) Counts() ListCounts { return l.counts }

// Page is a page that a document is of: hashes of its site and its address.
type Page struct{ Site, Address uint64 }

// Concentrated reports whether there are more than most pages, of which the few most
// common sites have at least the given share. Captures of one page count once: a page
// that is crawled each day is no template. The paper says only that a signature's
// documents "focus on some certain web sites"; this rule is our reading of it.
func Concentrated(pages []Page, most int, share float64, few int) bool {
	pages = slices.Clone(pages)
	slices.SortFunc(pages, func(a, b Page) int { return cmp.Or(cmp.Compare(a.Site, b.Site), cmp.Compare(a.Address, b.Address)) })
	s := slices.Compact(pages)
	if len(s) <= most {
		return false
	}
	var runs []int
	for from := 0; from < len(s); {
		to := from + 1
		for to < len(s) && s[to].Site == s[from].Site {
			to++
		}
		runs = append(runs, to-from)
		from = to
	}
	slices.Sort(runs)
	sum := 0
	for _, n := range runs[max(0, len(runs)-max(0, few)):] {
		sum += n
	}
	return float64(sum)/float64(len(s)) >= share
}

// emitting wraps emit, so that its error names what was emitted.
func emitting[T any](what string, emit func(T) error) func(T) error {
	return func(v T) error {
		if err := emit(v); err != nil {
			return fmt.Errorf("cluster: emit %s: %w", what, err)
		}
		return nil
	}
}
