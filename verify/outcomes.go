package verify

// Outcomes counts compared pairs by result: each was rejected by exactly one check,
// or is near.
type Outcomes struct {
	ByLength   int64 `json:"rejected_by_length"`
	BySketch   int64 `json:"rejected_by_sketch"`
	ByDistance int64 `json:"rejected_by_distance"`
	ByScore    int64 `json:"rejected_by_score"`
	ByRarity   int64 `json:"rejected_by_rarity"`
	ByTitle    int64 `json:"rejected_by_title"`
	Near       int64 `json:"near"`
}

// Count counts a verdict.
func (o *Outcomes) Count(v Verdict) {
	switch {
	case v.Near:
		o.Near++
	case v.Rejected == ByLength:
		o.ByLength++
	case v.Rejected == BySketch:
		o.BySketch++
	case v.Rejected == ByDistance:
		o.ByDistance++
	case v.Rejected == ByRarity:
		o.ByRarity++
	case v.Rejected == ByTitle:
		o.ByTitle++
	default:
		o.ByScore++
	}
}

// Add adds the counts of other pairs.
func (o *Outcomes) Add(p Outcomes) {
	o.ByLength += p.ByLength
	o.BySketch += p.BySketch
	o.ByDistance += p.ByDistance
	o.ByScore += p.ByScore
	o.ByRarity += p.ByRarity
	o.ByTitle += p.ByTitle
	o.Near += p.Near
}
