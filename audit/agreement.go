package audit

// agreement returns the agreement of units, each the verdicts of different judges
// on a pair. It returns nil if no pair has two verdicts. Alpha is Krippendorff's
// for nominal data, any number of judges and missing judgements (Krippendorff,
// Computing Krippendorff's alpha-reliability, 2011, section C):
//
//	1 - (n-1) (n - sum of o(c,c)) / (n² - sum of n(c)²)
//
// where o counts each pair of judgements in a unit of m judgements as 1/(m-1), n(c)
// is the number of judgements with verdict c, and n the number of all. Unknown is a
// verdict like the others.
func agreement(units [][]Verdict) *Agreement {
	var a Agreement
	var n, same, agreeing, pairs float64
	of := map[Verdict]float64{}
	for _, unit := range units {
		m := float64(len(unit))
		if m < 2 {
			continue
		}
		a.Pairs++
		n += m
		in := map[Verdict]float64{}
		for _, v := range unit {
			in[v]++
			of[v]++
		}
		ordered := 0. // agreeing pairs, in both orders
		for _, c := range in {
			ordered += c * (c - 1)
		}
		same += ordered / (m - 1)
		agreeing += ordered
		pairs += m * (m - 1)
	}
	if a.Pairs == 0 {
		return nil
	}
	a.Observed = agreeing / pairs
	expected := n * n
	for _, c := range of {
		expected -= c * c
	}
	if expected == 0 {
		a.Unvaried = true
		return &a
	}
	a.Alpha = 1 - (n-1)*(n-same)/expected
	return &a
}
