package dataflow

import (
	"fmt"
	"iter"

	"neardup/pipeline/extsort"
	"neardup/signature/terms"
)

// maxTerms limits the terms that SumTerms yields. They are held in memory, in about
// 40 bytes each.
const maxTerms = 20_000_000

// CountTerms returns the terms of texts with their counts.
func CountTerms(o terms.Weighing, texts []string) (counts []extsort.Pair) {
	counter := terms.NewCounter(o)
	for _, t := range texts {
		counter.Add(t)
	}
	for term, n := range counter.All() {
		counts = append(counts, extsort.Pair{term, uint64(n)})
	}
	return counts
}

// SumTerms calls put with each term and the sum of its counts, which come sorted. Of
// the terms that occur once it takes one of each part of speech: the others count the
// same if they are not there.
func SumTerms(counts iter.Seq2[extsort.Pair, error], put func(term uint64, n terms.Count) error) error {
	var once [terms.Groups]bool
	kept := 0
	sum := func(term uint64, n terms.Count) error {
		if n == 0 || n.Times() == 1 && once[n.Group()] {
			return nil
		}
		once[n.Group()] = once[n.Group()] || n.Times() == 1
		if kept++; kept > maxTerms {
			return fmt.Errorf("over %d terms occur repeatedly; frequencies of the collection are for short texts: take text.terms.frequencies: %s", maxTerms, terms.OfDictionary)
		}
		return put(term, n)
	}
	var last uint64
	var total terms.Count
	for p, err := range counts {
		if err != nil {
			return err
		}
		if p[0] != last {
			if err := sum(last, total); err != nil {
				return err
			}
			last, total = p[0], 0
		}
		total = total.Plus(terms.Count(p[1]))
	}
	return sum(last, total)
}
