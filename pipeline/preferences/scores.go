package preferences

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"strconv"
	"strings"

	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

// Scores are the page scores that a workspace follows, on disk. Goroutines can share
// them.
type Scores struct {
	db    *store.DB
	lists [][]byte // prefixes of their rows; the first that has a URI counts
}

// ScoresOf returns the scores of the workspace's lists, or those of the file of
// cluster.quality, or nil if there are neither. Of several lists with a URI, the last
// one counts. The file is as the last call of KeepFile found it.
func ScoresOf(w *workspace.Workspace) (*Scores, error) {
	lists, err := w.ScoreLists()
	if err != nil {
		return nil, err
	}
	s := &Scores{db: w.DB}
	for _, p := range lists {
		s.lists = append([][]byte{layout.PreferredOf(p.Number)}, s.lists...)
	}
	if len(lists) == 0 {
		if w.Config.Cluster.Quality == "" {
			return nil, nil
		}
		s.lists = [][]byte{{layout.TableFileScore}}
	}
	return s, nil
}

// Of returns the score of the page with a target URI. ok is false if it has none.
func (s *Scores) Of(uri string) (score float32, ok bool, err error) {
	digest := URIDigest(uri)
	for _, prefix := range s.lists {
		key := append(bytes.Clone(prefix), digest[:]...)
		value, ok, err := s.db.Get(key)
		if err == nil && ok {
			_, score, err = layout.ParsePageScore(key, value)
		}
		if err != nil || ok {
			return score, ok, err
		}
	}
	return 0, false, nil
}

// Score is the score of a page, by the digest of its URI.
type Score struct {
	URI   [16]byte
	Score float32
}

// All yields all scores in the order of the digests of the URIs.
func (s *Scores) All() iter.Seq2[Score, error] {
	return func(yield func(Score, error) bool) {
		sorter := extsort.New(s.db.Tmp) // uriDigest[16] place of the list[4] → score[4]
		defer func() { _ = sorter.Close() }()
		for i, prefix := range s.lists {
			for r, err := range s.db.Rows(layout.PrefixBounds(prefix)) {
				var x Score
				if err == nil {
					x.URI, x.Score, err = r.PageScore()
				}
				if err == nil {
					err = sorter.Add(binary.BigEndian.AppendUint32(x.URI[:], uint32(i)), layout.ScoreValue(x.Score))
				}
				if err != nil {
					yield(Score{}, err)
					return
				}
			}
		}
		for e, err := range firsts(sorter.Sorted()) {
			var x Score
			if err == nil {
				x.URI, x.Score, err = layout.ParsePageScore(layout.FileScoreKey([16]byte(e.Key)), e.Value)
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// ScoreCount returns the number of page scores that a workspace follows, or for the file of
// cluster.quality an estimate.
func ScoreCount(w *workspace.Workspace) (n int64, err error) {
	const line = 40 // bytes
	lists, err := w.ScoreLists()
	for _, p := range lists {
		n += p.Entries
	}
	if path := w.Config.Cluster.Quality; err == nil && path != "" {
		f, err := os.Stat(path)
		if err != nil {
			return n, fmt.Errorf("cluster.quality: %w", err)
		}
		n += 1 + f.Size()/line
	}
	return n, err
}

// URIDigest returns the digest of a URI under which it has a score.
func URIDigest(uri string) [16]byte {
	sum := sha256.Sum256([]byte(uri))
	return [16]byte(sum[:16])
}

// firsts yields the first of the sorted entries whose keys begin with the same digest.
func firsts(entries iter.Seq2[extsort.Entry, error]) iter.Seq2[extsort.Entry, error] {
	return func(yield func(extsort.Entry, error) bool) {
		var last []byte
		for e, err := range entries {
			if err == nil && last != nil && bytes.Equal(last, e.Key[:len(last)]) {
				continue
			}
			if !yield(e, err) || err != nil {
				return
			}
			last = append(last[:0], e.Key[:len([16]byte{})]...)
		}
	}
}

// KeepFile takes the scores of the file of the setting cluster.quality into the
// workspace, in place of those of an earlier call.
func KeepFile(ctx context.Context, w *workspace.Workspace) (err error) {
	path := w.Config.Cluster.Quality
	if path == "" {
		return nil // the stage dropped them when its settings changed
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cluster.quality: %w", err)
	}
	defer func() { _ = f.Close() }()
	sorter := extsort.New(w.DB.Tmp)
	defer func() { err = errors.Join(err, sorter.Close()) }()
	if _, err := parseScores(f, sorter); err != nil {
		return fmt.Errorf("cluster.quality: %s: %w", path, err)
	}
	_, err = w.DB.Replace(ctx, layout.TableFileScore, scoreRows(sorter, layout.FileScoreKey))
	return err
}

// scoreRows returns the rows of parsed scores.
func scoreRows(parsed *extsort.Sorter, key func(uri [16]byte) []byte) iter.Seq2[extsort.Entry, error] {
	return func(yield func(extsort.Entry, error) bool) {
		for e, err := range firsts(parsed.Sorted()) {
			if err == nil {
				e.Key = key([16]byte(e.Key))
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// parseScores adds the scores of lines to a sorter, in which of several lines with a URI
// the last one comes first.
func parseScores(r io.Reader, to *extsort.Sorter) (lines int64, err error) {
	left := uint64(maxEntries)
	return eachScore(r, func(uri string, score float32) error {
		digest := URIDigest(uri)
		left--
		if err := to.Add(binary.BigEndian.AppendUint64(digest[:], left), layout.ScoreValue(score)); err != nil {
			return sortingError{err}
		}
		return nil
	})
}

// eachScore parses lines of a URI, a tab and a number that is not negative.
func eachScore(r io.Reader, do func(uri string, score float32) error) (lines int64, err error) {
	return eachLine(r, func(line string) error {
		uri, value, ok := strings.Cut(line, "\t")
		score, err := strconv.ParseFloat(strings.TrimSpace(value), 32)
		if uri = strings.TrimSpace(uri); !ok || uri == "" || err != nil || !(score >= 0) || math.IsInf(score, 0) {
			return errors.New("want URI<TAB>score, the score a number of at least 0")
		}
		return do(uri, float32(max(score, 0))) // of two zeros the positive one, so that they are equal as keys
	})
}

// sortingError is an error of the disk, and not of what is parsed.
type sortingError struct{ error }

func (e sortingError) Unwrap() error { return e.error }

// CheckFile returns an error if the file of cluster.quality, if there is one, cannot be
// read, or has a wrong line.
func CheckFile(path string) error {
	if path == "" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cluster.quality: %w", err)
	}
	defer func() { _ = f.Close() }()
	if _, err := eachScore(f, func(string, float32) error { return nil }); err != nil {
		return fmt.Errorf("cluster.quality: %s: %w", path, err)
	}
	return nil
}

// FileDigest returns the digest of the file of cluster.quality. It is part of the
// options, so that a changed file counts as a changed option.
func FileDigest(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("cluster.quality: %w", err)
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("cluster.quality: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}
