package static

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"golang.org/x/net/idna"

	"neardup/report/figure"
	"neardup/report/look"
)

const (
	figureWidth = 8 * figure.Inch
	rowHeight   = 0.25 * figure.Inch
	axisHeight  = 0.65 * figure.Inch
	hostsDrawn  = 15
	labelled    = 12 // bars of an axis that have labels
	longLabel   = 30 // characters
)

// bar is a bar of parts, one after another.
type bar struct {
	label string
	parts []float64
	note  string // text at its end
	gap   bool   // gap in place of bars that are left out
}

func (b bar) sum() (sum float64) {
	for _, p := range b.parts {
		sum += p
	}
	return sum
}

// rows returns a panel with one row for each bar, the first on top.
func rows(axis string, kinds []figure.Kind, bars []bar) *figure.Panel {
	p := figure.NewPanel(axis, "")
	addBars(p, kinds, bars, true)
	for i, b := range bars {
		p.Y.Ticks = append(p.Y.Ticks, figure.Tick{Value: float64(len(bars) - 1 - i), Label: b.label})
	}
	p.Y.Names = true
	p.Y.Min, p.Y.Max = -0.6, float64(len(bars))-0.4
	showAmounts(&p.X, bars)
	return p
}

// columns returns a panel with one column for each bar.
func columns(x, y string, kinds []figure.Kind, bars []bar) *figure.Panel {
	p := figure.NewPanel(x, y)
	addBars(p, kinds, bars, false)
	every := (len(bars) + labelled - 1) / labelled
	gap := -len(bars)
	for i, b := range bars {
		if b.gap {
			gap = i
		}
		if b.gap || i%every == 0 && i-gap > every/2 && !slices.ContainsFunc(bars[i:min(len(bars), i+every/2+1)], func(b bar) bool { return b.gap }) {
			p.X.Ticks = append(p.X.Ticks, figure.Tick{Value: float64(i), Label: b.label})
		}
	}
	p.X.Min, p.X.Max = -0.6, float64(len(bars))-0.4
	showAmounts(&p.Y, bars)
	return p
}

// addBars draws the bars, one kind after another. Kinds of which no bar has a part
// are left out.
func addBars(p *figure.Panel, kinds []figure.Kind, bars []bar, horizontal bool) {
	width := 0.15 * figure.Inch
	if !horizontal {
		width = min(0.45*figure.Inch, 5.2*figure.Inch/float64(len(bars)))
	}
	at := func(i int) int {
		if horizontal {
			return len(bars) - 1 - i
		}
		return i
	}
	var used []figure.Kind
	var parts [][]float64
	for k, kind := range kinds {
		values, any := make([]float64, len(bars)), false
		for i, b := range bars {
			if !b.gap {
				values[at(i)] = b.parts[k]
				any = any || b.parts[k] > 0
			}
		}
		if any || len(kinds) == 1 {
			used, parts = append(used, kind), append(parts, values)
		}
	}
	p.AddBars(horizontal, width, used, parts)
	for i, b := range bars {
		xy := figure.Point{X: b.sum(), Y: float64(at(i))}
		if !horizontal {
			xy.X, xy.Y = xy.Y, xy.X
		}
		if b.note != "" {
			p.AddNote(xy, b.note, !horizontal)
		}
	}
}

// showAmounts makes an axis begin at 0 and end after the longest bar. It shows
// whole numbers if all amounts are whole.
func showAmounts(a *figure.Axis, bars []bar) {
	most, whole := 0.0, true
	for _, b := range bars {
		most = max(most, b.sum())
		whole = whole && b.sum() == math.Trunc(b.sum())
	}
	if most == 0 {
		most = 1
	}
	step := math.Pow(10, math.Floor(math.Log10(most)))
	switch {
	case most/step < 1.5:
		step /= 4
	case most/step < 3:
		step /= 2
	case most/step >= 6:
		step *= 2
	}
	if whole {
		step = math.Ceil(step)
	}
	var ticks []figure.Tick
	for i := 0; float64(i)*step <= most*(1+1e-9); i++ {
		ticks = append(ticks, figure.Tick{Value: float64(i) * step, Label: amount(float64(i) * step)})
	}
	a.Min, a.Max, a.Ticks = 0, 1.12*most, ticks
}

