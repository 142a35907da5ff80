package pdf

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Outcome is why a document has no text.
type Outcome uint8

// The outcomes.
const (
	Read      Outcome = iota
	Broken            // PDFium finds no document in it
	Encrypted         // it needs a password, or a handler that PDFium does not have
	NoText            // no page has text; mostly scanned pages
	Memory            // over Limits.MaxMemory
	Steps             // over Limits.MaxSteps
	Crashed           // PDFium failed on it
)

// line is a line of a page. Positions are in points, relative to the line's
// direction: x along it, y across it, upwards.
type line struct {
	text        string
	hyphen      bool    // the line ended with a hyphen, which is removed from text
	left, right float64 // edges of its first and last character
	base        float64 // y of its baseline
	size        float64 // font size
	page        int
	down        bool // it runs down the page, as this is shown
}

// raw is what PDFium reads from a document.
type raw struct {
	title string
	pages [][]line
	count int  // pages of the document; at most Limits.MaxPages are read
	lost  int  // pages that could not be read
	cut   bool // there are more lines
	steps int64
}

// Lines take memory outside of PDFium's, several times that of their text. A few
// hundred bytes of a document can ask for any number of them.
const (
	// maxLines bounds the lines of a document. 2,000 pages may have 262 each.
	maxLines = 1 << 19
	// manyLines, or as many bytes of text as lineBytes for each, are read while no other
	// instance is large.
	manyLines = 1 << 16
	lineBytes = 64
)

// lineHyphen is PDFium's character for a hyphen that breaks a word at a line end.
const lineHyphen = '\u0002'

// Errors of FPDF_GetLastError.
const (
	errPassword = 4
	errSecurity = 5
)

// instance is a fresh PDFium with one document. It is dropped with the document, so
// that no document can affect the next.
type instance struct {
	ctx    context.Context
	module api.Module
	calls  map[string]api.Function
	stack  [8]uint64
	err    error // of the first failed call; all further calls fail, too

	memory  *memory
	kept    int // lines of all pages so far
	text    int // bytes of them
	maxText int
	cut     bool // a line was not read because they are full
	turned  int  // quarters by which the present page is shown turned, clockwise
}

// full reports whether no more lines are read.
func (p *instance) full() bool { return p.kept >= maxLines || p.text > p.maxText }

// keep counts a line. It waits for other instances if the lines become large.
func (p *instance) keep(l line) {
	p.kept++
	p.text += len(l.text)
	if p.kept > manyLines || p.text > manyLines*lineBytes {
		p.memory.enlarge()
	}
}

// call calls a function of PDFium.
func (p *instance) call(name string, args ...uint64) uint64 {
	if p.err != nil {
		return 0
	}
	f := p.calls[name]
	if f == nil {
		f = p.module.ExportedFunction(name)
		p.calls[name] = f
	}
	copy(p.stack[:], args)
	p.err = f.CallWithStack(p.ctx, p.stack[:])
	return p.stack[0]
}

// read reads a document with PDFium in the memory. The lines are cut when they have
// over twice maxText bytes.
func (e *Engine) read(m *memory, body []byte, l Limits, maxText int) (doc raw, outcome Outcome, err error) {
	if err := e.start(); err != nil {
		return doc, Crashed, err
	}
	if e.slots != nil {
		e.slots <- struct{}{}
		defer func() { <-e.slots }()
	}
	return e.readIn(m, body, l, maxText)
}

func (e *Engine) readIn(m *memory, body []byte, l Limits, maxText int) (doc raw, outcome Outcome, err error) {
	ctx := experimental.WithMemoryAllocator(context.Background(), m)
	module, err := e.runtime.InstantiateModule(ctx, e.module, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return doc, Crashed, err
	}
	defer func() { _ = module.Close(ctx) }()
	steps := module.ExportedGlobal("neardup_steps").(api.MutableGlobal)
	steps.Set(uint64(l.MaxSteps))
	p := &instance{ctx: context.Background(), module: module, calls: map[string]api.Function{}, memory: m}
	p.maxText = 2 * maxText // running heads, which are left out, count, too
	doc, outcome = p.document(body, l.MaxPages)
	doc.steps = l.MaxSteps - max(0, int64(steps.Get()))
	switch {
	case p.err == nil:
	case int64(steps.Get()) < 0:
		outcome = Steps
	case m.over:
		outcome = Memory
	default:
		outcome = Crashed
	}
	return doc, outcome, nil
}

func (p *instance) document(body []byte, maxPages int) (doc raw, outcome Outcome) {
	p.call("_initialize")
	p.call("FPDF_InitLibrary")
	at := uint32(p.call("malloc", uint64(len(body))))
	if p.err != nil || at == 0 || !p.module.Memory().Write(at, body) {
		return doc, Memory
	}
	d := p.call("FPDF_LoadMemDocument64", uint64(at), uint64(len(body)), 0)
	if d == 0 {
		switch p.call("FPDF_GetLastError") {
		case errPassword, errSecurity:
			return doc, Encrypted
		}
		return doc, Broken
	}
	doc.title = p.meta(d, "Title")
	doc.count = int(int32(p.call("FPDF_GetPageCount", d)))
	text := false
	for i := range min(doc.count, maxPages) {
		if p.full() {
			p.cut = true
			break
		}
		lines, ok := p.page(d, i)
		if p.err != nil {
			return doc, Crashed
		}
		if !ok {
			doc.lost++
		}
		doc.pages = append(doc.pages, lines)
		text = text || len(lines) > 0
	}
	doc.cut = p.cut
	switch {
	case text:
		return doc, Read
	case doc.lost > 0 && doc.lost == len(doc.pages), doc.count <= 0:
		return doc, Broken
	}
	return doc, NoText
}

