package pipeline_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/configs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/workspace"
)

// long and short are different sentences, of about 130 and 25 columns.
func long(from, to int) (s []string) {
	for i := from; i < to; i++ {
		s = append(s, fmt.Sprintf("Of the %d. %s.", i, strings.Repeat(fmt.Sprintf("%c%d word%d ", 'a'+i%26, i*7919, i), 8)))
	}
	return s
}

func short(from, to int) (s []string) {
	for i := from; i < to; i++ {
		s = append(s, fmt.Sprintf("Number %d is item %d.", i*31, i*977))
	}
	return s
}

// paperClusters runs texts of such sentences, and returns the clusters as the sorted
// names of their members, which are letters from a on.
func paperClusters(t *testing.T, texts [][]string, settings ...string) []string {
	t.Helper()
	var joined []string
	for _, s := range texts {
		joined = append(joined, strings.Join(s, " "))
	}
	c := pipetest.MustLoadPreset(t, "paper", append([]string{"sign.smallest=1"}, settings...)...)
	of, _ := pipetest.ClustersOf(t, pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), c, workspace.Options{}, pipetest.WriteTexts(t, 0, joined)))
	clusters := map[int]string{}
	for i := range texts {
		if n := of[pipetest.TextURN(i)]; n != 0 {
			clusters[n] += string(rune('a' + i))
		}
	}
	var out []string
	for _, c := range clusters {
		out = append(out, c)
	}
	slices.Sort(out)
	return out
}

// Two larger texts, a and b, share signatures with c and none with each other. The
// lists of both have c, so the paper compares c with both. Merged into the first list
// only, c never meets b, to which it is near.
func TestPaperKeepsPairsThatShareSignatures(t *testing.T) {
	shared, near := long(0, 1), long(1, 6)
	texts := [][]string{slices.Concat(shared, short(0, 40)), slices.Concat(near, short(100, 107)), slices.Concat(near, shared)}
	for merge, want := range map[string]string{"lists": "bc", "direct": "bc", "following": ""} {
		if got := strings.Join(paperClusters(t, texts, "cluster.merge="+merge), " "); got != want {
			t.Errorf("merge %s: clusters %q, want %q", merge, got, want)
		}
	}
	if got := strings.Join(paperClusters(t, texts), " "); got != "bc" {
		t.Errorf("the preset: clusters %q", got)
	}
}

// a is near b and b is near c, but a is not near c. b has joined its leader a when c
// comes, so c meets b only where all pairs of a set are verified.
func TestPaperClosesOverAllPairs(t *testing.T) {
	texts := [][]string{slices.Concat(long(0, 10), short(0, 12)), long(4, 14), long(8, 16)}
	for closing, want := range map[string]string{configs.ClosingTransitive: "abc", configs.ClosingLeaders: "ab"} {
		if got := strings.Join(paperClusters(t, texts, "sign.spread=1", "verify.closing="+closing), " "); got != want {
			t.Errorf("closing %s: clusters %q, want %q", closing, got, want)
		}
	}
	if c := pipetest.MustLoadPreset(t, "paper"); c.Verify.Closing != configs.ClosingTransitive {
		t.Errorf("the preset closes by %s", c.Verify.Closing)
	}
}
