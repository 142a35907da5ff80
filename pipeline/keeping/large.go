package keeping

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"sync"

	"neardup/keep"
	"neardup/pipeline/extsort"
	"neardup/pipeline/groups"
	"neardup/report"
)

// chosenPages is how many pages of a cluster are chosen from together. Those of a larger
// cluster are divided by the group in which they can replace each other and by URI. Each
// part keeps a page of each group and URI that it has, so more pages stay than necessary.
var chosenPages = 65536

// large is a cluster of many pages, which are in files.
type large struct {
	rules   keep.Rules
	cluster report.Cluster  // without members
	pages   *extsort.Sorter // place[8] → the member, packed
	byURI   *extsort.Sorter // group, 0, URI, 0, place[8] → what the choice depends on, packed
	choices *extsort.Sorter // place[8] → the choice, packed
	dir     string
	places  uint64
	revisit bool // it has revisits
}

func newLarge(dir string, r keep.Rules) *large {
	return &large{rules: r, pages: extsort.New(dir), byURI: extsort.New(dir), choices: extsort.New(dir), dir: dir}
}

func (x *large) close() error {
	return errors.Join(x.pages.Close(), x.byURI.Close(), x.choices.Close())
}

// open are the large clusters whose files are open. Goroutines can share it.
type open struct {
	mu  sync.Mutex
	all []*large
}

func (o *open) new(dir string, r keep.Rules) *large {
	x := newLarge(dir, r)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, x)
	return x
}

// drop drops the files of a cluster.
func (o *open) drop(x *large) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = slices.DeleteFunc(o.all, func(other *large) bool { return other == x })
	return x.close()
}

// close drops all files.
func (o *open) close() (err error) {
	for _, x := range o.all {
		err = errors.Join(err, x.close())
	}
	return err
}

// add adds a part.
func (x *large) add(c report.Cluster) error {
	for _, m := range c.Members {
		place := binary.BigEndian.AppendUint64(nil, x.places)
		key := append(append([]byte(x.rules.Group(m)), 0), m.URI...)
		if err := errors.Join(x.pages.Add(place, packMember(m)), x.byURI.Add(append(append(key, 0), place...), packAbout(m))); err != nil {
			return err
		}
		x.places++
		x.revisit = x.revisit || m.RevisitOf != ""
	}
	if x.cluster = c; c.More {
		return nil
	}
	x.cluster.From, x.cluster.Members = 0, nil
	return errors.Join(x.pages.Free(), x.byURI.Free())
}

// choose chooses from the pages, part by part.
func (x *large) choose(ctx context.Context, t keep.Texts) (err error) {
	others := extsort.New(x.dir) // part[8] → a revisit, packed
	defer func() { err = errors.Join(err, others.Close()) }()
	if x.revisit && x.places > uint64(chosenPages) {
		if err := x.otherRevisits(ctx, others); err != nil {
			return err
		}
	}
	shared := extsort.New(x.dir) // as byURI, of pages whose record ID other pages have
	defer func() { err = errors.Join(err, shared.Close()) }()
	var elsewhere keep.Elsewhere
	if x.places > uint64(chosenPages) {
		if elsewhere.Judged, err = x.acrossParts(ctx, shared); err != nil {
			return err
		}
	}
	next, stop := iter.Pull2(others.Sorted())
	defer stop()
	other, err, more := next()
	if err != nil {
		return err
	}
	nextShared, stopShared := iter.Pull2(shared.Sorted())
	defer stopShared()
	sharing, err, moreShared := nextShared()
	if err != nil {
		return err
	}
	elsewhere.Shared = map[string]bool{}
	var members []report.Member
	var places []uint64
	part := uint64(0)
	end := func() error {
		for ; err == nil && more && binary.BigEndian.Uint64(other.Key) == part; other, err, more = next() {
			m, err := unpackAbout(other.Value)
			if err != nil {
				return err
			}
			elsewhere.Revisits = append(elsewhere.Revisits, m)
		}
		if err != nil {
			return err
		}
		choices, err := x.rules.ChoosePart(report.Cluster{Members: members}, elsewhere, t)
		if err != nil {
			return err
		}
		for i, c := range choices {
			if err := x.choices.Add(binary.BigEndian.AppendUint64(nil, places[i]), packChoice(c)); err != nil {
				return err
			}
		}
		members, elsewhere.Revisits, places = members[:0], elsewhere.Revisits[:0], places[:0]
		clear(elsewhere.Shared)
		part++
		return ctx.Err()
	}
	for e, err := range x.byURI.Sorted() {
		var m report.Member
		if err == nil {
			m, err = unpackAbout(e.Value)
		}
		if err != nil {
			return err
		}
		if len(members) == chosenPages {
			if err := end(); err != nil {
				return err
			}
		}
		if moreShared && bytes.Equal(sharing.Key, e.Key) {
			elsewhere.Shared[m.RecordID] = true
			if sharing, err, moreShared = nextShared(); err != nil {
				return err
			}
		}
		members, places = append(members, m), append(places, binary.BigEndian.Uint64(e.Key[len(e.Key)-8:]))
	}
	return errors.Join(end(), x.byURI.Close(), x.choices.Free())
}

