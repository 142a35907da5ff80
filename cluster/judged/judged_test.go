package judged

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"neardup/cluster"
)

// world is clusters in memory. Texts are named by letters; of two the one earlier
// in the alphabet has the larger key, or as weights say.
type world struct {
	texts    map[cluster.ID]Text
	weights  map[cluster.ID]float32
	replaced int // calls
}

func id(name string) (t cluster.ID) { copy(t[:], name); return t }
func named(t cluster.ID) string     { return strings.TrimRight(string(t[:]), "\x00") }

func (w *world) Of(t cluster.ID) (cluster.ID, bool, error) {
	x, ok := w.texts[t]
	return x.Cluster, ok, nil
}

func (w *world) Texts(representative cluster.ID) (out []Text, err error) {
	for _, t := range w.texts {
		if t.Cluster == representative {
			out = append(out, t)
		}
	}
	return out, nil
}

func (w *world) Key(t cluster.ID) (cluster.Key, error) {
	weight, ok := w.weights[t]
	if !ok {
		weight = 1
	}
	return cluster.NewKey(weight, t), nil
}

func (w *world) Replace(texts []Text) error {
	w.replaced++
	for _, t := range texts {
		w.texts[t.ID] = t
	}
	return nil
}

func (w *world) clone() *world { return &world{texts: maps.Clone(w.texts), weights: w.weights} }

// parse reads clusters, a line each: the representative, then the others, each
// with what it was verified against behind a slash if that is another.
func parse(s string) *world {
	w := &world{texts: map[cluster.ID]Text{}}
	for line := range strings.Lines(s) {
		names := strings.Fields(line)
		for _, n := range names {
			n, against, ok := strings.Cut(n, "/")
			if !ok {
				against = names[0]
			}
			w.texts[id(n)] = Text{id(n), id(names[0]), id(against)}
		}
	}
	return w
}

// String writes what parse reads, without texts that are alone.
func (w *world) String() string {
	of := map[string][]string{}
	for _, t := range w.texts {
		rep := named(t.Cluster)
		n := named(t.ID)
		switch {
		case t.ID == t.Cluster:
			continue
		case t.Against != t.Cluster:
			n += "/" + named(t.Against)
		}
		of[rep] = append(of[rep], n)
	}
	var out []string
	for _, rep := range slices.Sorted(maps.Keys(of)) {
		slices.Sort(of[rep])
		out = append(out, rep+" "+strings.Join(of[rep], " "))
	}
	return strings.Join(out, "\n")
}

// pairsOf reads "a=b" for texts that must be joined, "a|b" for those that must
// not; several texts of a side have commas in between.
func pairsOf(s string) (out []Pair) {
	for _, f := range strings.Fields(s) {
		var p Pair
		a, b, join := strings.Cut(f, "=")
		if p.Join = join; !join {
			a, b, _ = strings.Cut(f, "|")
		}
		for _, n := range strings.Split(a, ",") {
			p.A = append(p.A, id(n))
		}
		for _, n := range strings.Split(b, ",") {
			p.B = append(p.B, id(n))
		}
		out = append(out, p)
	}
	return out
}

