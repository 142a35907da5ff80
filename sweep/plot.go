package sweep

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"sort"
	"strings"

	"neardup/configs"
	"neardup/report/figure"
)

// Plot shows quality and cost over the values of one numeric setting. In a grid the
// other settings have the values of the best variant.
type Plot struct {
	Key     string
	sweep   Sweep
	fixed   []Setting // in a grid: the other settings
	points  []point
	caption string
}

// point is a value of the setting with its result.
type point struct {
	label string
	x     float64
	r     Result
}

// Plots returns a plot for each numeric setting that takes at least two values.
func (s Sweep) Plots() []Plot {
	var out []Plot
	for _, v := range s.Varies {
		p := Plot{Key: v.Key, sweep: s}
		if s.Grid {
			p.fixed = slices.DeleteFunc(slices.Clone(s.best().Settings), func(o Setting) bool { return o.Key == v.Key })
			p.caption = name(p.fixed)
		}
		if len(p.fixed) == 0 {
			p.caption = "all else as in the base"
		}
		for _, r := range s.Results {
			if !s.passes(r, v.Key, p.fixed) {
				continue
			}
			value, err := s.setting(r, v.Key)
			x, ok := value.numeric()
			if err != nil || !ok {
				p.points = nil
				break
			}
			p.points = append(p.points, point{value.Text(), x, r})
		}
		sort.SliceStable(p.points, func(i, j int) bool {
			a, b := p.points[i], p.points[j]
			return cmp.Compare(rank(v.Key, a.x), rank(v.Key, b.x)) < 0
		})
		p.points = slices.CompactFunc(p.points, func(a, b point) bool { return a.x == b.x })
		if len(p.points) > 1 {
			out = append(out, p)
		}
	}
	return out
}

// rank returns the position of a value on the axis: its number, but 0 comes last if
// it means no limit.
func rank(key string, x float64) float64 {
	if x == 0 && strings.HasPrefix(key[strings.Index(key, ".")+1:], "max_") {
		return math.Inf(1)
	}
	return x
}

// best returns the result with the highest announced F1; among equals, or without a
// truth, the first.
func (s Sweep) best() Result {
	best := s.Results[min(1, len(s.Results)-1)] // the base fixes no settings
	for _, r := range s.Results[1:] {
		if r.Scores != nil && r.Scores.Announced.F1 > best.Scores.Announced.F1 {
			best = r
		}
	}
	return best
}

// passes reports whether a result differs from the fixed settings, or from the
// base, only in key.
func (s Sweep) passes(r Result, key string, fixed []Setting) bool {
	for _, v := range s.Varies {
		if v.Key == key {
			continue
		}
		want := Setting{Key: v.Key}
		want.Value, _ = s.Base.Value(v.Key)
		for _, f := range fixed {
			if f.Key == v.Key {
				want = f
			}
		}
		if got, err := s.setting(r, v.Key); err != nil || string(got.Value) != string(want.Value) {
			return false
		}
	}
	return true
}

// series is a line of a panel, with its style.
type series struct {
	column string
	name   string
	colour color.RGBA
	marker figure.Marker
}

var panels = []struct {
	axis     string
	unit     bool // the axis is from 0 to 1
	fromZero bool
	series   []series
}{
	{"rate", true, false, []series{
		{"announced_f1", "announced F1", figure.Blue, figure.Disc},
		{"pair_f1", "pair F1", figure.Red, figure.Box},
		{"coverage", "coverage rate", figure.Green, figure.Pyramid},
		{"trustable", "trustable rate", figure.Orange, figure.Plus},
		{"trustable_by_labels", "trustable, by labels", figure.Pink, figure.Cross},
		{"strain_away", "strain-away rate", figure.Sky, figure.Ring},
		{"reserve", "reserve rate", figure.Black, figure.Square},
	}},
	{"F1, closer", false, false, []series{
		{"announced_f1", "announced F1", figure.Blue, figure.Disc},
		{"pair_f1", "pair F1", figure.Red, figure.Box},
	}},
	{"processor seconds", false, true, []series{
		{"cpu_seconds", "all stages", figure.Black, figure.Disc},
		{secondsOf(configs.StageSign), configs.StageSign, figure.Green, figure.Pyramid},
		{secondsOf(configs.StageCluster), configs.StageCluster, figure.Orange, figure.Plus},
		{secondsOf(configs.StageVerify), configs.StageVerify, figure.Blue, figure.Box},
	}},
}

// WriteSVG draws the plot. The same results give the same bytes.
func (p Plot) WriteSVG(w io.Writer) error {
	f := figure.Figure{Title: fmt.Sprintf("%s (%s)", p.Key, p.caption), Width: 7 * figure.Inch, PanelHeight: 2.5 * figure.Inch}
	for _, panel := range panels {
		pl := p.panel(panel.axis, panel.series)
		if pl == nil {
			continue
		}
		switch {
		case panel.unit:
			pl.Y.Min, pl.Y.Max = 0, 1
		case panel.fromZero:
			pl.Y.Min = 0
		default: // markers stay off the axis
			room := (pl.Y.Max - pl.Y.Min) / 20
			pl.Y.Min, pl.Y.Max = pl.Y.Min-room, pl.Y.Max+room
		}
		f.Panels = append(f.Panels, pl)
	}
	f.Panels[len(f.Panels)-1].X.Label = p.Key
	return f.WriteSVG(w)
}

// panel draws the series that have values. It returns nil if none has.
func (p Plot) panel(axis string, all []series) *figure.Panel {
	pl, drawn := figure.NewPanel("", axis), false
	known := map[string]Column{}
	for _, columns := range [][]Column{quality, costs(p.sweep.Results)} {
		for _, c := range columns {
			known[c.Name] = c
		}
	}
	for _, s := range all {
		c, ok := known[s.column]
		if !ok {
			continue
		}
		var points []figure.Point
		for i, pt := range p.points {
			if y := c.Value(pt.r); y != nil {
				points = append(points, figure.Point{X: float64(i), Y: *y})
			}
		}
		if len(points) == 0 {
			continue
		}
		pl.Add(figure.Series{Name: s.name, Colour: s.colour, Points: points, Line: 1.2, Marker: s.marker, Radius: 3})
		drawn = true
	}
	if !drawn {
		return nil
	}
	// Values are at equal distances: 16, 32, 64, 100 on a linear axis would crowd
	// the small ones.
	for i, pt := range p.points {
		pl.X.Ticks = append(pl.X.Ticks, figure.Tick{Value: float64(i), Label: pt.label})
	}
	pl.X.Min, pl.X.Max = -0.25, float64(len(p.points))-0.75
	return pl
}