// meta returns an entry of the document's information dictionary.
func (p *instance) meta(d uint64, key string) string {
	const limit = 4096
	name, buf := p.call("malloc", uint64(len(key)+1)), p.call("malloc", limit)
	if p.err != nil || name == 0 || buf == 0 {
		return ""
	}
	memory := p.module.Memory()
	memory.Write(uint32(name), append([]byte(key), 0))
	n := p.call("FPDF_GetMetaText", d, name, buf, limit)
	b, ok := memory.Read(uint32(buf), uint32(min(n, limit)))
	if !ok {
		return ""
	}
	var units []uint16
	for i := 0; i+1 < len(b); i += 2 {
		units = append(units, binary.LittleEndian.Uint16(b[i:]))
	}
	return strings.TrimRight(string(utf16.Decode(units)), "\x00")
}

// page returns the lines of a page.
func (p *instance) page(d uint64, index int) (lines []line, ok bool) {
	page := p.call("FPDF_LoadPage", d, uint64(index))
	if page == 0 {
		return nil, false
	}
	text := p.call("FPDFText_LoadPage", page)
	if text != 0 {
		p.turned = int(p.call("FPDFPage_GetRotation", page))
		lines = p.lines(text, index)
		inOrder(lines)
		p.call("FPDFText_ClosePage", text)
	}
	p.call("FPDF_ClosePage", page)
	return lines, text != 0
}

// lines splits the characters of a page into the lines that PDFium found.
func (p *instance) lines(text uint64, page int) (out []line) {
	n := int(int32(p.call("FPDFText_CountChars", text)))
	box := p.call("malloc", 32)
	if n <= 0 || box == 0 {
		return nil
	}
	var b strings.Builder
	var shown []int // characters of the line except spaces
	units := [2]rune{}
	end := func() {
		l := line{text: b.String(), page: page}
		b.Reset()
		if len(shown) > 0 {
			p.place(&l, text, box, shown)
		}
		shown = shown[:0]
		if l.text = clean(l.text, &l.hyphen); l.text != "" {
			out = append(out, l)
			p.keep(l)
		}
	}
	for i := range n {
		if p.full() {
			p.cut = true
			return out
		}
		r := rune(uint32(p.call("FPDFText_GetUnicode", text, uint64(i))))
		if p.err != nil {
			return nil
		}
		switch r {
		case lineHyphen, '\uFFFE':
			b.WriteRune(lineHyphen)
			fallthrough // PDFium joins the lines; here the layout decides
		case '\r', '\n':
			end()
			continue
		}
		if utf16.IsSurrogate(r) {
			if units[0], units[1] = units[1], r; utf16.DecodeRune(units[0], units[1]) != '\uFFFD' {
				r, units = utf16.DecodeRune(units[0], units[1]), [2]rune{}
			} else {
				continue
			}
		}
		if r != ' ' {
			shown = append(shown, i)
		}
		b.WriteRune(r)
	}
	end()
	return out
}

// place sets the position of a line from its characters.
func (p *instance) place(l *line, text, box uint64, shown []int) {
	first, middle, last := shown[0], uint64(shown[len(shown)/2]), shown[len(shown)-1]
	p.call("FPDFText_GetMatrix", text, middle, box)
	l.size = math.Float64frombits(p.call("FPDFText_GetFontSize", text, middle)) * math.Hypot(p.float32(box+8), p.float32(box+12))
	if !(l.size > 0 && l.size < 1000) {
		l.size = 1
	}
	cos, sin := 1.0, 0.0 // of the line's direction
	if x, y := p.float32(box), p.float32(box+4); math.Hypot(x, y) > 0 {
		cos, sin = x/math.Hypot(x, y), y/math.Hypot(x, y)
	}
	l.down = pointsDown(cos, sin, p.turned)
	along := func(x, y float64) (float64, float64) { return x*cos + y*sin, y*cos - x*sin }
	l.left, l.base = along(p.origin(text, box, first))
	l.right, _ = along(p.corner(text, box, last))
	l.left, l.right = min(l.left, l.right), max(l.left, l.right)
}

// pointsDown reports whether a direction points down a page that is shown turned clockwise
// by so many quarters.
func pointsDown(cos, sin float64, quarters int) bool {
	for range quarters & 3 {
		cos, sin = sin, -cos
	}
	return sin < -.95 // within 18 degrees of it
}

// inOrder puts lines that run down the page into the order in which they are read, from the
// right to the left. PDFium has them from the left to the right.
func inOrder(lines []line) {
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n-1].down && lines[n].down && lines[n-1].base <= lines[n].base {
			n++
		}
		slices.SortStableFunc(lines[:n], func(a, b line) int { return cmp.Compare(b.base, a.base) })
		lines = lines[n:]
	}
}

// origin returns the position of a character on its baseline.
func (p *instance) origin(text, box uint64, i int) (x, y float64) {
	p.call("FPDFText_GetCharOrigin", text, uint64(i), box, box+8)
	return p.float(box), p.float(box + 8)
}

// corner returns the lower right corner of a character.
func (p *instance) corner(text, box uint64, i int) (x, y float64) {
	p.call("FPDFText_GetCharBox", text, uint64(i), box, box+8, box+16, box+24)
	return p.float(box + 8), p.float(box + 16)
}

func (p *instance) float(at uint64) float64 {
	v, _ := p.module.Memory().ReadFloat64Le(uint32(at))
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

func (p *instance) float32(at uint64) float64 {
	v, _ := p.module.Memory().ReadFloat32Le(uint32(at))
	return float64(v)
}
