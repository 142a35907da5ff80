package tokens_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"neardup/signature/tokens"
	"neardup/signature/words/wordstest"
)

// slow cuts a text into tokens by the words of the documentation.
func slow(o tokens.Options, text string) []string {
	var parts []string
	switch o.Unit {
	case tokens.Words:
		parts = strings.Fields(lower(text))
	case tokens.Letters:
		parts = wordstest.Strings(text)
	default:
		for _, r := range text {
			parts = append(parts, string(r))
		}
	}
	size := max(1, o.Size)
	if n := len(parts); n > 0 && n < size {
		return []string{strings.Join(parts, "\x00")}
	}
	var out []string
	for i := 0; i+size <= len(parts); i++ {
		out = append(out, strings.Join(parts[i:i+size], "\x00"))
	}
	return out
}

func lower(s string) string {
	return strings.Map(unicode.ToLower, s)
}

// check compares records with the slow tokens: ids and tokens must be one to
// one, over all collections.
func check(t testing.TB, o tokens.Options, collections ...[]string) {
	t.Helper()
	got, err := tokens.Make(o, collections...)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]int{} // that have a token
	for _, c := range collections {
		for _, s := range c {
			seen := map[string]bool{}
			for _, w := range slow(o, s) {
				if !seen[w] {
					seen[w] = true
					texts[w]++
				}
			}
		}
	}
	// A token's texts tell it from others but for those with the same; so ids
	// are assigned by going through the records.
	idOf, tokenOf := map[string]map[uint32]bool{}, map[uint32]map[string]bool{}
	for i, c := range collections {
		if got[i].Len() != len(c) {
			t.Fatalf("%+v: %d records of %d texts", o, got[i].Len(), len(c))
		}
		for j, s := range c {
			want := slow(o, s)
			alone := 0
			if got[i].Alone != nil {
				alone = int(got[i].Alone[j])
			}
			record := got[i].Record(j)
			if !o.Repeats {
				slices.Sort(want)
				want = slices.Compact(want)
				if ids := slices.Sorted(slices.Values(record)); len(slices.Compact(ids)) != len(record) {
					t.Fatalf("%+v: %q has a token twice: %v", o, s, record)
				}
			}
			if alone > 0 {
				lone := 0
				for _, w := range want {
					if texts[w] == 1 {
						lone++
					}
				}
				if alone > lone {
					t.Fatalf("%+v: %q has %d lone tokens, %d counted", o, s, lone, alone)
				}
			}
			if len(record)+alone != len(want) {
				t.Fatalf("%+v: %q has %d+%d tokens, want %q", o, s, len(record), alone, want)
			}
			// What an id can stand for is in all records that have it, and in no
			// other.
			for _, id := range record {
				if tokenOf[id] == nil {
					tokenOf[id] = set(want)
				} else {
					intersect(tokenOf[id], set(want))
				}
			}
			for _, w := range want {
				if idOf[w] == nil {
					idOf[w] = set(record)
				} else {
					intersect(idOf[w], set(record))
				}
			}
		}
	}
	for id, w := range tokenOf {
		if len(w) == 0 {
			t.Fatalf("%+v: id %d stands for tokens that differ", o, id)
		}
	}
	for w, ids := range idOf {
		if len(ids) == 0 && (!o.Alone || texts[w] > 1) {
			t.Fatalf("%+v: %q has ids that differ", o, w)
		}
	}
}

func set[T comparable](s []T) map[T]bool {
	m := map[T]bool{}
	for _, v := range s {
		m[v] = true
	}
	return m
}

func intersect[T comparable](a, b map[T]bool) {
	for v := range a {
		if !b[v] {
			delete(a, v)
		}
	}
}

func options() (all []tokens.Options) {
	for unit := tokens.Words; unit <= tokens.Characters; unit++ {
		for size := range 12 {
			for _, workers := range []int{0, 3} {
				all = append(all, tokens.Options{Unit: unit, Size: size, Workers: workers},
					tokens.Options{Unit: unit, Size: size, Workers: workers, Repeats: true},
					tokens.Options{Unit: unit, Size: size, Workers: workers, Alone: true})
			}
		}
	}
	return all
}

func TestMake(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, alphabet := range []string{"ab ", "abcDEF  ÀÉ", "日本語中文，。 a\u3000", "ไทยカナ Ä1-ļ", "\xff\xfeÅ\t\u0301x٣𠀀𠀁😀é"} {
		var texts []string
		for i := range 60 {
			var b strings.Builder
			for range r.IntN(20) {
				at := r.IntN(len(alphabet))
				b.WriteString(alphabet[at:min(len(alphabet), at+1+r.IntN(4))]) // some of it cut inside characters
			}
			if i%5 == 0 && i > 0 {
				b.WriteString(texts[r.IntN(i)])
			}
			texts = append(texts, b.String())
		}
		for _, o := range options() {
			check(t, o, texts)
			check(t, o, texts[:20], texts[20:], nil)
		}
	}
	check(t, tokens.Options{})
}

// TestLarge takes the paths of several workers and of tables that grow, and
// characters too many for a window of them to fit into 64 bits.
func TestLarge(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var texts []string
	for range 1500 {
		var s []rune
		for range 5 + r.IntN(10) {
			s = append(s, rune(0x4e00+r.IntN(20000)), rune('a'+r.IntN(3)), ' ')
		}
		texts = append(texts, string(s))
	}
	for _, o := range []tokens.Options{{Unit: tokens.Words}, {Unit: tokens.Letters, Size: 2, Alone: true}, {Unit: tokens.Words, Size: 3},
		{Unit: tokens.Characters, Size: 3, Alone: true}, {Unit: tokens.Characters, Size: 5, Alone: true}, {Unit: tokens.Characters, Size: 9}} {
		for _, o.Workers = range []int{1, 4} {
			check(t, o, texts)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, o := range []tokens.Options{{Unit: -1}, {Unit: 3}, {Size: -1}, {Alone: true, Repeats: true}} {
		if _, err := tokens.Make(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

func FuzzMake(f *testing.F) {
	f.Fuzz(func(t *testing.T, data string, unit, size, flags int) {
		o := tokens.Options{Unit: tokens.Unit(unit & 3), Size: size & 15, Workers: flags & 3, Repeats: flags&4 != 0, Alone: flags&8 != 0}
		if o.Validate() != nil || len(data) > 2000 {
			return
		}
		check(t, o, strings.Split(data, "\n"))
	})
}
