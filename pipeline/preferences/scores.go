package preferences

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"neardup/pipeline/layout"
	"neardup/pipeline/workspace"
)

// Scores holds page scores, by a digest of the URI. A score takes 20 bytes, and about
// as much again in the map.
type Scores map[[16]byte]float32

func uriDigest(uri string) [16]byte {
	sum := sha256.Sum256([]byte(uri))
	return [16]byte(sum[:16])
}

// Of returns the score of the page with a target URI. ok is false if it has none.
func (s Scores) Of(uri string) (score float32, ok bool) {
	score, ok = s[uriDigest(uri)]
	return score, ok
}

// PageScores returns the scores of the workspace's lists, or of the file of
// cluster.quality, or nil if there are neither. Of several lists with a URI, the last
// one counts.
func PageScores(w *workspace.Workspace) (Scores, error) {
	lists, err := w.ScoreLists()
	if err != nil {
		return nil, err
	}
	if len(lists) == 0 {
		return readFile(w.Config.Cluster.Quality)
	}
	scores := Scores{}
	for _, p := range lists {
		for r, err := range w.DB.Rows(layout.PrefixBounds(layout.PreferredOf(p.Number))) {
			if err != nil {
				return nil, err
			}
			uri, score, err := r.PageScore()
			if err != nil {
				return nil, err
			}
			scores[uri] = score
		}
	}
	return scores, nil
}

// readFile reads the file of the setting cluster.quality. It returns nil if none is
// set.
func readFile(path string) (Scores, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cluster.quality: %w", err)
	}
	defer func() { _ = f.Close() }()
	s, _, err := parseScores(f)
	if err != nil {
		return nil, fmt.Errorf("cluster.quality: %s: %w", path, err)
	}
	return s, nil
}

// parseScores parses lines of a URI, a tab and a number that is not negative. Of
// several lines with a URI, the last one counts.
func parseScores(r io.Reader) (s Scores, lines int64, err error) {
	s = Scores{}
	lines, err = eachLine(r, func(line string) error {
		uri, value, ok := strings.Cut(line, "\t")
		score, err := strconv.ParseFloat(strings.TrimSpace(value), 32)
		if uri = strings.TrimSpace(uri); !ok || uri == "" || err != nil || !(score >= 0) || math.IsInf(score, 0) {
			return errors.New("want URI<TAB>score, the score a number of at least 0")
		}
		s[uriDigest(uri)] = float32(max(score, 0)) // of two zeros the positive one, so that they are equal as keys
		return nil
	})
	return s, lines, err
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