// acrossParts emits the keys of byURI of pages whose record ID other pages of the cluster have,
// and returns the record IDs of pages that are judged to be different from others of it.
func (x *large) acrossParts(ctx context.Context, shared *extsort.Sorter) (judged map[string]bool, err error) {
	byID := extsort.New(x.dir) // record ID, 0, docID → key of byURI
	defer func() { err = errors.Join(err, byID.Close()) }()
	there := map[string]bool{} // of pages that are judged
	for e, err := range x.byURI.Sorted() {
		var m report.Member
		if err == nil {
			m, err = unpackAbout(e.Value)
		}
		if err = errors.Join(err, ctx.Err(), byID.Add([]byte(m.RecordID+"\x00"+m.Document), e.Key)); err != nil {
			return nil, err
		}
		if x.rules.Judged[m.RecordID] != nil {
			there[m.RecordID] = true
		}
	}
	var last []byte // key of byURI of the page before
	id, many := "", false
	for e, err := range byID.Sorted() {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		same := string(e.Key[:bytes.IndexByte(e.Key, 0)])
		if same == id {
			if !many {
				err = shared.Add(last, nil)
			}
			err, many = errors.Join(err, shared.Add(e.Value, nil)), true
		} else {
			id, many = same, false
		}
		if err != nil {
			return nil, err
		}
		last = bytes.Clone(e.Value)
	}
	return x.rules.Judged.Among(there), nil
}

// parts yields the cluster in parts with the choices: in its order, or by action.
func (x *large) parts(ctx context.Context, byAction bool) iter.Seq2[Cluster, error] {
	return func(yield func(Cluster, error) bool) {
		passes := [][]report.Action{report.Actions}
		if byAction {
			passes = nil
			for i := range report.Actions {
				passes = append(passes, report.Actions[i:i+1])
			}
		}
		part := Cluster{Cluster: x.cluster}
		part.Contained, part.More = nil, true
		for _, actions := range passes {
			for page, err := range x.chosen() {
				if err = errors.Join(err, ctx.Err()); err != nil {
					yield(Cluster{}, err)
					return
				}
				if !slices.Contains(actions, page.choice.Action) {
					continue
				}
				if len(part.Members) == groups.PartPages {
					if !yield(part, nil) {
						return
					}
					part.From += len(part.Members)
					part.Members, part.Choices = nil, nil // yield may keep them
				}
				part.Members, part.Choices = append(part.Members, page.member), append(part.Choices, page.choice)
			}
		}
		part.Contained, part.More = x.cluster.Contained, false
		yield(part, nil)
	}
}

// chosenPage is a member with the choice for it.
type chosenPage struct {
	member report.Member
	choice report.Choice
}

// chosen yields the members in their order.
func (x *large) chosen() iter.Seq2[chosenPage, error] {
	return func(yield func(chosenPage, error) bool) {
		next, stop := iter.Pull2(x.choices.Sorted())
		defer stop()
		for e, err := range x.pages.Sorted() {
			c, choiceErr, _ := next()
			var page chosenPage
			if err = errors.Join(err, choiceErr); err == nil {
				page.member, err = unpackMember(e.Value)
			}
			if err == nil {
				page.choice, err = unpackChoice(c.Value)
			}
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}