// amount returns a number of an axis as text.
func amount(x float64) string {
	if x == math.Trunc(x) {
		return look.Count(int64(x))
	}
	return strings.TrimRight(fmt.Sprintf("%.3f", x), "0")
}

// label returns a crawled name that fits beside an axis. It is in ASCII, whose
// widths figures know.
func label(name string) string {
	if name == "" {
		return "(no host)"
	}
	ascii, err := idna.Punycode.ToASCII(name)
	if err != nil {
		ascii = name
	}
	var b strings.Builder
	for _, r := range ascii {
		if r <= ' ' || r > '~' {
			r = '?'
		}
		b.WriteRune(r)
	}
	s := b.String()
	if len(s) > longLabel {
		s = s[:longLabel/2-1] + "..." + s[len(s)-longLabel/2+2:]
	}
	return s
}

// unit returns the unit for sizes up to the given number of bytes.
func unit(most int64) (name string, size float64) {
	size = 1
	for _, name = range []string{"B", "kB", "MB", "GB", "TB", "PB"} {
		if float64(most) < 1000*size {
			break
		}
		size *= 1000
	}
	return name, size
}

func duplicateKinds() []figure.Kind {
	return []figure.Kind{{Name: "near-duplicates", Colour: figure.Colours()[0]}, {Name: "the rest", Colour: figure.Gray}}
}

// figure draws the hosts with the most near-duplicates, by bytes or pages.
func (h *Hosts) figure() figure.Figure {
	top := h.Top[:min(len(h.Top), hostsDrawn)]
	most := int64(0)
	for _, host := range top {
		most = max(most, host.Bytes)
	}
	name, size := unit(most)
	axis := "payload, " + name
	if !h.weighed() {
		axis = "pages"
	}
	var bars []bar
	for _, host := range top {
		b := bar{label: label(host.Name)}
		if h.weighed() {
			b.parts = []float64{float64(host.DuplicateBytes) / size, float64(host.Bytes-host.DuplicateBytes) / size}
			b.note = look.Percent(host.DuplicateBytes, host.Bytes)
		} else {
			b.parts = []float64{float64(host.Duplicates), float64(host.Pages - host.Duplicates)}
			b.note = look.Percent(host.Duplicates, host.Pages)
		}
		bars = append(bars, b)
	}
	p := rows(axis, duplicateKinds(), bars)
	return figure.Figure{Width: figureWidth, PanelHeight: axisHeight + rowHeight*float64(len(bars)), Panels: []*figure.Panel{p}}
}

// weighed reports whether the near-duplicates have payloads. Text collections and
// revisits have none.
func (h *Hosts) weighed() bool { return len(h.Top) > 0 && h.Top[0].DuplicateBytes > 0 }

// Columns returns the number of columns of the periods in a plot. A period without
// pages has a column, too, but one gap stands for more than a year of missing
// months, or for more than ten missing years.
func (p *Periods) Columns() int { return len(p.bars()) }

func (p *Periods) bars() (bars []bar) {
	most := 12
	if p.Unit == "year" {
		most = 10
	}
	before := 0
	for i, period := range p.Periods {
		at := ordinal(period.Name)
		switch missing := at - before - 1; {
		case i == 0:
		case missing > most:
			bars = append(bars, bar{label: "...", gap: true})
		default:
			for m := before + 1; m < at; m++ {
				bars = append(bars, bar{label: nameOf(m, p.Unit), parts: []float64{0, 0}})
			}
		}
		before = at
		bars = append(bars, bar{label: period.Name, parts: []float64{float64(period.Duplicates), float64(period.Pages - period.Duplicates)}})
	}
	return bars
}

