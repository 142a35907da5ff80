package ppjoin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// EditOptions are the options of a join by edit distance.
type EditOptions struct {
	Distance int // largest distance of a pair, in code points
	Q        int // length of the q-grams; 0 means 2. It changes only the cost

	Algorithm Algorithm
	MaxDepth  int
	Bitmaps   bool
	Workers   int
}

func (o EditOptions) validate() error {
	if o.Distance < 0 {
		return fmt.Errorf("ppjoin: distance is %d, must not be negative", o.Distance)
	}
	if o.Q < 0 {
		return fmt.Errorf("ppjoin: q is %d, must not be negative", o.Q)
	}
	return o.search().validateSearch(false)
}

func (o EditOptions) search() Options {
	return Options{Measure: edit, Algorithm: o.Algorithm, MaxDepth: o.MaxDepth, Bitmaps: o.Bitmaps, Workers: o.Workers}
}

// EditPair is a pair of texts, by their indexes. In a self-join A < B.
type EditPair struct{ A, B, Distance int }

// SelfEdit emits all pairs of texts within an edit distance (Levenshtein's:
// insertions, deletions, substitutions), each once. Their order depends only on
// the texts and on the options other than Workers.
//
// Section 6.1: two such texts share at least max(|u|,|v|) + q - 1 - qδ of their
// q-grams. (These are the q-grams of the texts with q-1 further characters at
// each end, as a multiset; L. Gravano and others, Approximate string joins in a
// database (almost) for free, VLDB 2001.) The bound says nothing about texts of
// at most q(δ-1) + 1 characters, so SelfEdit compares all of these.
func SelfEdit(ctx context.Context, texts []string, o EditOptions, emit func(EditPair) error) (Counts, error) {
	return runEdit(ctx, [][]string{texts}, o, emit)
}

// BetweenEdit is SelfEdit for pairs of a text of a and one of b.
func BetweenEdit(ctx context.Context, a, b []string, o EditOptions, emit func(EditPair) error) (Counts, error) {
	return runEdit(ctx, [][]string{a, b}, o, emit)
}

// text is a distinct text.
type text struct {
	runes  []rune
	places []int // indexes in its collection
}

// editJoin is a running join by edit distance.
type editJoin struct {
	ctx   context.Context
	o     EditOptions
	texts [][]text // of each side
	bound int      // similar texts of at most so many characters need not share a q-gram
	pairs int64
	emit  func(EditPair) error
}

func runEdit(ctx context.Context, collections [][]string, o EditOptions, emit func(EditPair) error) (Counts, error) {
	if err := o.validate(); err != nil {
		return Counts{}, err
	}
	if o.Q == 0 {
		o.Q = 2
	}
	j := &editJoin{ctx: ctx, o: o, bound: o.Q*(o.Distance-1) + 1, emit: untilDone(ctx, emit)}
	total, distinct := 0, 0
	for _, c := range collections {
		texts := distinctTexts(c)
		j.texts = append(j.texts, texts)
		total, distinct = total+len(c), distinct+len(texts)
	}
	if err := j.emitEqual(); err != nil {
		return Counts{}, err
	}
	compared, similar, err := compareShort(ctx, j.texts, j.bound, o.Distance, j.emitAll)
	if err != nil {
		return Counts{}, err
	}
	counts, err := j.join()
	counts.Records, counts.Distinct, counts.Pairs = int64(total), int64(distinct), j.pairs
	counts.Candidates += compared
	counts.Verified += compared
	counts.Similar += similar
	return counts, err
}

// distinctTexts groups equal texts of a collection. Texts that differ only in
// invalid bytes are equal.
func distinctTexts(c []string) (texts []text) {
	at := map[string]int{}
	for i, s := range c {
		runes := []rune(s)
		s = string(runes)
		k, ok := at[s]
		if !ok {
			k = len(texts)
			at[s] = k
			texts = append(texts, text{runes: runes})
		}
		texts[k].places = append(texts[k].places, i)
	}
	return texts
}

