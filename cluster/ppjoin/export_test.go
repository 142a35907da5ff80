package ppjoin

// Given returns weights by token id. Each is from 0 to 2²⁰ (for Cosine its square).
// Tests choose weights that are hard to compare.
func Given(values []float64) *Weights { return &Weights{values: values} }
