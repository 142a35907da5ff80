package earlier

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"neardup/cluster"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
)

// A set that fell apart, or became one with others, has another name, or several. So the
// results of large sets are found by their texts, too.

const (
	manyFormer = 16 // texts of a set that the result of another must have to be used
	mostFormer = 8  // results that are used for one set
)

// former finds the results of large sets by their texts.
type former struct {
	mu    sync.Mutex
	rows  *store.Seeker // the results as they were at first; nil: not open yet
	read  bool
	names []cluster.Key
	of    []int32 // by place of a text: 1 + the place in names of the result that has it, or 0
}

// begin opens the results before the first of them is replaced.
func (f *former) begin(db *store.DB) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rows == nil {
		f.rows, err = db.Seeker(layout.TableSetResult)
	}
	return err
}

func (f *former) close() {
	if f != nil && f.rows != nil {
		_ = f.rows.Close() // the lookups have reported its errors
	}
}

// results returns the results of the sets that had many of some texts, the one that had the
// most first. They have room for so many decisions.
func (f *former) results(texts *texts, some []rows.TextID, room int) (found []*layout.Result, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.read {
		if err := f.readNames(texts); err != nil {
			return nil, err
		}
		f.read = true
	}
	shared := map[int32]int{} // texts by result
	for _, id := range some {
		if i, ok := texts.of(id); ok && f.of[i] > 0 {
			shared[f.of[i]]++
		}
	}
	maps.DeleteFunc(shared, func(_ int32, n int) bool { return n < manyFormer })
	most := slices.SortedFunc(maps.Keys(shared), func(a, b int32) int { return cmp.Or(cmp.Compare(shared[b], shared[a]), cmp.Compare(a, b)) })
	for _, n := range most[:min(mostFormer, len(most))] {
		key := layout.ResultKey(layout.TableSetResult, f.names[n-1])
		r, ok, err := f.rows.Get(key)
		if err == nil && !ok {
			err = layout.Corrupt(key)
		}
		var x layout.Result
		if err == nil {
			x, err = r.Result()
		}
		if err != nil {
			return nil, err
		}
		if room -= len(x.Decided) + len(x.Screening.Left); room < 0 {
			break
		}
		found = append(found, &x)
	}
	return found, nil
}

func (f *former) readNames(texts *texts) error {
	f.of = make([]int32, len(texts.ids))
	for r, err := range f.rows.Rows([]byte{layout.TableSetResult}) {
		var name cluster.Key
		var of []rows.TextID
		if err == nil {
			name, err = r.ResultName()
		}
		if err == nil {
			of, err = r.ResultTexts(manyFormer)
		}
		if err != nil {
			return err
		}
		if len(of) == 0 {
			continue
		}
		f.names = append(f.names, name)
		for _, id := range of {
			if i, ok := texts.of(id); ok {
				f.of[i] = int32(len(f.names))
			}
		}
	}
	return nil
}

// noted returns what is noted of the texts of a set: in the result x that was found by its
// name, unless that is nil, and in those of other sets that had many of its other texts.
func (e *Results) noted(set []cluster.Key, x *layout.Result) (noted []dataflow.Earlier, err error) {
	var found []*layout.Result
	room := dataflow.MostDecided
	if x != nil {
		found = append(found, x)
		room -= len(x.Decided)
	}
	if e.table == layout.TableSetResult && dataflow.Screens(e.w.Config.Verify, len(set)) {
		if others := without(set, x); len(others) >= manyFormer {
			more, err := e.former.results(e.texts, others, room)
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		}
	}
	for _, x := range found {
		noted = append(noted, dataflow.Earlier{States: x.States, Decided: x.Decided, Screening: x.Screening})
	}
	return noted, nil
}

// without returns the texts of a set that a result does not have. It may be nil.
func without(set []cluster.Key, x *layout.Result) (texts []rows.TextID) {
	has := map[rows.TextID]bool{}
	if x != nil {
		for _, s := range x.States {
			has[s.ID] = true
		}
	}
	for _, k := range set {
		if !has[k.ID()] {
			texts = append(texts, k.ID())
		}
	}
	return texts
}
