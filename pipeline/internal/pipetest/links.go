package pipetest

import (
	"iter"
	"math/rand/v2"
	"slices"

	"neardup/cluster"
	"neardup/pipeline/rows"
	"neardup/report"
)

// RandomLinks returns sorted near pairs of up to 30 texts. Some link nothing, as one
// text only contains the other.
func RandomLinks(rng *rand.Rand) (links []rows.Link) {
	keys := make([]cluster.Key, 2+rng.IntN(30))
	for i := range keys {
		keys[i] = cluster.NewKey(float32(rng.IntN(4)), rows.TextID{byte(i), byte(rng.Int())})
	}
	slices.SortFunc(keys, cluster.Key.Compare)
	for a := range keys {
		for b := a + 1; b < len(keys); b++ {
			if rng.IntN(len(keys)) > 0 {
				continue
			}
			relation := []report.Relation{report.Near, report.Near, report.Alike, report.Contained, report.Contains}[rng.IntN(5)]
			links = append(links, rows.Link{Leader: keys[a], Member: keys[b],
				Score: rows.Score{Relation: relation, Resemblance: float64(rng.IntN(3)) / 4, Containment: float64(rng.IntN(3)) / 4}})
		}
	}
	return links
}

// LinkSeq yields links.
func LinkSeq(links []rows.Link) iter.Seq2[rows.Link, error] {
	return func(yield func(rows.Link, error) bool) {
		for _, l := range links {
			if !yield(l, nil) {
				return
			}
		}
	}
}
