package store

import (
	"neardup/cluster"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
)

// ScoreOf returns the score of two texts from a table of pairs. ok is false if the
// table has none.
func (s *DB) ScoreOf(table byte, larger, smaller cluster.Key) (score rows.Score, ok bool, err error) {
	v, ok, err := s.Get(layout.PairKey(table, larger, smaller))
	if err == nil && ok {
		score, err = layout.ParseScore(v)
	}
	return score, ok, err
}

// CommonPages returns the number of pages that have a sentence, from TableCommon or
// TableFrame.
func (s *DB) CommonPages(table byte, sentence uint64) (pages int, ok bool, err error) {
	k := layout.CommonKey(table, sentence)
	v, ok, err := s.Get(k)
	if err != nil || !ok {
		return 0, false, err
	}
	n, err := layout.ParseCommon(k, v)
	return int(n), err == nil, err
}
