package pipetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/audit"
	"neardup/pipeline/workspace"
	"neardup/report"
)

func TextURN(i int) string { return fmt.Sprintf("urn:text:%d", i) }

// WriteTexts writes a collection of texts, whose IDs are their numbers.
func WriteTexts(t *testing.T, first int, texts []string) string {
	t.Helper()
	var b bytes.Buffer
	for i, s := range texts {
		fmt.Fprintf(&b, "%s\t%s\n", TextURN(first+i), s)
	}
	return WriteFile(t, filepath.Join(t.TempDir(), fmt.Sprintf("texts-%d.tsv", first)), b.Bytes())
}

// prose returns sentences of random words of one script.
func prose(rng *rand.Rand, words int, word func() string, between, stop string) (sentences []string) {
	for words > 0 {
		n := 6 + rng.IntN(10)
		var s []string
		for range n {
			s = append(s, word())
		}
		sentences = append(sentences, strings.Join(s, between)+stop)
		words -= n
	}
	return sentences
}

// Scripts returns generators of words in several scripts, with their separators.
func Scripts(rng *rand.Rand) []func(words int) []string {
	letters := func(from rune, n, least int) func() string {
		return func() string {
			var b strings.Builder
			for range least + rng.IntN(6) {
				b.WriteRune(from + rng.Int32N(int32(n)))
			}
			return b.String()
		}
	}
	of := func(word func() string, between, stop string) func(int) []string {
		return func(words int) []string { return prose(rng, words, word, between, stop) }
	}
	return []func(int) []string{
		of(letters('a', 26, 3), " ", ". "),
		of(letters('а', 32, 3), " ", ". "), // Cyrillic
		of(letters('一', 3000, 1), "", "。"), // Han, which has no spaces
		of(letters('ا', 26, 2), " ", "؟ "), // Arabic
		of(letters('ก', 46, 3), "", "! "),  // Thai, which has neither spaces nor full stops: without marks all would be one sentence
		of(letters('अ', 50, 2), " ", "। "), // Devanagari
	}
}

// Planted returns families, each a text and near copies with a sentence or two
// replaced, and as many texts that are near no other.
func Planted(rng *rand.Rand, families int) (texts []string, family []int) {
	kinds := Scripts(rng)
	add := func(f int, sentences []string) {
		texts = append(texts, strings.TrimSpace(strings.Join(sentences, "")))
		family = append(family, f)
	}
	for f := range families {
		make := kinds[f%len(kinds)]
		original := make(150 + rng.IntN(150))
		add(f, original)
		for range 1 + rng.IntN(3) {
			copied := slices.Clone(original)
			copied[rng.IntN(len(copied))] = make(5)[0]
			if rng.IntN(3) == 0 {
				copied[rng.IntN(len(copied))] = ""
			}
			add(f, copied)
			add(families+len(texts), make(150))
		}
	}
	rng.Shuffle(len(texts), func(i, j int) {
		texts[i], texts[j] = texts[j], texts[i]
		family[i], family[j] = family[j], family[i]
	})
	return texts, family
}

// ClustersOf parses an export and returns the cluster of each text.
func ClustersOf(t *testing.T, jsonl []byte) (clusterOf map[string]int, members []report.Member) {
	t.Helper()
	clusterOf = map[string]int{}
	d := json.NewDecoder(bytes.NewReader(jsonl))
	for n := 1; d.More(); n++ {
		var c report.Cluster
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Members {
			clusterOf[strings.Trim(m.RecordID, "<>")] = n
			members = append(members, m)
		}
	}
	return clusterOf, members
}

// Judgements returns enforced judgements of texts by their numbers: "1=2" for a
// pair that must be joined, "1|2" for one that must not.
func Judgements(t *testing.T, pairs ...string) (out []audit.Judgement) {
	t.Helper()
	for _, p := range pairs {
		var a, b int
		var sign rune
		if _, err := fmt.Sscanf(p, "%d%c%d", &a, &sign, &b); err != nil {
			t.Fatal(p, err)
		}
		verdict := map[rune]audit.Verdict{'=': audit.True, '|': audit.False}[sign]
		out = append(out, audit.Judgement{Pair: audit.NewPair(TextURN(a), TextURN(b)), Judge: "a judge", Verdict: verdict, Enforce: true})
	}
	return out
}

// Copies returns a page with near copies, and texts that are near no other.
func Copies() (texts []string) {
	rng := rand.New(rand.NewPCG(51, 52))
	english := Scripts(rng)[0]
	original := english(200)
	for i := range 4 {
		copied := slices.Clone(original)
		copied[i] = english(5)[0]
		texts = append(texts, strings.Join(copied[:len(copied)-i], "")) // the longest is 0
	}
	for range 3 {
		texts = append(texts, strings.Join(english(200), ""))
	}
	return texts
}

func WriteLines(t *testing.T, texts []string) string {
	t.Helper()
	var b strings.Builder
	for i, s := range texts {
		line, err := json.Marshal(map[string]string{"id": TextURN(i), "text": s})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	path := filepath.Join(t.TempDir(), "texts.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func WriteFile(t *testing.T, path string, content []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Copied returns a workspace with the texts of Copies after a run.
func Copied(t *testing.T, settings ...string) *workspace.Workspace {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	RunAll(t, dir, MustLoad(t, settings...), workspace.Options{}, WriteTexts(t, 0, Copies()))
	return OpenWith(t, dir, settings...)
}

// Words returns so many sentences of 12 random words that no language has.
func Words(rng *rand.Rand, sentences int) string {
	var b strings.Builder
	for range sentences {
		for range 12 {
			fmt.Fprintf(&b, "w%d ", rng.IntN(50_000))
		}
		b.WriteString("end. ")
	}
	return b.String()
}

// Chains returns chains of texts, each of which is the previous one with a word
// changed. Texts far apart in a chain are not near, and each text is near many
// others.
func Chains(rng *rand.Rand, chains, links int) (texts []string) {
	for c := range chains {
		words := strings.Fields(strings.Join(Scripts(rng)[0](200), ""))
		for l := range links {
			words[(7*l)%len(words)] = fmt.Sprintf("other%d.%d", c, l)
			texts = append(texts, strings.Join(words, " "))
		}
	}
	rng.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	return texts
}
