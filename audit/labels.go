package audit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Labels is a sample with its judgements. It contains nothing crawled, so it can be
// passed on. docs/audit.md describes the file.
type Labels struct {
	Audit *Audit // nil: judgements only
	Pairs []LabelledPair
}

// LabelledPair is a pair of a sample with its judgements. Without a sample it has
// only these.
type LabelledPair struct {
	Pair
	Cluster     string     `json:"cluster,omitempty"`
	Stratum     int        `json:"stratum,omitempty"`
	Draws       int        `json:"draws,omitempty"`
	SameSite    bool       `json:"same_site,omitempty"`
	Identical   bool       `json:"identical,omitempty"`
	Resemblance float64    `json:"resemblance,omitempty"`
	Containment float64    `json:"containment,omitempty"`
	Judgements  []labelled `json:"judgements,omitempty"`
}

// labelled is a judgement without its pair.
type labelled struct {
	Judge   string  `json:"judge"`
	Verdict Verdict `json:"verdict"`
	Note    string  `json:"note,omitempty"`
	Enforce bool    `json:"enforce,omitempty"`
	Time    string  `json:"time,omitempty"`
	Cause   Cause   `json:"cause,omitempty"`
}

// Verdict returns the verdict of most judges who say true or false. It is Unknown if
// they are evenly divided, or if nobody says either.
func (p LabelledPair) Verdict() Verdict {
	var said []Verdict
	for _, j := range p.Judgements {
		said = append(said, j.Verdict)
	}
	return majority(said)
}

// Given returns the judgements of a pair.
func (p LabelledPair) Given() (out []Judgement) {
	for _, j := range p.Judgements {
		out = append(out, Judgement{p.Pair, j.Judge, j.Verdict, j.Note, j.Enforce, j.Time, j.Cause})
	}
	return out
}

// Item returns the pair as an item, with the fields that labels have.
func (p LabelledPair) Item() Item {
	return Item{Pair: p.Pair, Cluster: p.Cluster, Stratum: p.Stratum, Draws: p.Draws, SameSite: p.SameSite, Identical: p.Identical,
		Resemblance: p.Resemblance, Containment: p.Containment}
}

// NewLabels returns the labels of a sample. judgements[i] are those of items[i].
func NewLabels(a Audit, items []Item, judgements [][]Judgement) Labels {
	l := Labels{Audit: &a}
	for i, it := range items {
		p := LabelledPair{Pair: it.Pair, Cluster: it.Cluster, Stratum: it.Stratum, Draws: it.Draws, SameSite: it.SameSite,
			Identical: it.Identical, Resemblance: it.Resemblance, Containment: it.Containment}
		for _, j := range judgements[i] {
			p.Judgements = append(p.Judgements, labelled{j.Judge, j.Verdict, j.Note, j.Enforce, j.Time, j.Cause})
		}
		l.Pairs = append(l.Pairs, p)
	}
	return l
}

// WithoutNotes returns the labels without the judges' notes, which may quote what
// was crawled.
func (l Labels) WithoutNotes() Labels {
	pairs := slices.Clone(l.Pairs)
	for i, p := range pairs {
		pairs[i].Judgements = slices.Clone(p.Judgements)
		for k := range p.Judgements {
			pairs[i].Judgements[k].Note = ""
		}
	}
	return Labels{l.Audit, pairs}
}

