package results

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"neardup/pipeline/groups"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// Qualities holds the page qualities of a file, by a digest of the URI.
type Qualities map[[16]byte]float32

func uriDigest(uri string) [16]byte {
	sum := sha256.Sum256([]byte(uri))
	return [16]byte(sum[:16])
}

// Of returns the quality of the page with a target URI. ok is false if it has none.
func (q Qualities) Of(uri string) (quality float32, ok bool) {
	quality, ok = q[uriDigest(uri)]
	return quality, ok
}

// ReadQualities reads the file of the setting cluster.quality.
func ReadQualities(path string) (Qualities, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cluster.quality: %w", err)
	}
	defer func() { _ = f.Close() }()
	q, err := parseQualities(f)
	if err != nil {
		return nil, fmt.Errorf("cluster.quality: %s: %w", path, err)
	}
	return q, nil
}

// parseQualities parses lines of a URI, a tab and a number that is not negative.
func parseQualities(r io.Reader) (Qualities, error) {
	q := Qualities{}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for line := 1; sc.Scan(); line++ {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		uri, value, ok := strings.Cut(sc.Text(), "\t")
		score, err := strconv.ParseFloat(strings.TrimSpace(value), 32)
		if !ok || err != nil || !(score >= 0) {
			return nil, fmt.Errorf("line %d: want URI<TAB>score, the score a number of at least 0", line)
		}
		q[uriDigest(strings.TrimSpace(uri))] = float32(score)
	}
	return q, sc.Err()
}

// QualityDigest returns the digest of the quality file. It is part of the options,
// so that a changed file counts as a changed option.
func QualityDigest(path string) (string, error) {
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

// TextQualities returns the best page quality of each text, or nil if the config names no
// file. It takes about 24 bytes per line and 20 per scored text in memory, doubled
// by the maps.
func TextQualities(w *workspace.Workspace) (map[rows.TextID]float32, error) {
	path := w.Config.Cluster.Quality
	if path == "" {
		return nil, nil
	}
	pages, err := ReadQualities(path)
	if err != nil {
		return nil, err
	}
	scores := map[rows.TextID]float32{}
	for stored, err := range DocumentRows[groups.DocumentView](w) {
		if err != nil {
			return nil, err
		}
		d := stored.Row
		if score, ok := pages.Of(d.TargetURI); ok {
			id, err := d.ParsedTextID()
			if err != nil {
				return nil, err
			}
			scores[id] = max(scores[id], score)
		}
	}
	return scores, nil
}
