package audit

import (
	"bufio"
	"fmt"
	"io"
	"sort"
	"strings"
	"unicode"
)

// Similarities of labels in the format of package truth.
const (
	nearLine     = "1.0000"
	notNearLine  = "0.0000"
	unjudgedLine = "0.6500"
)

// truthPage is a page of a truth.
type truthPage struct{ id, uri, date, site, label string }

// truthPages returns the pages of the decided pairs, by record ID, and the labels.
// A record ID with control characters does not fit on a line, so its pairs are left
// out.
func truthPages(items []Item, judgements [][]Judgement) (pages []truthPage, labels map[Pair]string) {
	labels = map[Pair]string{}
	seen := map[string]bool{}
	for i, it := range items {
		var verdicts []Verdict
		for _, j := range judgements[i] {
			verdicts = append(verdicts, j.Verdict)
		}
		switch v := majority(verdicts); {
		case v == Unknown || oneField(it.A) != it.A || oneField(it.B) != it.B:
			continue
		case v == True:
			labels[it.Pair] = nearLine
		default:
			labels[it.Pair] = notNearLine
		}
		for side, id := range [2]string{it.A, it.B} {
			if seen[id] {
				continue
			}
			seen[id] = true
			p := truthPage{id, oneField(it.URIs[side]), oneField(it.Dates[side]), oneField(it.Sites[side]), oneField(it.Cluster)}
			if p.site == "" {
				p.site = id // so that no two pages without a site count as one site
			}
			pages = append(pages, p)
		}
	}
	sort.Slice(pages, func(i, j int) bool {
		a, b := pages[i], pages[j]
		return strings.Compare(a.id, b.id) < 0
	})
	return pages, labels
}

// oneField returns s as a field of a line.
func oneField(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// WriteTruth writes the pairs that judges decided in the two files of
// docs/format.md, "Labelled pages". There an unlisted pair is no near-duplicate, so
// all other pairs of the n pages are listed, too, as not judged: n(n-1)/2 lines.
// WriteTruth returns the numbers of pages and of decided pairs.
func WriteTruth(items []Item, judgements [][]Judgement, pages, pairs io.Writer) (n, decided int, err error) {
	all, labels := truthPages(items, judgements)
	b := bufio.NewWriter(pages)
	for _, p := range all {
		if _, err := fmt.Fprintf(b, "%s\t%s\t%s\t%s\taudit\t%s\n", p.id, p.uri, p.date, p.site, p.label); err != nil {
			return 0, 0, err
		}
	}
	if err := b.Flush(); err != nil {
		return 0, 0, err
	}
	b = bufio.NewWriterSize(pairs, 64<<10)
	for i, p := range all {
		for _, q := range all[i+1:] {
			label, ok := labels[Pair{p.id, q.id}]
			if !ok {
				label = unjudgedLine
			}
			for _, s := range [...]string{p.id, "\t", q.id, "\t", label, "\n"} {
				_, _ = b.WriteString(s) // the next Flush reports a failed write
			}
		}
		if err := b.Flush(); err != nil {
			return 0, 0, err
		}
	}
	return len(all), len(labels), nil
}

// TruthPages returns the number of pages that WriteTruth writes.
func TruthPages(items []Item, judgements [][]Judgement) int {
	pages, _ := truthPages(items, judgements)
	return len(pages)
}
