package figure

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strings"
	"testing"
)

func svg(t *testing.T, f Figure) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(b.Bytes(), new(struct{})); err != nil {
		t.Fatalf("%v:\n%s", err, b.String())
	}
	return b.String()
}

// A title has room of its own, above the panels; without one there is none.
func TestTitle(t *testing.T) {
	draw := func(title string) string {
		return svg(t, Figure{Title: title, Width: 4 * Inch, PanelHeight: 2 * Inch, Panels: []*Panel{NewPanel("x", "y")}})
	}
	with, without := draw("what <it> shows"), draw("")
	if !strings.Contains(with, ">what &lt;it&gt; shows<") || strings.Contains(without, "what") {
		t.Error("the title is not drawn, or without being asked for")
	}
	if !strings.Contains(without, `height="144pt"`) || !strings.Contains(with, `height="176.4pt"`) {
		t.Errorf("two inches, and a title's room: %.200s; %.200s", without, with)
	}
}

// texts returns the texts of a drawing with their places.
func texts(d *Drawing) map[string]Element {
	all := map[string]Element{}
	for _, e := range d.Elements {
		if e.Path == "" {
			all[e.Text] = e
		}
	}
	return all
}

// paths returns the paths of a colour.
func paths(d *Drawing, fill, stroke any) (all []string) {
	for _, e := range d.Elements {
		if e.Path != "" && (fill == nil || e.Fill == fill) && (stroke == nil || e.Stroke == stroke) {
			all = append(all, e.Path)
		}
	}
	return all
}

// Values are where the ticks of their axes are, and a legend names what is drawn.
func TestSeries(t *testing.T) {
	p := NewPanel("x", "y")
	p.X.Ticks = []Tick{{0, "left"}, {10, "right"}, {11, "outside"}}
	p.Y.Ticks = []Tick{{-1, "low"}, {4, "high"}}
	p.Add(Series{Name: "line", Colour: Blue, Points: []Point{{0, -1}, {10, 4}}, Line: 2})
	p.Add(Series{Name: "markers", Colour: Red, Points: []Point{{10, 4}}, Marker: Box, Radius: 3})
	p.Add(Series{Colour: Green, Points: []Point{{5, 0}}, Marker: Ring, Radius: 3})
	d := Figure{Width: 400, PanelHeight: 200, Panels: []*Panel{p}}.Draw()
	at := texts(d)
	if _, ok := at["outside"]; ok || at["line"].At.X < at["right"].At.X || at["markers"].At.Y <= at["line"].At.Y {
		t.Errorf("texts %v", at)
	}
	left, right := at["left"].At.X, at["right"].At.X
	low, high := at["low"].At.Y-centre*tickSize, at["high"].At.Y-centre*tickSize
	line := fmt.Sprintf("M%s,%sL%s,%s", Number(left), Number(low), Number(right), Number(high))
	if got := paths(d, nil, Blue); len(got) != 2 || got[0] != line {
		t.Errorf("line %v, want %s, and a sample of it", got, line)
	}
	box := rectangle(right-3, high-3, right+3, high+3)
	if got := paths(d, Red, nil); len(got) != 2 || got[0] != box {
		t.Errorf("marker %v, want %s, and a sample of it", got, box)
	}
	if got := paths(d, nil, Green); len(got) != 1 || paths(d, Green, nil) != nil {
		t.Errorf("a ring without a name is %v", got)
	}
	for _, name := range []string{"line", "markers"} { // in a font that is a little wider, too
		if e := at[name]; e.At.X+wider*textWidth(name, e.Size) > d.Width {
			t.Errorf("the name of %s leaves the figure", name)
		}
	}
	for _, e := range at {
		if half := textWidth(e.Text, e.Size) / 2; e.Anchor == middle && !e.Upwards && (e.At.X-half < 0 || e.At.X+half > at["line"].At.X-sample) ||
			e.Anchor == end && e.At.X-2*half < 0 || e.At.Y > 200 {
			t.Errorf("%q leaves the panel: %+v", e.Text, e)
		}
	}
}

// Parts of bars follow each other, lying and standing.
func TestBars(t *testing.T) {
	kinds := []Kind{{"first", Blue}, {"second", Red}, {"nowhere", Green}}
	parts := [][]float64{{1, 2}, {3, 0}, {0, 0}}
	for _, horizontal := range []bool{true, false} {
		p := NewPanel("", "")
		p.AddBars(horizontal, 10, kinds, parts)
		p.AddNote(Point{4, 1}, "note", !horizontal)
		length := &p.Y
		if horizontal {
			length = &p.X
		}
		if length.Min != 0 || length.Max != 4 {
			t.Errorf("the bars reach from %v to %v", length.Min, length.Max)
		}
		length.Ticks = []Tick{{0, "0"}, {1, "1"}, {2, "2"}, {4, "4"}}
		d := Figure{Width: 400, PanelHeight: 200, Panels: []*Panel{p}}.Draw()
		at := texts(d)
		place := func(label string) string {
			if horizontal {
				return Number(at[label].At.X)
			}
			return Number(at[label].At.Y - centre*tickSize)
		}
		blue, red := paths(d, Blue, nil), paths(d, Red, nil)
		if len(blue) != 2 || strings.Count(blue[0], "Z") != 2 || !strings.Contains(blue[0], place("0")) || !strings.Contains(blue[0], place("1")) || !strings.Contains(blue[0], place("2")) {
			t.Errorf("%v: first parts are %v", horizontal, blue)
		}
		if len(red) != 2 || strings.Count(red[0], "Z") != 1 || !strings.Contains(red[0], place("1")) || !strings.Contains(red[0], place("4")) {
			t.Errorf("%v: second parts are %v", horizontal, red)
		}
		if got := paths(d, Green, nil); len(got) != 1 || at["nowhere"].Text == "" { // only in the legend
			t.Errorf("%v: parts that nothing has are %v", horizontal, got)
		}
		if at["note"].Text == "" || (at["note"].Anchor == middle) == horizontal {
			t.Errorf("%v: note %+v", horizontal, at["note"])
		}
	}
}

