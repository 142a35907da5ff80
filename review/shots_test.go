package review_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"neardup/audit"
)

// TestShots takes pictures of the pages for people to look at:
//
//	NEARDUP_SHOTS=DIR go test ./review -run TestShots
func TestShots(t *testing.T) {
	if os.Getenv("NEARDUP_SHOTS") == "" {
		t.Skip("NEARDUP_SHOTS names no directory for pictures")
	}
	f := usual(t)
	ctx := context.Background()
	if _, err := f.Draw(ctx, "first-look", audit.Design{Population: audit.Pages, Size: 40, Seed: 3}); err != nil {
		t.Fatal(err)
	}
	for i, item := range f.audits["first-look"].items[:30] {
		v := audit.True
		if i%9 == 8 {
			v = audit.False
		}
		_ = f.Judge(ctx, audit.Judgement{Pair: item.Pair, Judge: "Ines", Verdict: v, Enforce: i == 8})
		if i%7 == 3 {
			v = audit.Unknown
		}
		if i < 20 {
			_ = f.Judge(ctx, audit.Judgement{Pair: item.Pair, Judge: "Ravi", Verdict: v, Note: "the same story, other frame"})
		}
	}
	b := open(t, f)
	big, small := f.clusters[0], f.clusters[4]
	for name, path := range map[string]string{
		"overview": "/", "clusters": "/clusters", "search": "/search?host=news.example&from=2015", "cluster": "/cluster/" + big.row.ID,
		"cluster-small": "/cluster/" + small.row.ID, "pair": "/pair/" + small.members[0].document + "/" + small.members[3].document,
		"pair-chinese": "/pair/" + f.clusters[2].members[0].document + "/" + f.clusters[2].members[5].document,
		"pair-arabic":  "/pair/" + f.clusters[3].members[0].document + "/" + f.clusters[3].members[3].document,
		"pair-other":   "/pair/" + f.clusters[0].members[0].document + "/" + f.clusters[7].members[3].document,
		"page":         "/page/" + small.members[0].document, "audits": "/audit", "audit": "/audit/first-look?judge=Ines",
		"judge": "/audit/first-look/31?judge=Ines&said=true&last=30", "judge-first": "/audit/first-look/4?judge=Noor", "enforced": "/enforced", "error": "/cluster/00",
	} {
		if only := os.Getenv("ONLY"); only != "" && !strings.Contains(","+only+",", ","+name+",") {
			continue
		}
		b.Missing = name == "error"
		b.Screen(1280, 900, "light")
		b.At(path)
		b.Shoot(name)
		b.Full(name + "-full")
		b.Screen(1280, 900, "dark")
		b.Shoot(name + "-dark")
		b.Screen(375, 800, "light")
		b.Full(name + "-narrow")
	}
}
