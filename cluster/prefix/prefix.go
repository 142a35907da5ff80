// Package prefix finds the candidates of a similarity join on many machines, after R.
// Vernica, M. Carey, C. Li, Efficient Parallel Set-Similarity Joins Using MapReduce,
// SIGMOD 2010. Their three stages are: the frequencies of tokens; records by the tokens
// of their prefixes, of which each kernel joins those that share one; the records of
// each pair. It departs from them in four places:
//
//   - They send the ordered list of all tokens to each machine. Here tokens and their
//     frequencies are joined by key, since tokens of a web collection exceed memory.
//   - A token that one record has is only counted, as in package ppjoin.
//   - Their kernels have whole records, one for each token of the prefix. Here they have
//     sizes and positions only; records follow the candidates, each once to a partition.
//   - The suffix filter is left out.
//
// The filters are those of package ppjoin, whose Rule says what is similar.
package prefix

import (
	"cmp"
	"slices"

	"neardup/cluster"
	"neardup/cluster/ppjoin"
)

// Entry is a record under a token of its prefix.
type Entry struct {
	Size     uint32 // tokens of the record
	Position uint32 // of the token in the record, from 0
	Key      cluster.Key
}

// Of returns the tokens of a record's probing prefix and the position of the first. The
// record has so many tokens, of which shared are those that other records have too, the
// rarest first. The others come before all of them.
func Of(rule *ppjoin.Rule, size int, shared []uint64) (tokens []uint64, first int) {
	first = size - len(shared)
	probing, _ := rule.Prefixes(int64(size))
	return shared[:min(max(0, int(probing)-first), len(shared))], first
}

// Meet calls emit with the pairs of entries of one token that may be similar, as far as
// sizes and positions tell: by the size filter, the indexing prefix and the positional
// filter. It sorts the entries.
func Meet(rule *ppjoin.Rule, entries []Entry, emit func(a, b cluster.Key) error) error {
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Or(cmp.Compare(a.Size, b.Size), a.Key.Compare(b.Key)) })
	low := 0 // entries before it are too small
	for i, x := range entries {
		for least := rule.Least(int64(x.Size)); int64(entries[low].Size) < least && low < i; {
			low++
		}
		for _, y := range entries[low:i] {
			if _, indexing := rule.Prefixes(int64(y.Size)); int64(y.Position) >= indexing {
				continue
			}
			// In common they have at most as many tokens before this one as there are in
			// both, and from this one on likewise.
			most := min(x.Position, y.Position) + min(x.Size-x.Position, y.Size-y.Position)
			if int64(most) < rule.Overlap(int64(x.Size), int64(y.Size)) {
				continue
			}
			if err := emit(x.Key, y.Key); err != nil {
				return err
			}
		}
	}
	return nil
}