// figure draws the periods in order.
func (p *Periods) figure() figure.Figure {
	panel := columns(p.Unit+" of capture", "pages", duplicateKinds(), p.bars())
	return figure.Figure{Width: figureWidth, PanelHeight: 2.3 * figure.Inch, Panels: []*figure.Panel{panel}}
}

// ordinal returns the number of a month or a year, counted from year 0.
func ordinal(name string) int {
	var year, month int
	if n, _ := fmt.Sscanf(name, "%4d-%2d", &year, &month); n == 2 {
		return 12*year + month - 1
	}
	return year
}

func nameOf(ordinal int, unit string) string {
	if unit == "year" {
		return fmt.Sprintf("%04d", ordinal)
	}
	return fmt.Sprintf("%04d-%02d", ordinal/12, ordinal%12+1)
}

// sizesFigure draws the distribution of the clusters' sizes.
func (s *Statistics) sizesFigure() figure.Figure {
	f := figure.Figure{Width: figureWidth, PanelHeight: 2 * figure.Inch}
	for _, panel := range []struct {
		axis   string
		colour color.RGBA
		of     func(i int) int64
	}{
		{"clusters", figure.Colours()[0], func(i int) int64 { return s.Summary.Clusters.BySize[i].Clusters }},
		{"pages in them", figure.Colours()[2], func(i int) int64 { return s.Summary.Clusters.BySize[i].Pages }},
	} {
		var bars []bar
		for i, bucket := range s.Summary.Clusters.BySize {
			n := panel.of(i)
			bars = append(bars, bar{label: sizes(bucket.From, bucket.To), parts: []float64{float64(n)}, note: look.Count(n)})
		}
		f.Panels = append(f.Panels, columns("pages of a cluster", panel.axis, []figure.Kind{{Colour: panel.colour}}, bars))
	}
	return f
}

func sizes(from, to int) string { return look.Count(from) + " - " + look.Count(to) }

// figure draws the distribution of the scores.
func (s *Scores) figure() figure.Figure {
	f := figure.Figure{Width: figureWidth, PanelHeight: 2.1 * figure.Inch}
	colours := figure.Colours()
	for _, of := range []struct {
		name string
		d    *Distribution
	}{{"resemblance", &s.Resemblance}, {"containment", &s.Containment}} {
		kinds := []figure.Kind{{Name: "near", Colour: colours[0]}, {Name: "by containment", Colour: colours[3]}, {Name: "linked or judged", Colour: colours[4]}}
		var bars []bar
		for _, b := range of.d.Bins {
			bars = append(bars, bar{parts: []float64{float64(b.Near), float64(b.Contained), float64(b.Linked)}})
		}
		p := columns(of.name, "pages", kinds, bars)
		var ticks []figure.Tick // between the bars
		for i := 0; i <= Bins; i += 2 {
			ticks = append(ticks, figure.Tick{Value: float64(i) - 0.5, Label: fmt.Sprintf("%.1f", float64(i)/Bins)})
		}
		p.X.Ticks = ticks
		f.Panels = append(f.Panels, p)
	}
	return f
}

// figure draws what each step leaves and what it removes.
func (s steps) figure() figure.Figure {
	var bars []bar
	for _, step := range s.Steps {
		b := bar{label: step.Name, parts: []float64{float64(step.Count), 0}, note: look.Count(step.Count)}
		if step.Lost {
			b.label, b.parts[0], b.parts[1] = "- "+step.Name, 0, b.parts[0]
		}
		bars = append(bars, b)
	}
	p := rows(s.Unit, []figure.Kind{{Name: "left", Colour: figure.Colours()[0]}, {Name: "taken out", Colour: figure.Gray}}, bars)
	return figure.Figure{Width: figureWidth, PanelHeight: axisHeight + rowHeight*float64(len(bars)), Panels: []*figure.Panel{p}}
}
