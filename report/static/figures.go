package static

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"golang.org/x/net/idna"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"neardup/report/figure"
	"neardup/report/look"
)

const (
	figureWidth = 8 * vg.Inch
	rowHeight   = 0.25 * vg.Inch
	axisHeight  = 0.65 * vg.Inch
	hostsDrawn  = 15
	labelled    = 12 // bars of an axis that have labels
	longLabel   = 30 // characters
)

// rest is the colour of parts that belong to no kind and are not near-duplicates.
var rest = color.Gray{Y: 170}

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

// kind is the kind of a part of each bar.
type kind struct {
	name   string
	colour color.Color
}

// rows returns a panel with one row for each bar, the first on top.
func rows(axis string, kinds []kind, bars []bar) (figure.Panel, error) {
	p := figure.NewPanel(axis, "")
	if err := addBars(&p, kinds, bars, true); err != nil {
		return p, err
	}
	var ticks plot.ConstantTicks
	for i, b := range bars {
		ticks = append(ticks, plot.Tick{Value: float64(len(bars) - 1 - i), Label: b.label})
	}
	// No line, but some room, because viewers may draw the labels in a wider font.
	p.Y.Tick.Marker, p.Y.Tick.Length = ticks, vg.Points(8)
	p.Y.LineStyle.Width, p.Y.Tick.LineStyle.Width = 0, 0
	p.Y.Min, p.Y.Max = -0.6, float64(len(bars))-0.4
	showAmounts(&p.X, bars)
	return p, nil
}

// columns returns a panel with one column for each bar.
func columns(x, y string, kinds []kind, bars []bar) (figure.Panel, error) {
	p := figure.NewPanel(x, y)
	if err := addBars(&p, kinds, bars, false); err != nil {
		return p, err
	}
	var ticks plot.ConstantTicks
	every := (len(bars) + labelled - 1) / labelled
	gap := -len(bars)
	for i, b := range bars {
		if b.gap {
			gap = i
		}
		if b.gap || i%every == 0 && i-gap > every/2 && !slices.ContainsFunc(bars[i:min(len(bars), i+every/2+1)], func(b bar) bool { return b.gap }) {
			ticks = append(ticks, plot.Tick{Value: float64(i), Label: b.label})
		}
	}
	p.X.Tick.Marker = ticks
	p.X.Min, p.X.Max = -0.6, float64(len(bars))-0.4
	showAmounts(&p.Y, bars)
	return p, nil
}

// addBars draws the bars, one kind after another.
func addBars(p *figure.Panel, kinds []kind, bars []bar, horizontal bool) error {
	width := 0.15 * vg.Inch
	if !horizontal {
		width = min(0.45*vg.Inch, 5.2*vg.Inch/vg.Length(len(bars)))
	}
	at := func(i int) int {
		if horizontal {
			return len(bars) - 1 - i
		}
		return i
	}
	var below *plotter.BarChart
	for k, kind := range kinds {
		values, any := make(plotter.Values, len(bars)), false
		for i, b := range bars {
			if !b.gap {
				values[at(i)] = b.parts[k]
				any = any || b.parts[k] > 0
			}
		}
		if !any && len(kinds) > 1 {
			continue // no bar has a part of this kind
		}
		chart, err := plotter.NewBarChart(values, width)
		if err != nil {
			return err
		}
		chart.Horizontal, chart.Color, chart.LineStyle.Width = horizontal, kind.colour, 0
		if below != nil {
			chart.StackOn(below)
		}
		below = chart
		p.Add(chart)
		if kind.name != "" {
			p.Legend.Add(kind.name, chart)
		}
	}
	var notes plotter.XYLabels
	for i, b := range bars {
		xy := plotter.XY{X: b.sum(), Y: float64(at(i))}
		if !horizontal {
			xy.X, xy.Y = xy.Y, xy.X
		}
		if b.note != "" {
			notes.XYs, notes.Labels = append(notes.XYs, xy), append(notes.Labels, b.note)
		}
	}
	if len(notes.Labels) == 0 {
		return nil
	}
	labels, err := plotter.NewLabels(notes)
	if err != nil {
		return err
	}
	for i := range labels.TextStyle {
		s := p.Legend.TextStyle
		s.XAlign, s.YAlign, labels.Offset = text.XLeft, text.YCenter, vg.Point{X: 4, Y: 1}
		if !horizontal {
			s.XAlign, s.YAlign, labels.Offset = text.XCenter, text.YBottom, vg.Point{Y: 3}
		}
		labels.TextStyle[i] = s
	}
	p.Add(labels)
	return nil
}