// A region is as high as the panel, whatever is added after it.
func TestRegion(t *testing.T) {
	p := NewPanel("", "")
	p.AddRegion("region", Sky, 2, 4)
	p.Add(Series{Colour: Blue, Points: []Point{{0, 0}, {10, 8}}, Line: 1})
	p.X.Ticks, p.Y.Ticks = []Tick{{2, "from"}, {4, "to"}}, []Tick{{0, "low"}, {8, "high"}}
	d := Figure{Width: 400, PanelHeight: 200, Panels: []*Panel{p}}.Draw()
	at := texts(d)
	want := rectangle(at["from"].At.X, at["high"].At.Y-centre*tickSize, at["to"].At.X, at["low"].At.Y-centre*tickSize)
	if got := paths(d, Sky, nil); len(got) != 2 || got[0] != want {
		t.Errorf("the region is %v, want %s", got, want)
	}
}

// Panels of a figure have their lines below each other, however long their labels.
func TestPanelsAlign(t *testing.T) {
	short, long := NewPanel("", "y"), NewPanel("", "")
	short.Y.Ticks, long.Y.Ticks = []Tick{{0, "s"}}, []Tick{{0, "a long label, which needs room"}}
	long.Y.Names = true
	for _, p := range []*Panel{short, long} {
		p.X.Ticks = []Tick{{0, "x"}}
		p.Add(Series{Colour: Blue, Points: []Point{{0, 0}}, Radius: 1})
	}
	d := Figure{Width: 400, PanelHeight: 100, Panels: []*Panel{short, long}}.Draw()
	var ends []Point
	for _, e := range d.Elements {
		if e.Anchor == end {
			ends = append(ends, e.At)
		}
	}
	if len(ends) != 2 || ends[0].X != ends[1].X || ends[0].Y >= ends[1].Y || ends[1].X < textWidth(long.Y.Ticks[0].Label, tickSize) {
		t.Errorf("labels end at %v", ends)
	}
}

// An axis without values, or with only one, has a range; no number is lost.
func TestRanges(t *testing.T) {
	p := NewPanel("x", "y")
	if s := svg(t, Figure{Width: 200, PanelHeight: 100, Panels: []*Panel{p}}); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
		t.Error(s)
	}
	p = NewPanel("x", "y")
	p.Add(Series{Colour: Blue, Points: []Point{{3, 3}}, Radius: 1})
	if s := svg(t, Figure{Width: 200, PanelHeight: 100, Panels: []*Panel{p}}); strings.Contains(s, "NaN") || p.X.Min >= 3 || p.Y.Max <= 3 {
		t.Error(s)
	}
}

func TestRoundTicks(t *testing.T) {
	for _, axis := range []struct {
		low, high float64
		want      string
	}{
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{0.9, 1, "0.90 0.92 0.94 0.96 0.98 1.00"},
		{0, 28.9, "0 5 10 15 20 25"},
		{-0.3, 0.3, "-0.3 -0.2 -0.1 0.0 0.1 0.2 0.3"},
		{3, 8123, "1000 2000 3000 4000 5000 6000 7000 8000"},
		{120, 190, "120 130 140 150 160 170 180 190"},
	} {
		var got []string
		for _, tick := range roundTicks(axis.low, axis.high) {
			got = append(got, tick.Label)
		}
		if s := strings.Join(got, " "); s != axis.want {
			t.Errorf("from %v to %v: %s, want %s", axis.low, axis.high, s, axis.want)
		}
	}
	for e := -6; e < 9; e++ {
		for m := 1.0; m < 10; m += 0.37 {
			high := m * math.Pow10(e)
			if n := len(roundTicks(0, high)); n < 4 || n > 11 {
				t.Errorf("%v: %d ticks", high, n)
			}
		}
	}
}

// Each marker has its own path, around its point.
func TestMarkers(t *testing.T) {
	seen := map[string]bool{}
	for m := Disc; m <= Cross; m++ {
		path := fmt.Sprint(m.solid(), m.path(Point{10, 20}, 4))
		if seen[path] {
			t.Errorf("marker %d looks like another", m)
		}
		seen[path] = true
	}
	if len(seen) != 8 || !Pyramid.solid() || Ring.solid() {
		t.Errorf("markers %v", seen)
	}
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{0: "0", -0.001: "0", 1.005: "1", 72.126: "72.13", -3.5: "-3.5", 1e6: "1000000"} {
		if got := Number(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}

func TestTextWidth(t *testing.T) {
	if textWidth("mmm", 10) <= textWidth("iii", 10) || textWidth("漢字", 10) != 20 || textWidth("~", 1000) != 584 || textWidth("", 9) != 0 {
		t.Error("widths are wrong")
	}
}