func TestEnforce(t *testing.T) {
	for _, test := range []struct{ name, clusters, pairs, want, outcomes string }{
		{"two texts in no cluster", "", "a=b", "a b", "0"},
		{"a text joins a cluster", "a b", "b=c", "a b c/b", "0"},
		{"a text that joins a cluster does not represent it", "b c", "c=a", "b a/c c", "0"},
		{"nor one of a cluster of its own", "b c\na", "c=a", "b a/c c", "0"},
		{"of texts alone the largest does", "", "c=b b=a", "a b c/b", "00"},
		{"clusters are united whole, around the larger representative", "a b c\nd e f", "c=e", "a b c d/e e/c f/d", "0"},
		{"those in one cluster stay as they are", "a b c", "b=c", "a b c", "0"},
		{"the smaller of two members leaves", "a b c d", "b|c", "a b d", "0"},
		{"a member leaves its representative", "a b c", "a|b", "a c", "0"},
		{"what hangs on it goes with it, around the largest of them", "a c d/c e/d b/e", "a|c", "b c/d d/e e", "0"},
		{"what hangs on the smaller one, too", "a b c d/c", "b|c", "a b\nc d", "0"},
		{"a member that leaves another through which it was linked", "a b c/b d/c", "b|c", "a b\nc d", "0"},
		{"of three that must be apart the largest stays", "a b c d", "b|c c|d b|d", "a b", "000"},
		{"one that has a reason to stay stays", "a b c d", "b|c c|d", "a b d", "00"},
		{"who must leave the representative parts from others with it", "a b c", "b|c a|b", "a c", "00"},
		{"nothing is together that must be apart", "a b\nc d", "a|c b|d", "a b\nc d", "00"},
		{"who is judged the same leaves together", "a b c d", "b=c a|b", "a d\nb c", "00"},
		{"and is followed by what hangs on either", "a b c d/b e/c", "b=c a|b", "b c d e/c", "00"},
		{"a pair is joined out of its cluster", "a b c", "b=d a|b", "a c\nb d", "00"},
		{"a judged pair goes before the verdict of its cluster", "a b c\nd e f", "b=e a|e", "a c\nd b/e e f", "00"},
		{"clusters are united, and their representatives parted", "a b\nc d e", "b=d a|c", "a b d/b\nc e", "00"},
		{"the same text", "a b", "a|a a=a b|a,c a|a,b", "", "1001"},
		{"a pair that others contradict", "", "a=b b=c a|c", "a b", "020"},
		{"what is in one cluster already goes first", "b c", "a=b b=c a|c", "b c", "200"},
		{"the same pair with both verdicts", "a b", "a=b b|a", "", "20"},
		{"a contradiction through clusters is none", "a b\nc d", "b=c a|d", "a b c/b", "00"},
		{"all texts of a name", "a b\nc d", "b,x=d", "a b c/d d/b x/d", "0"},
		{"all or none of them", "a b\nc d", "b,x=d x|c,d", "a b\nc d", "20"},
		{"each of these from each of those", "a b c d e", "b,c|d,e", "a b c", "0"},
		{"a chain of pairs", "", "a=b c=d b=c d=e", "a b c/b d/c e/d", "0000"},
		{"a circle of pairs", "", "a=b b=c c=a", "a b c", "000"},
		{"a text that was in none represents what left, if its key is the largest", "b c d", "a=c b|c", "a c\nb d", "00"},
		{"two ways to the representative: the shorter one counts", "a b d/b e/d c", "e=c b|c", "a b d/b\nc e", "00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := parse(test.clusters)
			outcomes := enforced(t, w, pairsOf(test.pairs))
			if got := strings.Trim(strings.ReplaceAll(fmt.Sprint(outcomes), " ", ""), "[]"); got != test.outcomes {
				t.Errorf("outcomes %s, want %s", got, test.outcomes)
			}
			if got := w.String(); got != test.want {
				t.Errorf("clusters\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func enforced(t *testing.T, w *world, pairs []Pair) []Outcome {
	t.Helper()
	outcomes, err := Enforce(pairs, w)
	if err != nil {
		t.Fatal(err)
	}
	return outcomes
}

// random makes clusters of n texts, some of them in none, and pairs of them; the
// keys of some go against their names.
func random(rng *rand.Rand, n, pairs int) (*world, []Pair) {
	w := &world{texts: map[cluster.ID]Text{}, weights: map[cluster.ID]float32{}}
	letter := func(i int) cluster.ID { return id(fmt.Sprintf("%03d", i)) }
	deep, representatives := rng.IntN(3) > 0, 1+rng.IntN(5)
	var reps, in []cluster.ID
	for _, i := range rng.Perm(n) {
		t := letter(i)
		w.weights[t] = float32(rng.IntN(4))
		switch {
		case rng.IntN(4) == 0: // in no cluster
		case len(reps) < representatives:
			w.texts[t] = Text{t, t, t}
			reps, in = append(reps, t), append(in, t)
		case deep:
			other := w.texts[in[rng.IntN(len(in))]]
			w.texts[t] = Text{t, other.Cluster, other.ID}
			in = append(in, t)
		default:
			r := reps[rng.IntN(len(reps))]
			w.texts[t] = Text{t, r, r}
		}
	}
	var out []Pair
	some := func() (side []cluster.ID) {
		side = append(side, letter(rng.IntN(n)))
		for rng.IntN(12) == 0 {
			side = append(side, letter(rng.IntN(n)))
		}
		return side
	}
	joins := rng.IntN(5)
	for range pairs {
		out = append(out, Pair{some(), some(), rng.IntN(5) < joins})
	}
	return w, out
}

func TestEnforceEqualsTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	contradicted, moved := 0, 0
	for range 3000 {
		n := 2 + rng.IntN(24)
		w, pairs := random(rng, n, rng.IntN(2*n))
		c, m := check(t, rng, w, pairs)
		contradicted, moved = contradicted+c, moved+m
	}
	if contradicted < 500 || moved < 5000 {
		t.Errorf("%d pairs were contradicted, %d texts moved", contradicted, moved)
	}
}

// All clusters of four texts, with a pair of each two of them, or none.
func TestEnforceOnAllSmallClusters(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	names := []string{"a", "b", "c", "d"}
	rng := rand.New(rand.NewPCG(33, 34))
	forests := 0
	for code := range 5 * 5 * 5 * 5 { // of each, what it is against; 4: itself
		w := &world{texts: map[cluster.ID]Text{}}
		against := [4]int{code % 5, code / 5 % 5, code / 25 % 5, code / 125}
		ok := true
		for i, n := range names {
			at, steps := i, 0
			for against[at] < 4 && steps < 5 {
				at, steps = against[at], steps+1
			}
			ok = ok && steps < 4 && against[i] != i
			up := i
			if against[i] < 4 {
				up = against[i]
			}
			w.texts[id(n)] = Text{id(n), id(names[at]), id(names[up])}
		}
		if !ok {
			continue
		}
		forests++
		for choice := range 3 * 3 * 3 * 3 * 3 * 3 {
			var pairs []Pair
			for i := range names {
				for j := range i {
					if choice%3 > 0 {
						pairs = append(pairs, Pair{[]cluster.ID{id(names[i])}, []cluster.ID{id(names[j])}, choice%3 == 1})
					}
					choice /= 3
				}
			}
			check(t, rng, w.clone(), pairs)
		}
	}
	if forests != 125 { // Cayley's formula
		t.Errorf("%d forests", forests)
	}
}

func FuzzEnforce(f *testing.F) {
	f.Add(uint64(1), 5, 3)
	f.Add(uint64(2), 40, 60)
	f.Add(uint64(3), 2, 9)
	f.Fuzz(func(t *testing.T, seed uint64, n, pairs int) {
		n, pairs = 2+int(uint(n)%60), int(uint(pairs)%120)
		rng := rand.New(rand.NewPCG(seed, 1))
		w, p := random(rng, n, pairs)
		check(t, rng, w, p)
	})
}

// check compares Enforce with the slow way, and with what it promises.
func check(t *testing.T, rng *rand.Rand, w *world, pairs []Pair) (contradicted, moved int) {
	t.Helper()
	before, slow, again := w.clone(), w.clone(), w.clone()
	outcomes := enforced(t, w, pairs)
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s\nclusters\n%s\npairs %s\noutcomes %v\nafter\n%s", fmt.Sprintf(format, args...), before, spell(pairs), outcomes, w)
	}
	if wanted := slowEnforce(slow, pairs); !slices.Equal(outcomes, wanted) || slow.String() != w.String() {
		fail("the slow way: %v\n%s", wanted, slow)
	}

	// In any order.
	order := rng.Perm(len(pairs))
	var mixed []Pair
	for _, i := range order {
		p := pairs[i]
		if p = (Pair{slices.Clone(p.A), slices.Clone(p.B), p.Join}); rng.IntN(2) == 0 {
			p.A, p.B = p.B, p.A
		}
		slices.Reverse(p.A)
		mixed = append(mixed, p)
	}
	for i, o := range enforced(t, again, mixed) {
		if o != outcomes[order[i]] {
			fail("pair %d: %d in another order", order[i], o)
		}
	}
	if again.String() != w.String() {
		fail("in another order\n%s", again)
	}

	// Every pair is followed, or says why not.
	of := func(t cluster.ID) cluster.ID {
		if x, ok := w.texts[t]; ok {
			return x.Cluster
		}
		return t
	}
	for i, p := range pairs {
		together, apart, same := true, true, false
		for _, a := range p.A {
			for _, b := range p.B {
				together, apart, same = together && of(a) == of(b), apart && of(a) != of(b), same || a == b
			}
		}
		switch {
		case outcomes[i] == Followed && (p.Join && !together || !p.Join && !apart), (outcomes[i] == SameText) != (same && !p.Join),
			outcomes[i] == Contradicted && !p.Join:
			fail("pair %d", i)
		case outcomes[i] == Contradicted:
			contradicted++
		}
	}

	// Evidence leads to the representative; what is inside a cluster stays.
	judged := 0
	for _, x := range w.texts {
		at, steps := x, 0
		for ; at.ID != at.Cluster && steps <= len(w.texts); steps++ {
			if at = w.texts[at.Against]; at.Cluster != x.Cluster {
				fail("%s is against another cluster", named(x.ID))
			}
		}
		if steps > len(w.texts) || at.Against != at.ID {
			fail("the chain of %s leads nowhere", named(x.ID))
		}
		old, was := before.texts[x.ID]
		if !was || old.Cluster != x.Cluster {
			moved++
		}
		if x.Against != x.ID && old.Against != x.Against && before.texts[x.Against].Against != x.ID {
			judged++
			if !slices.ContainsFunc(pairs, func(p Pair) bool {
				return p.Join && (slices.Contains(p.A, x.ID) && slices.Contains(p.B, x.Against) || slices.Contains(p.B, x.ID) && slices.Contains(p.A, x.Against))
			}) {
				fail("%s is against %s by no verdict and no pair", named(x.ID), named(x.Against))
			}
		}
		if other := w.texts[old.Against]; was && old.Against != x.ID && other.Cluster == x.Cluster && x.Against != old.Against && other.Against != x.ID {
			fail("the verdict of %s and %s is lost", named(x.ID), named(old.Against))
		}
	}

	// Enforcing the same once more changes nothing, and who has no pair has only
	// left or joined with others.
	once := w.clone()
	enforced(t, once, pairs)
	if !maps.Equal(clustersBy(once), clustersBy(w)) {
		fail("once more\n%s", once)
	}
	touched := map[cluster.ID]bool{}
	for _, p := range pairs {
		for _, x := range slices.Concat(p.A, p.B) {
			touched[before.texts[x].Cluster] = true
		}
	}
	for _, x := range before.texts {
		if !touched[x.Cluster] && w.texts[x.ID] != x {
			fail("%s has changed", named(x.ID))
		}
	}
	return contradicted, moved
}

// clustersBy returns the clusters of each text.
func clustersBy(w *world) map[cluster.ID]cluster.ID {
	out := map[cluster.ID]cluster.ID{}
	for _, t := range w.texts {
		out[t.ID] = t.Cluster
	}
	return out
}

func spell(pairs []Pair) string {
	var out []string
	for _, p := range pairs {
		var sides [2][]string
		for i, side := range [2][]cluster.ID{p.A, p.B} {
			for _, t := range side {
				sides[i] = append(sides[i], named(t))
			}
		}
		sign := map[bool]string{true: "=", false: "|"}[p.Join]
		out = append(out, strings.Join(sides[0], ",")+sign+strings.Join(sides[1], ","))
	}
	return strings.Join(out, " ")
}
