// Command rows prints what the stages of a workspace wrote, as JSON lines, for
// docs/peers/brute.py: texts, signatures, perhaps-similar sets, near pairs with their
// scores, and clusters.
//
//	go run ./docs/peers/rows WORKSPACE > rows.jsonl
package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"unicode"

	"neardup/cluster"
	"neardup/pipeline/groups"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// posting is the first byte of the rows of signatures. signature[16] and key[20]
// follow.
const posting = 's'

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: rows WORKSPACE")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "rows:", err)
		os.Exit(1)
	}
}

func run(dir string) (err error) {
	m, err := workspace.ReadManifest(dir)
	if err != nil {
		return err
	}
	if m.Config == nil {
		return errors.New("the workspace has no config: it was never run")
	}
	w, err := workspace.Open(dir, stages.All, *m.Config, false, workspace.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	row := func(kind string, fields ...any) error { return out.Encode(append([]any{kind}, fields...)) }

	// Properties of Unicode, as ranges outside ASCII, because Python has no tables
	// of them.
	terminal := ranges(func(r rune) bool { return unicode.Is(unicode.Terminal_Punctuation, r) })
	single := ranges(func(r rune) bool {
		return r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	})
	han := ranges(func(r rune) bool { return unicode.Is(unicode.Han, r) })
	paired := ranges(func(r rune) bool {
		return unicode.In(r, unicode.Hiragana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	})
	if err := errors.Join(row("config", m.Config), row("terminal", terminal), row("single", single), row("han", han), row("paired", paired)); err != nil {
		return err
	}
	seen := map[rows.TextID]bool{}
	for d, err := range results.Documents[groups.DocumentView](w) {
		if err != nil {
			return err
		}
		t, err := d.Row.ParsedTextID()
		if err != nil {
			return err
		}
		if seen[t] {
			continue
		}
		seen[t] = true
		text, err1 := results.TextOf(w, t)
		left, err2 := results.LeftOut(w, t)
		representative, ok, err3 := results.ClusterOf(w, t)
		of := ""
		if ok {
			of = hex.EncodeToString(representative[:])
		}
		if err := errors.Join(err1, err2, err3, row("text", hex.EncodeToString(t[:]), text, left, of)); err != nil {
			return err
		}
	}
	for r, err := range w.DB.Table(posting) {
		if err != nil {
			return err
		}
		k := r.Key()
		if err := row("posting", hex.EncodeToString(k[1:17]), hex.EncodeToString(k[17:])); err != nil {
			return err
		}
	}
	for set, err := range results.Sets(w) {
		var keys []string
		for _, k := range set {
			keys = append(keys, name(k))
		}
		if err := errors.Join(err, row("set", keys)); err != nil {
			return err
		}
	}
	for l, err := range results.NearPairs(w) {
		if err := errors.Join(err, row("near", name(l.Leader), name(l.Member), l.Score.Relation, l.Score.Resemblance, l.Score.Containment)); err != nil {
			return err
		}
	}
	return nil
}

// ranges returns the characters outside ASCII that have a property, as first and
// last of each range.
func ranges(has func(rune) bool) (out [][2]rune) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		switch n := len(out); {
		case !has(r):
		case n > 0 && out[n-1][1] == r-1:
			out[n-1][1] = r
		default:
			out = append(out, [2]rune{r, r})
		}
	}
	return out
}

func name(k cluster.Key) string { return hex.EncodeToString(k[:]) }
