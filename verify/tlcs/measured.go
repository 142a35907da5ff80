package tlcs

import "neardup/verify"

// Measure returns the comparison as one of the measures of package verify.
func (o Options) Measure() verify.Measure { return measure{o} }

// Aligner is this measure, for callers that show how it aligns two texts.
type Aligner interface {
	verify.Measure
	Options() Options
}

type measure struct{ o Options }

// Options implements Aligner.
func (m measure) Options() Options { return m.o }

func (m measure) Prepare(text string) verify.Document { return Prepare(text, m.o.Window) }

// BytesOf returns about the memory that a document of so many code points takes.
func (m measure) BytesOf(codePoints int) int { return codePoints * DocumentBytes }

// MayResemble implements verify.ByLengths.
func (m measure) MayResemble(first, second int) bool {
	shorter, longer := min(first, second), max(first, second)
	resemblance, _ := score(shorter, longer, shorter)
	return shorter > 0 && resemblance >= m.o.Resemblance
}

func (m measure) Comparer() verify.Comparer { return comparer{NewComparer(m.o)} }

type comparer struct{ *Comparer }

func (c comparer) Compare(a, b verify.Document) verify.Verdict {
	return c.verdict(c.Comparer.Compare(a.(*Document), b.(*Document)))
}

func (c comparer) Score(a, b verify.Document) verify.Verdict {
	return c.verdict(c.Comparer.Score(a.(*Document), b.(*Document)))
}

func (c comparer) verdict(v Verdict) verify.Verdict {
	return verify.Verdict{Near: v.Near, Contained: v.Near && v.Resemblance < c.o.Resemblance, Rejected: v.Rejected,
		Resemblance: v.Resemblance, Containment: v.Containment}
}

// Bytes returns about the memory that d takes.
func (d *Document) Bytes() int { return len(d.text) * DocumentBytes }
