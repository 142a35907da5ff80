package pair

import (
	"slices"
	"strings"
	"testing"

	"neardup/verify"
	"neardup/verify/rarity"
)

// counted is a measure that counts its comparisons: texts are near if they share their
// first byte.
type counted struct{ compared int }

type countedText string

func (countedText) Bytes() int { return 0 }

func (c *counted) Prepare(text string) verify.Document { return countedText(text) }
func (c *counted) Comparer() verify.Comparer           { return c }
func (c *counted) Compare(a, b verify.Document) verify.Verdict {
	c.compared++
	if a.(countedText)[0] == b.(countedText)[0] {
		return verify.Verdict{Near: true, Resemblance: .75, Containment: 1}
	}
	if strings.HasPrefix(string(a.(countedText)), "far") || strings.HasPrefix(string(b.(countedText)), "far") {
		return verify.Verdict{Rejected: verify.BySketch}
	}
	return verify.Verdict{Rejected: verify.ByScore, Resemblance: .25}
}

// What the measure said of two texts is not asked again, in either order. Verdicts
// that took no alignment are.
func TestRemembering(t *testing.T) {
	m := &counted{}
	judge := Judge{Measure: m}
	text := func(id byte, s string) *Text { return judge.Text(s, rarity.Text{}).Identified([16]byte{id}) }
	a, b, c, far := text(1, "kite one"), text(2, "kite two"), text(3, "boat"), text(4, "far away")
	pairs := [][2]*Text{{a, b}, {c, a}, {a, far}}
	ids := [][2][16]byte{{{2}, {1}}, {{1}, {3}}, {{1}, {4}}, {{2}, {3}}}
	decide := func(before []Measured, turn bool) (out []verify.Verdict, said []Measured) {
		j, r := judge.Remembering(before)
		for _, p := range pairs {
			if turn {
				p[0], p[1] = p[1], p[0]
			}
			out = append(out, j.Decide(m, p[0], p[1]).Verdict)
		}
		return out, r.Of(ids)
	}
	first, said := decide(nil, false)
	if m.compared != 3 || len(said) != 2 || !first[0].Near || first[1].Rejected != verify.ByScore {
		t.Fatalf("%d comparisons, %v, said %v", m.compared, first, said)
	}
	m.compared = 0
	again, saidAgain := decide(said, true)
	if m.compared != 1 || !slices.Equal(again[:2], first[:2]) || !slices.Equal(saidAgain, said) {
		t.Errorf("%d comparisons, %v, want %v; said %v, want %v", m.compared, again, first, saidAgain, said)
	}
	b = text(2, "kite 2") // another reading of the text
	pairs[0][1] = b
	m.compared = 0
	if _, said := decide(said, false); m.compared != 2 || len(said) != 2 {
		t.Errorf("%d comparisons with another reading, said %v", m.compared, said)
	}
	if j, r := (Judge{Measure: m, Memory: &Remembered{}}).Remembering(said); r != nil || j.Memory == nil || r.Of(ids) != nil || r.Noted(ids[0]) {
		t.Error("a judge with a memory gets another one")
	}
}
