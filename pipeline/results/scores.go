package results

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"runtime/debug"

	"neardup/cluster"
	"neardup/pipeline/extsort"
	"neardup/pipeline/groups"
	"neardup/pipeline/preferences"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// TextScores has the best page score of each text. It is nil if there are no page
// scores. Goroutines can share it.
type TextScores struct {
	ids, rest []uint64 // of the first texts that have a score, in order
	scores    []float32
	more      *extsort.Table // textID[16] → score of the other texts
}

// heldScores returns the number of texts whose scores are held in memory, at 20 bytes
// each: at most a sixteenth of what the process stays within.
func heldScores(w *workspace.Workspace) int {
	return int(min(4*int64(w.Options.RunRows), debug.SetMemoryLimit(-1)/16/20))
}

// LoadTextScores returns the scores of texts. The caller closes them.
func LoadTextScores(ctx context.Context, w *workspace.Workspace) (s *TextScores, err error) {
	pages, err := preferences.ScoresOf(w)
	if err != nil || pages == nil {
		return nil, err
	}
	sorter := extsort.New(w.DB.Tmp) // textID[16] 2^32-1-score[4]: of the scores of a text the best comes first
	defer func() { _ = sorter.Close() }()
	for x, err := range scoredPages(ctx, w, pages) {
		if err == nil {
			err = sorter.Add(binary.BigEndian.AppendUint32(x.text[:], ^math.Float32bits(x.score)), nil)
		}
		if err != nil {
			return nil, err
		}
	}
	held := heldScores(w)
	s = &TextScores{}
	s.more, err = extsort.NewTable(w.DB.Tmp, func(yield func(extsort.Entry, error) bool) {
		var last []byte
		for e, err := range sorter.Sorted() {
			if err != nil {
				yield(e, err)
				return
			}
			text, score := e.Key[:16], ^binary.BigEndian.Uint32(e.Key[16:])
			if bytes.Equal(text, last) {
				continue
			}
			if last = append(last[:0], text...); len(s.ids) < held {
				s.ids, s.rest = append(s.ids, binary.BigEndian.Uint64(text)), append(s.rest, binary.BigEndian.Uint64(text[8:]))
				s.scores = append(s.scores, math.Float32frombits(score))
			} else if !yield(extsort.Entry{Key: text, Value: binary.BigEndian.AppendUint32(nil, score)}, nil) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// scoredPage is the score of a page with its text.
type scoredPage struct {
	text  rows.TextID
	score float32
}

// scoredPages yields the pages that have a score.
func scoredPages(ctx context.Context, w *workspace.Workspace, scores *preferences.Scores) iter.Seq2[scoredPage, error] {
	return func(yield func(scoredPage, error) bool) {
		pages := extsort.New(w.DB.Tmp) // uriDigest[16] textID[16]
		defer func() { _ = pages.Close() }()
		n := 0
		for stored, err := range DocumentRows[groups.DocumentView](w) {
			var text rows.TextID
			if n++; err == nil && n&0xfff == 0 {
				err = ctx.Err()
			}
			if err == nil {
				text, err = stored.Row.ParsedTextID()
			}
			if err == nil {
				uri := preferences.URIDigest(stored.Row.TargetURI)
				err = pages.Add(append(uri[:], text[:]...), nil)
			}
			if err != nil {
				yield(scoredPage{}, err)
				return
			}
		}
		next, stop := iter.Pull2(scores.All())
		defer stop()
		score, err, more := next()
		for page, perr := range pages.Sorted() {
			for err == nil && perr == nil && more && bytes.Compare(score.URI[:], page.Key[:16]) < 0 {
				score, err, more = next()
			}
			if err := errors.Join(err, perr); err != nil {
				yield(scoredPage{}, err)
				return
			}
			if more && bytes.Equal(score.URI[:], page.Key[:16]) && !yield(scoredPage{rows.TextID(page.Key[16:]), score.Score}, nil) {
				return
			}
		}
	}
}

// Of returns the score of a text, or 0 if it has none.
func (s *TextScores) Of(t rows.TextID) (float32, error) {
	first, rest := binary.BigEndian.Uint64(t[:]), binary.BigEndian.Uint64(t[8:])
	i, ok := Find(s.ids, first)
	for i > 0 && ok && s.ids[i-1] == first {
		i--
	}
	for ; i < len(s.ids) && s.ids[i] == first; i++ {
		if s.rest[i] == rest {
			return s.scores[i], nil
		}
	}
	if n := len(s.ids); n > 0 && first < s.ids[n-1] {
		return 0, nil
	}
	value, ok, err := s.more.Get(t[:])
	if err != nil || !ok {
		return 0, err
	}
	return math.Float32frombits(binary.BigEndian.Uint32(value)), nil
}

// Key returns the key of a text for clustering, from the one that it was signed with:
// that key if there are no page scores, otherwise one whose weight is the text's score.
func (s *TextScores) Key(signed cluster.Key) (cluster.Key, error) {
	if s == nil {
		return signed, nil
	}
	score, err := s.Of(signed.ID())
	return cluster.NewKey(score, signed.ID()), err
}

// Close releases the scores.
func (s *TextScores) Close() error {
	if s == nil {
		return nil
	}
	return s.more.Close()
}
