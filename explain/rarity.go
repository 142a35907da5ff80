package explain

import (
	"cmp"
	"sort"

	"neardup/extract/text"
	"neardup/report"
	"neardup/verify/rarity"
)

// Rarity is what the two texts share, weighed by how rare it is on their sites.
type Rarity struct {
	Resemblance      report.Score      `json:"resemblance"`       // of their sentences; common ones weigh less
	Containment      report.Score      `json:"containment"`       // of the lighter text's sentences in the heavier's; common ones weigh less
	PlainResemblance report.Score      `json:"plain_resemblance"` // every sentence weighs as if it were rare
	PlainContainment report.Score      `json:"plain_containment"`
	LeastResemblance float64           `json:"least_resemblance"`
	LeastContainment *float64          `json:"least_containment,omitempty"` // nil if containment does not count
	LeastPlainAlike  float64           `json:"-"`                           // smallest PlainResemblance of alike texts
	LeastAlike       float64           `json:"-"`                           // and their smallest Resemblance
	Pages            int               `json:"rare_pages"`                  // a sentence on more pages of a site is common
	Shared           int               `json:"shared_sentences"`
	SharedCommon     int               `json:"shared_common_sentences"`
	Sentences        []WeighedSentence `json:"sentences"` // distinct sentences: those of both, of a, of b; each from the heaviest down
}

// WeighedSentence is a sentence of one or both texts.
type WeighedSentence struct {
	Text   string  `json:"text"`  // may be cut
	Of     string  `json:"of"`    // both, a or b
	Pages  int     `json:"pages"` // pages that have it, on the site with the most of them; 1: no more are known
	Plain  float64 `json:"plain_weight"`
	Weight float64 `json:"weight"`
}

const weighedSentences = 200 // limit of an explanation, for each kind

// rarityOf weighs two texts as the stage verify does.
func rarityOf(o rarity.Options, a, b Side) (*Rarity, rarity.Evidence) {
	sides := [2]Side{a, b}
	var read [2]rarity.Text
	var sentences [2]map[uint64]string
	for i, s := range sides {
		read[i] = o.Read(s.Compared, s.pages)
		sentences[i] = map[uint64]string{}
		for _, t := range text.Sentences(s.Compared) {
			if k := rarity.UnitOf(t.Text).Key; sentences[i][k] == "" {
				sentences[i][k] = t.Text
			}
		}
	}
	e := rarity.Compare(read[0], read[1])
	out := &Rarity{Resemblance: report.Score(e.Rare.Resemblance), Containment: report.Score(e.Rare.Containment),
		PlainResemblance: report.Score(e.Plain.Resemblance), PlainContainment: report.Score(e.Plain.Containment),
		LeastResemblance: o.RareResemblance, LeastContainment: new(o.RareContainment()), LeastPlainAlike: o.Sentences, LeastAlike: o.RareSentences, Pages: o.RarePages, Sentences: []WeighedSentence{}}
	kinds := [3][]WeighedSentence{}
	for _, u := range rarity.Trace(read[0], read[1]) {
		kind, from := 0, 0
		switch {
		case !u.Of[1]:
			kind = 1
		case !u.Of[0]:
			kind, from = 2, 1
		}
		pages := 1
		for i, s := range sides {
			if u.Of[i] {
				pages = max(pages, s.pages(u.Key))
			}
		}
		if kind == 0 {
			out.Shared++
			if pages > o.RarePages {
				out.SharedCommon++
			}
		}
		kinds[kind] = append(kinds[kind], WeighedSentence{Text: cut(sentences[from][u.Key]), Of: [...]string{"both", "a", "b"}[kind],
			Pages: pages, Plain: u.Plain, Weight: u.Rare})
	}
	for _, k := range kinds {
		sort.SliceStable(k, func(i, j int) bool {
			x, y := k[i], k[j]
			return cmp.Or(cmp.Compare(y.Weight, x.Weight), cmp.Compare(y.Plain, x.Plain), cmp.Compare(x.Text, y.Text)) < 0
		})
		out.Sentences = append(out.Sentences, k[:min(len(k), weighedSentences)]...)
	}
	return out, e
}

// pages returns how many pages of a site of the text have the sentence of a unit,
// as far as known.
func (s Side) pages(unit uint64) int { return max(1, s.Pages[unit]) }

func (w *writer) rarity() {
	r := w.e.Rarity
	w.head("what the two share of rare text")
	w.say(2, "", "%d sentences in common, %d of them on more than %d pages of a site", r.Shared, r.SharedCommon, r.Pages)
	for _, row := range []struct {
		name         string
		value, plain report.Score
		least        *float64
	}{{"resemblance", r.Resemblance, r.PlainResemblance, &r.LeastResemblance}, {"containment", r.Containment, r.PlainContainment, r.LeastContainment}} {
		w.printf("  %-22s %6.4f   %s; %.4f if all text counted alike\n", row.name, float64(row.value), against(row.value, row.least), float64(row.plain))
	}
	if len(r.Sentences) > 0 {
		w.printf("    %-5s %6s %7s  %s\n", "of", "pages", "weight", "sentence")
	}
	shown := map[string]int{}
	for _, s := range r.Sentences {
		if shown[s.Of]++; shown[s.Of] <= weighedShown {
			w.printf("    %-5s %6d %7.3f  %s\n", s.Of, s.Pages, s.Weight, w.clip(s.Text, 25))
		}
	}
	if n := len(r.Sentences) - min(shown["both"], weighedShown) - min(shown["a"], weighedShown) - min(shown["b"], weighedShown); n > 0 {
		w.printf("    and %d more\n", n)
	}
}

const weighedShown = 5 // sentences of both, of a and of b, each
