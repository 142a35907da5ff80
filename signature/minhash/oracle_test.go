package minhash

// Estimate returns the share of components that agree, an unbiased estimate of the
// Jaccard coefficient, with variance J(1-J)/n. The signatures must be of one
// Signer's settings; a document without one resembles nothing.
func Estimate(a, b []uint32) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	equal := 0
	b = b[:len(a)]
	for i, v := range a {
		if v == b[i] {
			equal++
		}
	}
	return float64(equal) / float64(len(a))
}
