package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"neardup/screen"
)

// Limits of what people enter.
const (
	MaxSize  = 10_000 // pairs of a sample
	MaxName  = 64     // characters of the name of an audit, and of a judge
	MaxNote  = 2_000  // characters
	maxPairs = 1 << 20
)

// CheckName returns an error if name cannot be the name of an audit.
func CheckName(name string) error {
	if name == "" || len(name) > MaxName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("\"%s\" is no name of an audit; want 1 to %d of a-z, 0-9 and -", clip(name), MaxName)
	}
	return nil
}

// CheckJudge returns an error if name cannot be the name of a judge.
func CheckJudge(name string) error {
	printable := utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
	if n := utf8.RuneCountInString(name); n == 0 || n > MaxName || !printable || strings.TrimSpace(name) != name {
		return fmt.Errorf("\"%s\" is no name of a judge; want 1 to %d characters that can be printed, without spaces at the ends", clip(name), MaxName)
	}
	return nil
}

// clip shortens foreign text for a message.
func clip(s string) string { return screen.Characters(s, 2*MaxName) }

// Check returns an error if the pair is not valid.
func (p Pair) Check() error {
	switch {
	case p.A == "<>":
		return errors.New("a pair needs two record ids")
	case p.A == p.B:
		return fmt.Errorf("%s is paired with itself", clip(p.A))
	case p != NewPair(p.A, p.B):
		return fmt.Errorf("%s and %s: want record ids with angle brackets, the smaller first", clip(p.A), clip(p.B))
	}
	return nil
}

// Checked returns the judgement with its pair in order and uniform line ends in its
// note. It returns an error if the judgement is invalid.
func (j Judgement) Checked() (Judgement, error) {
	j.Pair = NewPair(j.A, j.B)
	j.Note = strings.TrimSpace(strings.ReplaceAll(j.Note, "\r\n", "\n"))
	if err := errors.Join(j.Check(), CheckJudge(j.Judge)); err != nil {
		return j, err
	}
	switch {
	case j.Verdict != True && j.Verdict != False && j.Verdict != Unknown:
		return j, fmt.Errorf("verdict \"%s\", want %s, %s or %s", clip(string(j.Verdict)), True, False, Unknown)
	case j.Cause != "" && !slices.Contains(Causes, j.Cause):
		return j, fmt.Errorf("cause \"%s\", want one of %v", clip(string(j.Cause)), Causes)
	case j.Cause != "" && j.Verdict != False:
		return j, fmt.Errorf("a cause is of a verdict %s", False)
	case j.Enforce && j.Verdict == Unknown:
		return j, fmt.Errorf("a verdict %s cannot be enforced", Unknown)
	case !utf8.ValidString(j.Note) || utf8.RuneCountInString(j.Note) > MaxNote || strings.ContainsFunc(j.Note, isControl):
		return j, fmt.Errorf("a note has at most %d characters, and no control characters", MaxNote)
	}
	return j, nil
}

func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// Check returns an error if no sample of this design can be drawn from clusters.
func (d Design) Check() error {
	switch {
	case d.Population != Pages && d.Population != Verified:
		return fmt.Errorf("population \"%s\", want %s or %s", clip(string(d.Population)), Pages, Verified)
	case d.Stratified && d.Population != Verified:
		return fmt.Errorf("stratified, which is of the population %s: only of its pairs scores are known", Verified)
	}
	return d.checkSize()
}

// checkLabels returns an error if labels cannot be of this design.
func (d Design) checkLabels() error {
	if d.Population == Methods && !d.Stratified && !d.Different {
		return d.checkSize()
	}
	return d.Check()
}

func (d Design) checkSize() error {
	if d.Size < 1 || d.Size > MaxSize {
		return fmt.Errorf("size %d, must be from 1 to %d", d.Size, MaxSize)
	}
	return nil
}