// emitEqual emits the pairs of equal texts of one side. Equal texts of two sides
// are found like others.
func (j *editJoin) emitEqual() error {
	if len(j.texts) == 2 {
		return nil
	}
	for _, t := range j.texts[0] {
		for i, b := range t.places {
			for _, a := range t.places[:i] {
				j.pairs++
				if err := j.emit(EditPair{a, b, 0}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// emitAll emits the pairs that two distinct texts stand for.
func (j *editJoin) emitAll(a, b text, distance int) error {
	j.pairs += int64(len(a.places)) * int64(len(b.places))
	for _, first := range a.places {
		for _, second := range b.places {
			p := EditPair{first, second, distance}
			if len(j.texts) == 1 && first > second {
				p.A, p.B = second, first
			}
			if err := j.emit(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// join emits the pairs that share q-grams, and that compareShort has not compared.
func (j *editJoin) join() (Counts, error) {
	o := j.o
	b := bounds{measure: edit, delta: int64(o.Distance), qDelta: int64(o.Q) * int64(o.Distance), unit: 1}
	t, err := newTable(j.ctx, grams(j.texts, o.Q), o.search(), b, false)
	if err != nil {
		return Counts{}, err
	}
	of := func(x int32) text { return j.texts[t.records[x].side][t.memberList(x)[0]] }
	t.similar = func(x, y int32) (float64, bool) {
		u, v := of(x).runes, of(y).runes
		if max(len(u), len(v)) <= j.bound {
			return 0, false // compared already
		}
		d := distance(u, v, o.Distance)
		return float64(d), d <= o.Distance
	}
	return t.join(j.ctx, func(p Pair) error {
		return j.emitAll(j.texts[0][p.A], j.texts[len(j.texts)-1][p.B], int(p.Similarity))
	})
}

// untilDone returns emit, which fails once ctx has ended.
func untilDone(ctx context.Context, emit func(EditPair) error) func(EditPair) error {
	return func(p EditPair) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return emit(p)
	}
}

// compareShort compares all texts of at most bound characters, and emits the
// pairs whose distance is at most limit.
func compareShort(ctx context.Context, texts [][]text, bound, limit int, emit func(a, b text, distance int) error) (compared, similar int64, err error) {
	short := make([][]text, len(texts))
	for i := range texts {
		for _, t := range texts[i] {
			if len(t.runes) <= bound {
				short[i] = append(short[i], t)
			}
		}
		slices.SortStableFunc(short[i], func(a, b text) int { return cmp.Compare(len(a.runes), len(b.runes)) })
	}
	other := short[len(short)-1]
	for i, a := range short[0] {
		if err := ctx.Err(); err != nil {
			return compared, similar, err
		}
		if len(short) == 1 {
			other = short[0][i+1:]
		}
		from, _ := slices.BinarySearchFunc(other, len(a.runes)-limit, func(b text, n int) int { return cmp.Compare(len(b.runes), n) })
		for _, b := range other[from:] {
			if len(b.runes) > len(a.runes)+limit {
				break
			}
			compared++
			if d := distance(a.runes, b.runes, limit); d <= limit {
				similar++
				if err := emit(a, b, d); err != nil {
					return compared, similar, err
				}
			}
		}
	}
	return compared, similar, nil
}

// Code points that no text has fill up its ends.
const (
	before = 0x110000
	behind = 0x110001
)

// grams returns the q-grams of texts as multisets. A gram of up to three
// characters is its own key. A longer gram is named by the name of all but its
// last character, and by that character.
func grams(texts [][]text, q int) []Collection {
	const first, width = 3, 21 // characters of a key, bits of each
	names := make([]map[uint64]uint32, max(1, q-first+1))
	for i := range names {
		names[i] = map[uint64]uint32{}
	}
	name := func(length int, key uint64) uint32 {
		id, ok := names[length][key]
		if !ok {
			id = uint32(len(names[length]))
			names[length][key] = id
		}
		return id
	}
	cs := make([]Collection, len(texts))
	var s []rune
	for i := range texts {
		for _, t := range texts[i] {
			s = s[:0]
			for range q - 1 {
				s = append(s, before)
			}
			s = append(s, t.runes...)
			for range q - 1 {
				s = append(s, behind)
			}
			for at := 0; at+q <= len(s); at++ {
				key := uint64(0)
				for _, r := range s[at : at+min(q, first)] {
					key = key<<width | uint64(r)
				}
				gram := name(0, key)
				for k := first; k < q; k++ {
					gram = name(k-first+1, uint64(gram)<<width|uint64(s[at+k]))
				}
				cs[i].Tokens = append(cs[i].Tokens, gram)
			}
			cs[i].Ends = append(cs[i].Ends, len(cs[i].Tokens))
		}
	}
	return Multiset(cs...)
}

// distance returns the edit distance of u and v, or limit+1 if it is greater. It
// fills in only the diagonals within limit of the main one (E. Ukkonen,
// Algorithms for approximate string matching, 1985).
func distance(u, v []rune, limit int) int {
	for len(u) > 0 && len(v) > 0 && u[0] == v[0] {
		u, v = u[1:], v[1:]
	}
	for len(u) > 0 && len(v) > 0 && u[len(u)-1] == v[len(v)-1] {
		u, v = u[:len(u)-1], v[:len(v)-1]
	}
	if len(u) < len(v) {
		u, v = v, u
	}
	if len(u)-len(v) > limit {
		return limit + 1
	}
	row := make([]int, len(v)+1) // row[j]: of u[:i] and v[:j]
	for j := range row {
		row[j] = min(j, limit+1)
	}
	for i := 1; i <= len(u); i++ {
		from, to := max(1, i-limit), min(len(v), i+limit)
		diagonal := row[from-1]
		if from == 1 {
			row[0] = min(i, limit+1)
		} else {
			row[from-1] = limit + 1
		}
		best := row[from-1]
		for j := from; j <= to; j++ {
			d := diagonal
			if u[i-1] != v[j-1] {
				d++
			}
			up := limit + 1
			if j < i+limit {
				up = row[j] + 1
			}
			diagonal = row[j]
			row[j] = min(d, up, row[j-1]+1, limit+1)
			best = min(best, row[j])
		}
		if best > limit {
			return limit + 1
		}
	}
	return row[len(v)]
}
