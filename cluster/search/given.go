package search

import (
	"fmt"
	"slices"

	"neardup/cluster/ppjoin"
	"neardup/signature/tokens"
)

// givenTokens returns the tokens of Given, each as a text.
func (j Join) givenTokens() (texts []string) {
	for _, g := range j.Given {
		texts = append(texts, g.Token)
	}
	return texts
}

// CheckGiven returns an error for the first of the tokens of Given that is not one
// token, or that came before, with its index.
func (j Join) CheckGiven() (at int, err error) {
	o := j.tokenOptions(1, false)
	o.Repeats = true
	records, err := tokens.Make(o, j.givenTokens())
	if err != nil {
		return 0, err
	}
	seen := map[uint32]int{}
	for i, g := range j.Given {
		r := records[0].Record(i)
		if len(r) != 1 {
			return i, fmt.Errorf("%q is not one token but %d", g.Token, len(r))
		}
		if before, ok := seen[r[0]]; ok {
			return i, fmt.Errorf("%q is the token %q, which has a weight already", g.Token, j.Given[before].Token)
		}
		seen[r[0]] = i
	}
	return 0, nil
}

// givenWeights returns the weights of all tokens: given ones, and 1 for the others.
// The last collection has the given tokens. The repetitions of a token, which are
// tokens of their own in many, weigh what it weighs.
func (j Join) givenWeights(single, many []ppjoin.Collection) *ppjoin.Weights {
	n := 0
	for _, cs := range [][]ppjoin.Collection{single, many} {
		for _, c := range cs {
			for _, t := range c.Tokens {
				n = max(n, int(t)+1)
			}
		}
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = 1
	}
	last := single[len(single)-1]
	for i, g := range j.Given {
		values[last.Record(i)[0]] = g.Weight
	}
	if j.Repeats {
		for i, c := range single {
			for k := range c.Len() {
				for at, t := range slices.Sorted(slices.Values(c.Record(k))) {
					values[many[i].Record(k)[at]] = values[t]
				}
			}
		}
	}
	return ppjoin.Given(values)
}
