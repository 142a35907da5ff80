package keeping

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"io"
	"iter"
	"os"
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

// large is a cluster that comes in parts. Its members wait in a file for their choices.
type large struct {
	rules   keep.Rules
	file    *os.File // the parts
	to      *bufio.Writer
	encoder *gob.Encoder

	byURI   *extsort.Sorter // group, 0, URI, 0, place[8] → the member, packed
	choices *extsort.Sorter // place[8] → the choice, packed
	dir     string
	places  uint64
	revisit bool // it has revisits
}

func newLarge(dir string, r keep.Rules) (*large, error) {
	f, err := os.CreateTemp(dir, "cluster-*")
	if err != nil {
		return nil, err
	}
	x := &large{rules: r, file: f, to: bufio.NewWriterSize(f, 256<<10), byURI: extsort.New(dir), choices: extsort.New(dir), dir: dir}
	x.encoder = gob.NewEncoder(x.to)
	return x, nil
}

func (x *large) close() error {
	return errors.Join(x.file.Close(), os.Remove(x.file.Name()), x.byURI.Close(), x.choices.Close())
}

// open are the large clusters whose files are open. Goroutines can share it.
type open struct {
	mu  sync.Mutex
	all []*large
}

func (o *open) new(dir string, r keep.Rules) (*large, error) {
	x, err := newLarge(dir, r)
	if err == nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.all = append(o.all, x)
	}
	return x, err
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
	if err := x.encoder.Encode(c); err != nil {
		return err
	}
	for _, m := range c.Members {
		key := append(append([]byte(x.rules.Group(m)), 0), m.URI...)
		if err := x.byURI.Add(binary.BigEndian.AppendUint64(append(key, 0), x.places), packMember(m)); err != nil {
			return err
		}
		x.places++
		x.revisit = x.revisit || m.RevisitOf != ""
	}
	if c.More {
		return nil
	}
	err := errors.Join(x.to.Flush(), x.byURI.Free())
	x.to, x.encoder = nil, nil
	return err
}

// choose chooses from the pages, part by part.
func (x *large) choose(ctx context.Context, t keep.Texts) (err error) {
	others := extsort.New(x.dir) // part[8] → member, packed
	defer func() { err = errors.Join(err, others.Close()) }()
	if x.revisit && x.places > uint64(chosenPages) {
		if err := x.otherRevisits(ctx, others); err != nil {
			return err
		}
	}
	next, stop := iter.Pull2(others.Sorted())
	defer stop()
	other, err, more := next()
	var members []report.Member
	var places []uint64
	part := uint64(0)
	end := func() error {
		pages := len(members)
		for ; err == nil && more && binary.BigEndian.Uint64(other.Key) == part; other, err, more = next() {
			m, err := unpackMember(other.Value)
			if err != nil {
				return err
			}
			members = append(members, m)
		}
		if err != nil {
			return err
		}
		choices, err := x.rules.Choose(report.Cluster{Members: members}, t)
		if err != nil {
			return err
		}
		for i, c := range choices[:pages] {
			if err := x.choices.Add(binary.BigEndian.AppendUint64(nil, places[i]), packChoice(c)); err != nil {
				return err
			}
		}
		members, places = members[:0], places[:0]
		part++
		return ctx.Err()
	}
	for e, err := range x.byURI.Sorted() {
		var m report.Member
		if err == nil {
			m, err = unpackMember(e.Value)
		}
		if err != nil {
			return err
		}
		if len(members) == chosenPages {
			if err := end(); err != nil {
				return err
			}
		}
		members, places = append(members, m), append(places, binary.BigEndian.Uint64(e.Key[len(e.Key)-8:]))
	}
	return errors.Join(end(), x.byURI.Close(), x.choices.Free())
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
		var out Cluster
		n := 0 // pages that came
		for _, actions := range passes {
			for c, err := range x.chosen() {
				if err = errors.Join(err, ctx.Err()); err != nil {
					yield(Cluster{}, err)
					return
				}
				if n == 0 && len(out.Members) == 0 {
					out.Cluster = c.Cluster
					out.From, out.Members = 0, nil
				}
				for i, m := range c.Members {
					if !slices.Contains(actions, c.Choices[i].Action) {
						continue
					}
					if len(out.Members) == groups.PartPages {
						if out.More = true; !yield(out, nil) {
							return
						}
						n += len(out.Members)
						out.From, out.Members, out.Choices = n, nil, nil
					}
					out.Members, out.Choices = append(out.Members, m), append(out.Choices, c.Choices[i])
				}
				out.Contained = c.Contained
			}
		}
		out.More = false
		yield(out, nil)
	}
}

// chosen yields the parts as they came, with the choices.
func (x *large) chosen() iter.Seq2[Cluster, error] {
	return func(yield func(Cluster, error) bool) {
		next, stop := iter.Pull2(x.choices.Sorted())
		defer stop()
		parts := gob.NewDecoder(bufio.NewReaderSize(io.NewSectionReader(x.file, 0, 1<<62), 256<<10))
		for more := true; more; {
			var c Cluster
			err := parts.Decode(&c.Cluster)
			for range c.Members {
				e, choiceErr, _ := next()
				var choice report.Choice
				if err = errors.Join(err, choiceErr); err == nil {
					choice, err = unpackChoice(e.Value)
				}
				c.Choices = append(c.Choices, choice)
			}
			if more = c.More; !yield(c, err) || err != nil {
				return
			}
		}
	}
}
