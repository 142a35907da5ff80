package pair

import (
	"slices"
	"testing"

	"neardup/verify"
	"neardup/verify/rarity"
)

func named(pages ...[2]uint64) (n Names) {
	for _, p := range pages {
		n.Add(p[0], p[1])
	}
	return n
}

func TestNames(t *testing.T) {
	var many [][2]uint64
	for i := range uint64(maxNames + 1) {
		many = append(many, [2]uint64{100 + i, 100 + i})
	}
	for _, tt := range []struct {
		name      string
		a, b      Names
		different bool
	}{
		{"other address, other title", named([2]uint64{1, 2}), named([2]uint64{3, 4}), true},
		{"an address is no title", named([2]uint64{1, 2}), named([2]uint64{2, 1}), true},
		{"one address", named([2]uint64{1, 2}), named([2]uint64{1, 4}), false},
		{"one title", named([2]uint64{1, 2}), named([2]uint64{3, 2}), false},
		{"one title of many pages", named([2]uint64{1, 2}, [2]uint64{7, 8}, [2]uint64{5, 6}), named([2]uint64{3, 4}, [2]uint64{9, 6}), false},
		{"no title", named([2]uint64{1, 0}), named([2]uint64{3, 4}), false},
		{"no title of one page of several", named([2]uint64{1, 2}, [2]uint64{5, 0}, [2]uint64{6, 7}), named([2]uint64{3, 4}), false},
		{"no page", Names{}, named([2]uint64{3, 4}), false},
		{"as many pages as are kept", named(many[:maxNames]...), named([2]uint64{3, 4}), true},
		{"too many pages to tell", named(many...), named([2]uint64{3, 4}), false},
	} {
		if got, swapped := tt.a.different(tt.b), tt.b.different(tt.a); got != tt.different || swapped != tt.different {
			t.Errorf("%s: %v, swapped %v", tt.name, got, swapped)
		}
	}
}

// Pages of one site with other names are near only from a resemblance of their own.
// Containment is no claim that they are one page.
func TestDecideOtherPages(t *testing.T) {
	almost := verify.Verdict{Near: true, Resemblance: 0.95, Containment: 0.97}
	check := rarity.Options{RarePages: 3, OtherPages: 0.9}
	one, other := named([2]uint64{1, 2}), named([2]uint64{3, 4})
	byTitle := verify.Verdict{Rejected: verify.ByTitle}
	for _, tt := range []struct {
		name    string
		rarity  rarity.Options
		verdict verify.Verdict
		names   Names
		sites   []uint64
		want    verify.Verdict
	}{
		{"other pages", check, near, other, []uint64{7}, byTitle},
		{"nearly equal", check, almost, other, []uint64{7}, almost},
		{"contained", check, contained, other, []uint64{7}, contained},
		{"not near", check, far, other, []uint64{7}, far},
		{"the same page", check, near, one, []uint64{7}, near},
		{"another site", check, near, other, []uint64{8}, near},
		{"no check", rarity.Options{RarePages: 3}, near, other, []uint64{7}, near},
		{"no check of rarity", rarity.Options{OtherPages: 0.9}, near, other, []uint64{7}, near},
	} {
		for _, frames := range []bool{false, true} {
			j := Judge{Measure: &measure{verdict: tt.verdict}, Rarity: tt.rarity, Frames: frames}
			text := func(s string, sites []uint64, n Names) *Text {
				return j.Text(s, tt.rarity.Read(s, func(uint64) int { return 1 })).Framed(sites, nil).Named(n)
			}
			a, b := text(apple+pears, []uint64{7}, one), text(apple, tt.sites, tt.names)
			if got := j.Decide(j.Comparers(1)[0], a, b).Verdict; got != tt.want {
				t.Errorf("%s, frames %v: %+v", tt.name, frames, got)
			}
		}
	}
}

// Names that are parsed are those that were appended, and other bytes are none.
func TestParseNames(t *testing.T) {
	for _, n := range []Names{{}, named([2]uint64{3, 4}), named([2]uint64{3, 4}, [2]uint64{5, 6}), named([2]uint64{3, 0})} {
		b := n.Append(nil)
		got, rest, ok := ParseNames(append(b, 7))
		if !ok || len(rest) != 1 || !slices.Equal(got.Append(nil), b) {
			t.Errorf("%v: %v %v %v", n, got, rest, ok)
		}
		for i := range b {
			if _, _, ok := ParseNames(b[:i]); ok {
				t.Errorf("%v: cut at %d", n, i)
			}
		}
	}
}
