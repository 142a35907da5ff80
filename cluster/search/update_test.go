package search

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"neardup/cluster"
	"neardup/signature"
)

// mapped is what Map makes of postings: the number of lists that give each row, the
// long lists, and counts.
type mapped struct {
	rows   map[string]int
	long   map[signature.Signature]cluster.LongList
	counts Counts
}

func values[T any](s []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range s {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// input returns the input of postings, where a text is on the site that site gives.
func input(postings map[cluster.Posting]bool, site func(cluster.Key) uint64) Input {
	sorted := slices.SortedFunc(maps.Keys(postings), func(a, b cluster.Posting) int {
		return cmp.Or(bytes.Compare(a.Signature[:], b.Signature[:]), a.Key.Compare(b.Key))
	})
	return Input{
		Postings: values(sorted),
		Members: func(s signature.Signature) (keys []cluster.Key, err error) {
			for _, p := range sorted {
				if p.Signature == s {
					keys = append(keys, p.Key)
				}
			}
			return keys, nil
		},
		Concentrated: func(members []cluster.Key) (bool, error) {
			var pages []cluster.Page
			for _, k := range members {
				pages = append(pages, cluster.Page{Site: site(k), Address: uint64(k.ID()[0] / 2)})
			}
			return cluster.Concentrated(pages, 2, .6, 1), nil
		},
	}
}

func mapAll(t *testing.T, k Mapper, in Input) mapped {
	m := mapped{rows: map[string]int{}, long: map[signature.Signature]cluster.LongList{}}
	err := k.Map(in, RowSink{
		Row:   func(row []byte) error { m.rows[string(row)]++; return nil },
		Whole: func(signature.Signature) error { return nil },
		Long:  func(s signature.Signature, l cluster.LongList) error { m.long[s] = l; return nil },
	}, &m.counts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What Update makes of changes is what Map makes of all postings: rows, long lists,
// counts. Sites of texts change, too.
func TestUpdateIsMapOfAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	again := 0
	for round := range 3000 {
		k := NewKeys(Keys{MaxList: 2 + rng.IntN(8), SiteList: rng.IntN(6), Merge: MergeDirect, Common: 1}).(Updater)
		posting := func() cluster.Posting {
			var id [16]byte
			id[0] = byte(rng.IntN(20))
			return cluster.Posting{Signature: signature.Signature{byte(rng.IntN(6))}, Key: cluster.NewKey(float32(id[0]%4), id)}
		}
		postings := map[cluster.Posting]bool{}
		had := map[signature.Signature]bool{posting().Signature: true} // one that has no postings does no harm
		for range rng.IntN(60) {
			p := posting()
			postings[p], had[p.Signature] = true, true
		}
		first, second := rng.Uint64N(4)+1, rng.Uint64N(4)+1
		before := mapAll(t, k, input(postings, func(k cluster.Key) uint64 { return uint64(k.ID()[0]) % first }))

		changes := map[cluster.Posting]Changed{}
		for range rng.IntN(12) {
			p := posting()
			if _, twice := changes[p]; twice {
				continue
			}
			changes[p] = Changed{p, postings[p]}
			if postings[p] {
				delete(postings, p)
			} else {
				postings[p] = true
			}
		}
		changed := slices.SortedFunc(maps.Values(changes), func(a, b Changed) int { return bytes.Compare(a.Signature[:], b.Signature[:]) })
		in := input(postings, func(k cluster.Key) uint64 { return uint64(k.ID()[0]) % second })
		want := mapAll(t, k, in)
		long := []LongList{}
		for _, s := range slices.SortedFunc(maps.Keys(before.long), func(a, b signature.Signature) int { return bytes.Compare(a[:], b[:]) }) {
			long = append(long, LongList{s, before.long[s]})
		}
		got := before
		c := Changes{Postings: values(changed), Long: values(long)}
		if round%2 == 0 {
			c.Had = func(s signature.Signature) bool { return had[s] }
		}
		ok, err := k.Update(in, c, ChangeSink{
			Row: func(row []byte, by int) error {
				if got.rows[string(row)] += by; got.rows[string(row)] == 0 {
					delete(got.rows, string(row))
				}
				return nil
			},
			Long: func(s signature.Signature, l *cluster.LongList) error {
				if delete(got.long, s); l != nil {
					got.long[s] = *l
				}
				return nil
			},
		}, &got.counts)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			again++
			continue
		}
		if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
			t.Fatalf("round %d, %+v, changes %v:\n%s\nwant\n%s", round, k, changed, g, w)
		}
	}
	if again > 100 {
		t.Errorf("%d of 3000 updates were refused", again)
	}
}
