package textjoin

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"neardup/cluster/search"
)

// Limits of a file of weights.
const (
	maxWeight     = 1024 // its square is the greatest of package ppjoin
	maxWeightLine = 1 << 20
)

// ReadWeights reads the weights of tokens, TOKEN<TAB>WEIGHT lines, and sets them. A
// token is cut as those of the texts are. Tokens that are not listed weigh 1.
func (o *Options) ReadWeights(r io.Reader) error {
	o.Weights, o.Given = search.JoinGiven, []search.TokenWeight{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxWeightLine)
	var at []int // line of each token
	n, held := 0, int64(0)
	for lines.Scan() {
		n++
		line := strings.TrimSuffix(lines.Text(), "\r")
		if line == "" {
			continue
		}
		if held += int64(len(line)); held > o.MaxBytes {
			return fmt.Errorf("line %d: over %d bytes of tokens", n, o.MaxBytes)
		}
		tab := strings.LastIndexByte(line, '\t')
		if tab < 0 {
			return fmt.Errorf("line %d: there is no tab between a token and its weight", n)
		}
		weight, err := strconv.ParseFloat(line[tab+1:], 64)
		if err != nil || !(weight >= 0 && weight <= maxWeight) {
			return fmt.Errorf("line %d: the weight %q is not a number from 0 to %d", n, line[tab+1:], maxWeight)
		}
		o.Given = append(o.Given, search.TokenWeight{Token: line[:tab], Weight: weight})
		at = append(at, n)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w", n+1, err)
	}
	if i, err := o.CheckGiven(); err != nil {
		return fmt.Errorf("line %d: %w", at[i], err)
	}
	return nil
}