var timestamp = regexp.MustCompile(`^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// head is the first line of labels.
type head struct {
	Audit *Audit `json:"audit,omitempty"`
}

// Write writes the labels, one line of JSON for each pair.
func (l Labels) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if l.Audit != nil {
		if err := e.Encode(head{l.Audit}); err != nil {
			return err
		}
	}
	for _, p := range l.Pairs {
		if err := e.Encode(p); err != nil {
			return err
		}
	}
	return nil
}

// maxLine limits a line of labels, in bytes: a pair with notes of some thousand judges.
const maxLine = 32 << 20

// maxStratumName limits the name of a stratum, in bytes.
const maxStratumName = 200

// ReadLabels reads labels. Errors name the line.
func ReadLabels(r io.Reader) (l Labels, err error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	seen := map[Pair]bool{}
	n := 0
	for ; sc.Scan(); n++ {
		if err := l.line(sc.Bytes(), n == 0, seen); err != nil {
			return l, fmt.Errorf("line %d: %w", n+1, err)
		}
	}
	switch err := sc.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return l, fmt.Errorf("line %d is longer than %d MiB", n+1, maxLine>>20)
	case err != nil:
		return l, fmt.Errorf("line %d: %w", n+1, err)
	}
	if l.Audit != nil {
		return l, l.checkSample()
	}
	return l, nil
}

func (l *Labels) line(line []byte, first bool, seen map[Pair]bool) error {
	if first && bytes.HasPrefix(bytes.TrimSpace(line), []byte(`{"audit"`)) {
		var h head
		if err := decodeAll(line, &h); err != nil {
			return err
		}
		if l.Audit = h.Audit; l.Audit == nil {
			return errors.New("audit is null; leave the line out if there is no sample")
		}
		return nil
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return errors.New("the line is empty; each has an object")
	}
	var p LabelledPair
	if err := decodeAll(line, &p); err != nil {
		return err
	}
	if len(l.Pairs) == maxPairs {
		return fmt.Errorf("more than %d pairs", maxPairs)
	}
	if l.Audit == nil {
		p.Pair = NewPair(p.A, p.B)
	}
	if err := p.Check(); err != nil {
		return err
	}
	if seen[p.Pair] {
		return fmt.Errorf("the pair %s and %s is given twice", clip(p.A), clip(p.B))
	}
	seen[p.Pair] = true
	judges := map[string]bool{}
	for i, j := range p.Given() {
		j, err := j.Checked()
		if err != nil {
			return err
		}
		if judges[j.Judge] {
			return fmt.Errorf("%s judges it twice", j.Judge)
		}
		judges[j.Judge] = true
		if j.Time != "" && !timestamp.MatchString(j.Time) {
			return fmt.Errorf("time %q, want one as of RFC 3339", clip(j.Time))
		}
		p.Judgements[i].Note = j.Note
	}
	l.Pairs = append(l.Pairs, p)
	return nil
}

// decodeAll decodes the object of a line. If the line goes on, it was two lines.
func decodeAll(line []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the object; each has a line of its own")
	}
	return nil
}

// checkSample checks that the pairs form the sample that the first line describes.
func (l *Labels) checkSample() error {
	a := l.Audit
	if err := errors.Join(CheckName(a.Name), a.Design.checkLabels()); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	if !timestamp.MatchString(a.Drawn) {
		return fmt.Errorf("line 1: drawn %q, want a time as of RFC 3339", clip(a.Drawn))
	}
	if a.Size != len(l.Pairs) {
		return fmt.Errorf("%d pairs, and line 1 says %d", len(l.Pairs), a.Size)
	}
	sampled := make([]int, len(a.Strata))
	for i, p := range l.Pairs {
		if p.Stratum < 0 || p.Stratum >= len(sampled) || p.Draws < 1 || p.Resemblance < 0 || p.Resemblance > 1 || p.Containment < 0 || p.Containment > 1 {
			return fmt.Errorf("line %d: stratum, draws or scores out of range", i+2)
		}
		sampled[p.Stratum]++
	}
	for h, s := range a.Strata {
		if len(s.Name) > maxStratumName || strings.ContainsFunc(s.Name, func(r rune) bool { return !unicode.IsGraphic(r) }) {
			return fmt.Errorf("line 1: the name of stratum %d is too long, or cannot be printed: %q", h, clip(s.Name))
		}
		if s.Sampled != sampled[h] || s.Population < int64(s.Sampled) {
			return fmt.Errorf("stratum %q: %d pairs; line 1 says %d of %d", clip(s.Name), sampled[h], s.Sampled, s.Population)
		}
	}
	return nil
}