// showAmounts makes an axis begin at 0 and end after the longest bar. It shows
// whole numbers if all amounts are whole.
func showAmounts(a *plot.Axis, bars []bar) {
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
	var ticks plot.ConstantTicks
	for i := 0; float64(i)*step <= most*(1+1e-9); i++ {
		ticks = append(ticks, plot.Tick{Value: float64(i) * step, Label: amount(float64(i) * step)})
	}
	a.Min, a.Max, a.Tick.Marker = 0, 1.12*most, ticks
}

// amount returns a number of an axis as text.
func amount(x float64) string {
	if x == math.Trunc(x) {
		return look.Count(int64(x))
	}
	return strings.TrimRight(fmt.Sprintf("%.3f", x), "0")
}

// label returns a crawled name that fits beside an axis. It is in ASCII,
// because the plotting library does not know the width of other scripts.
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

func duplicateKinds() []kind {
	return []kind{{"near-duplicates", figure.Colours()[0]}, {"the rest", rest}}
}

// figure draws the hosts with the most near-duplicates, by bytes or pages.
func (h *Hosts) figure() (figure.Figure, error) {
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
	p, err := rows(axis, duplicateKinds(), bars)
	return figure.Figure{Width: figureWidth, LegendWidth: 1.1 * vg.Inch, PanelHeight: axisHeight + rowHeight*vg.Length(len(bars)), Panels: []figure.Panel{p}}, err
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
func (p *Periods) figure() (figure.Figure, error) {
	panel, err := columns(p.Unit+" of capture", "pages", duplicateKinds(), p.bars())
	return figure.Figure{Width: figureWidth, LegendWidth: 1.1 * vg.Inch, PanelHeight: 2.3 * vg.Inch, Panels: []figure.Panel{panel}}, err
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
func (s *Statistics) sizesFigure() (figure.Figure, error) {
	f := figure.Figure{Width: figureWidth, PanelHeight: 2 * vg.Inch}
	for _, panel := range []struct {
		axis   string
		colour color.Color
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
		p, err := columns("pages of a cluster", panel.axis, []kind{{"", panel.colour}}, bars)
		if err != nil {
			return f, err
		}
		f.Panels = append(f.Panels, p)
	}
	return f, nil
}

func sizes(from, to int) string { return look.Count(from) + " - " + look.Count(to) }

// figure draws the distribution of the scores.
func (s *Scores) figure() (figure.Figure, error) {
	f := figure.Figure{Width: figureWidth, LegendWidth: 1.5 * vg.Inch, PanelHeight: 2.1 * vg.Inch}
	colours := figure.Colours()
	for _, of := range []struct {
		name string
		d    *Distribution
	}{{"resemblance", &s.Resemblance}, {"containment", &s.Containment}} {
		kinds := []kind{{"near", colours[0]}, {"by containment", colours[3]}, {"linked or judged", colours[4]}}
		var bars []bar
		for _, b := range of.d.Bins {
			bars = append(bars, bar{parts: []float64{float64(b.Near), float64(b.Contained), float64(b.Linked)}})
		}
		p, err := columns(of.name, "pages", kinds, bars)
		if err != nil {
			return f, err
		}
		var ticks plot.ConstantTicks // between the bars
		for i := 0; i <= Bins; i += 2 {
			ticks = append(ticks, plot.Tick{Value: float64(i) - 0.5, Label: fmt.Sprintf("%.1f", float64(i)/Bins)})
		}
		p.X.Tick.Marker = ticks
		f.Panels = append(f.Panels, p)
	}
	return f, nil
}

// figure draws what each step leaves and what it removes.
func (s steps) figure() (figure.Figure, error) {
	var bars []bar
	for _, step := range s.Steps {
		b := bar{label: step.Name, parts: []float64{float64(step.Count), 0}, note: look.Count(step.Count)}
		if step.Lost {
			b.label, b.parts[0], b.parts[1] = "- "+step.Name, 0, b.parts[0]
		}
		bars = append(bars, b)
	}
	p, err := rows(s.Unit, []kind{{"left", figure.Colours()[0]}, {"taken out", rest}}, bars)
	return figure.Figure{Width: figureWidth, LegendWidth: 1.1 * vg.Inch, PanelHeight: axisHeight + rowHeight*vg.Length(len(bars)), Panels: []figure.Panel{p}}, err
}
