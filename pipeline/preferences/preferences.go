// Package preferences keeps lists of page scores and of preferred hosts in a
// workspace. People make them elsewhere; the files need not stay.
package preferences

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/screen"
)

const (
	maxName    = 64      // characters of the name of a list
	maxLine    = 1 << 20 // bytes of a line
	maxEntries = 1 << 26 // lines of a list
)

// Add reads a list and stores it, all or nothing. p has the list's name and kind, and
// what the caller knows of its origin. A list replaces the one of its name, in the
// same place; a list of a new name comes last.
func Add(ctx context.Context, w *workspace.Workspace, p workspace.Preference, from io.Reader) (_ workspace.Preference, err error) {
	if err := checkName(p.Name); err != nil {
		return p, err
	}
	all, err := w.Preferences()
	if err != nil {
		return p, err
	}
	if n := len(all); n > 0 {
		p.Number = all[n-1].Number + 1
	}
	if i := named(all, p.Name); i >= 0 {
		if all[i].Kind != p.Kind {
			return p, fmt.Errorf("%w: %s is a list of %s; choose another --name, or drop it first", workspace.ErrUsage, p.Name, all[i].Kind)
		}
		p.Number = all[i].Number
	}
	sorter := extsort.New(w.DB.Tmp)
	defer func() { err = errors.Join(err, sorter.Close()) }()
	sum, size := sha256.New(), new(counter)
	rows, err := parse(&p, io.TeeReader(from, io.MultiWriter(sum, size)), sorter)
	if errors.As(err, new(sortingError)) {
		return p, w.ExplainError(err)
	}
	if err != nil {
		return p, fmt.Errorf("%w: %s: %w", workspace.ErrUsage, p.Path, err)
	}
	p.Size, p.SHA256 = int64(*size), hex.EncodeToString(sum.Sum(nil))
	d := newDigest()
	for e, err := range rows {
		if err != nil {
			return p, w.ExplainError(err)
		}
		d.add(e.Key, e.Value)
	}
	if p.Entries, p.Digest = d.entries, d.String(); p.Entries == 0 {
		return p, fmt.Errorf("%w: %s has no %s", workspace.ErrUsage, p.Path, p.Kind)
	}
	origin, err := json.Marshal(p)
	if err != nil {
		return p, err
	}
	return p, w.WritePreferences(func(db *store.DB) error {
		lower, upper := layout.PrefixBounds(layout.PreferredOf(p.Number))
		return db.ReplaceRange(ctx, lower, upper, rows, extsort.Entry{Key: layout.PreferenceKey(p.Number), Value: origin})
	})
}

// Drop removes a list.
func Drop(w *workspace.Workspace, name string) error {
	all, err := w.Preferences()
	if err != nil {
		return err
	}
	i := named(all, name)
	if i < 0 {
		return fmt.Errorf("%w: there is no list %s; neardup prefer list shows what there is", workspace.ErrUsage, screen.Printable(name))
	}
	n := all[i].Number
	return w.WritePreferences(func(db *store.DB) error {
		b := db.Batch()
		return errors.Join(b.DeleteRange(layout.PrefixBounds(layout.PreferredOf(n))), b.Delete(layout.PreferenceKey(n)), b.Commit())
	})
}

// Check compares what the lists have with what was added. It returns the number of
// entries, and what is wrong with them.
func Check(w *workspace.Workspace) (entries int64, wrong []string, err error) {
	all, err := w.Preferences()
	if err != nil {
		return 0, nil, err
	}
	for _, p := range all {
		d := newDigest()
		for r, err := range w.DB.Rows(layout.PrefixBounds(layout.PreferredOf(p.Number))) {
			if err != nil {
				return entries, wrong, err
			}
			if p.Kind == workspace.KindHosts {
				_, err = r.PreferredHost()
			} else {
				_, _, err = r.PageScore()
			}
			value, valueErr := r.Value()
			if err := errors.Join(err, valueErr); err != nil {
				return entries, wrong, err
			}
			d.add(r.Key(), value)
		}
		if entries += d.entries; d.entries != p.Entries || d.String() != p.Digest {
			wrong = append(wrong, fmt.Sprintf("the list %s has %d entries that are not the %d that were added", p.Name, d.entries, p.Entries))
		}
	}
	for r, err := range w.DB.Table(layout.TableFileScore) {
		if err == nil {
			_, _, err = r.PageScore()
		}
		if err != nil {
			return entries, wrong, err
		}
	}
	stored, err := w.DB.Count(layout.TablePreferred)
	if stored != entries {
		wrong = append(wrong, fmt.Sprintf("%d scores and hosts are of no list", stored-entries))
	}
	return stored, wrong, err
}

// parse parses a list and counts its lines. It returns the rows of the content, in the
// order of their keys. Scores are read from the sorter.
func parse(p *workspace.Preference, r io.Reader, sorter *extsort.Sorter) (rows iter.Seq2[extsort.Entry, error], err error) {
	if p.Kind == workspace.KindHosts {
		var hosts []string
		hosts, p.Lines, err = parseHosts(r)
		return func(yield func(extsort.Entry, error) bool) {
			for i, host := range hosts {
				if !yield(extsort.Entry{Key: layout.PreferredHostKey(p.Number, i), Value: []byte(host)}, nil) {
					return
				}
			}
		}, err
	}
	p.Lines, err = parseScores(r, sorter)
	return scoreRows(sorter, func(uri [16]byte) []byte { return layout.ScoreKey(p.Number, uri) }), err
}

// eachLine calls do with each line of text, without spaces around it. It passes over
// empty lines and counts the others. An error names the line.
func eachLine(r io.Reader, do func(line string) error) (lines int64, err error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	n := 0
	for sc.Scan() {
		text := sc.Text()
		if n++; n == 1 { // a byte order mark is no part of the first line
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if lines++; lines > maxEntries {
			return lines, fmt.Errorf("line %d: a list has at most %d lines", n, maxEntries)
		}
		if err := do(text); err != nil {
			return lines, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err = sc.Err(); errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("line %d: longer than %d bytes", n+1, maxLine)
	}
	return lines, err
}

// digest is the digest of the entries of a list.
type digest struct {
	hash    hash.Hash
	entries int64
}

func newDigest() *digest { return &digest{hash: sha256.New()} }

// add adds a row of the content.
func (d *digest) add(key, value []byte) {
	d.hash.Write(key[len(layout.PreferredOf(0)):])
	d.hash.Write(append([]byte{byte(len(value) >> 8), byte(len(value))}, value...))
	d.entries++
}

func (d *digest) String() string { return hex.EncodeToString(d.hash.Sum(nil)[:16]) }

func named(all []workspace.Preference, name string) int {
	return slices.IndexFunc(all, func(p workspace.Preference) bool { return p.Name == name })
}

func checkName(name string) error {
	unfit := func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }
	if n := utf8.RuneCountInString(name); n == 0 || n > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unfit) {
		return fmt.Errorf("%w: \"%s\" is no name of a list; want 1 to %d characters that can be printed, without spaces: use --name",
			workspace.ErrUsage, screen.Characters(name, 2*maxName), maxName)
	}
	return nil
}

// counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
