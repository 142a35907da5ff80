package rarity

// Weighed is a sentence that one or both of two texts have, with its weights.
type Weighed struct {
	Key         uint64 // key of its unit
	Of          [2]bool
	Plain, Rare float64
}

// Trace returns the sentences that Compare sums up, by the keys of their units.
func Trace(a, b Text) []Weighed {
	var out []Weighed
	x, y := a.units, b.units
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(y) == 0 || len(x) > 0 && x[0].key < y[0].key:
			out = append(out, trace(x[0], x[0].rare, [2]bool{true, false}))
			x = x[1:]
		case len(x) == 0 || x[0].key > y[0].key:
			out = append(out, trace(y[0], y[0].rare, [2]bool{false, true}))
			y = y[1:]
		default:
			out = append(out, trace(x[0], min(x[0].rare, y[0].rare), [2]bool{true, true}))
			x, y = x[1:], y[1:]
		}
	}
	return out
}

func trace(u weighed, rare int32, of [2]bool) Weighed {
	return Weighed{u.key, of, float64(u.plain) / one, float64(rare) / one}
}
