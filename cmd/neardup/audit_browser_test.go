package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"neardup/audit"
	"neardup/review/browser"
)

// judging is a judge at work on the sample by-keys.
type judging struct {
	*browser.Tab
	clusters []exportedCluster
	want     []audit.Judgement // of each pair, without time and pair
	enforced int               // number of the pair that is to be parted, from 1; 0: none yet
	parted   [2]string         // its captures
}

func (j *judging) path(number int) string { return fmt.Sprintf("/audit/by-keys/%d", number) }

// TestAuditInABrowser judges 20 pairs with the keyboard, in two sittings, and has
// a cluster parted.
func TestAuditInABrowser(t *testing.T) {
	browser.Need(t)
	ws := exampleWorkspace(t)
	server := serve(t, ws, "127.0.0.1:0")
	j := &judging{Tab: browser.Open(t, server.url), clusters: exportedClusters(t, ws), want: make([]audit.Judgement, 20)}
	j.draw()
	for number := 1; number <= 10; number++ {
		j.judge(number)
	}
	j.Arrived(j.path(11))
	j.Close()
	server.stop()

	server = serve(t, ws, "127.0.0.1:0")
	j.Tab = browser.Open(t, server.url) // a new one, which remembers no judge
	j.At("/audit/by-keys")
	j.begin()
	j.Arrived(j.path(11))
	if got := textOf(j.Tab, ".how-far .said"); got != "10 of 20 judged" {
		t.Errorf("after the restart: %q", got)
	}
	for number := 11; number <= 20; number++ {
		j.judge(number)
	}
	j.Arrived("/audit/by-keys")
	j.Until("document.querySelector('#live').textContent.includes('all 20 pairs')")
	if j.enforced == 0 {
		t.Fatal("no pair of the sample can be parted")
	}
	shown := textOf(j.Tab, "table.intervals tbody tr")
	j.TabTo("a  /audit/by-keys/truth.tsv") // what there is to take along is reached by keys, too
	j.At("/enforced")
	if got := textOf(j.Tab, "tbody"); strings.Count(got, "must not join") != 1 || !strings.Contains(got, "pending") {
		t.Errorf("enforced: %s", got)
	}
	j.Close()
	server.stop()

	var result audit.Result
	if err := json.Unmarshal([]byte(neardup(t, exitOK, "audit", "result", "by-keys", "--json", "--workspace", ws)), &result); err != nil {
		t.Fatal(err)
	}
	o := result.Overall
	if want := fmt.Sprintf("all pairs %.3f %.3f – %.3f %d %d", o.Value, o.Low, o.High, o.True, o.False); shown != want {
		t.Errorf("the page says %q, the command %q", shown, want)
	}
	if result.Judged != 20 || result.Unknown != 1 || o.True != 17 || o.False != 2 {
		t.Errorf("result %+v", result)
	}
	j.kept(ws)
	j.parts(ws)
}

// draw goes to the audits by keys, draws the sample and begins to judge.
func (j *judging) draw() {
	j.At("/")
	j.TabTo("a  #main")
	j.Keys(kb.Enter) // skips to the content
	j.At("/")
	j.TabTo("a  /audit")
	j.Keys(kb.Enter)
	j.Arrived("/audit")
	j.TabTo("input name ")
	j.Keys("by-keys")
	j.TabTo("input size ")
	j.Keys("\b\b\b20") // in place of 200
	if got := browser.Eval[string](j.Tab, "document.activeElement.value"); got != "20" {
		j.Fatalf("the size is %q", got)
	}
	j.Keys(kb.Enter)
	j.Arrived("/audit/by-keys")
	j.begin()
	j.Arrived(j.path(1))
	// The guideline is on the screen, and what the method says is not.
	if !browser.Eval[bool](j.Tab, "document.querySelector('details.guide').open && !document.querySelector('details.method').open") {
		j.Error("the guideline is folded, or the scores are not")
	}
	// Help by a key; no key judges while it is open.
	j.Keys("?")
	j.Until("document.querySelector('dialog').open")
	j.Keys("t")
	j.Keys(kb.Escape)
	j.Until("!document.querySelector('dialog').open")
}

// begin gives the judge's name.
func (j *judging) begin() {
	j.Arrived("/audit/by-keys")
	j.TabTo("input judge ")
	j.Keys("Ines" + kb.Enter)
}

// judge judges the pair that is shown. Some are judged with more keys than one.
func (j *judging) judge(number int) {
	j.Helper()
	j.Arrived(j.path(number))
	if got := textOf(j.Tab, "h1"); got != fmt.Sprintf("Pair %d of 20", number) {
		j.Fatalf("h1 is %q", got)
	}
	v := audit.Judgement{Judge: "Ines", Verdict: audit.True}
	switch number {
	case 3: // keys in a note are letters
		j.Keys("n")
		j.Until("document.activeElement.name === 'note'")
		j.Keys("tfu jk?" + kb.Escape)
		v.Note = "tfu jk?"
	case 8:
		v.Verdict = audit.Unknown
	case 10: // said wrongly, and taken back
		j.Keys("f")
		j.Arrived(j.path(11))
		j.Keys("z")
		j.Arrived(j.path(10))
		if got := textOf(j.Tab, ".how-far .said"); got != "Taken back. 9 of 20 judged" {
			j.Errorf("not taken back: %q", got)
		}
	case 13: // looked at the one before
		j.Keys("k")
		j.Arrived(j.path(12))
		if got := browser.Eval[string](j.Tab, "document.querySelector('[aria-pressed]').value"); got != string(j.want[11].Verdict) {
			j.Errorf("the verdict given before is shown as %q", got)
		}
		j.Keys("j")
		j.Arrived(j.path(13))
	case 16:
		v.Verdict = audit.False
	default:
		if j.enforced == 0 && j.parting() {
			j.Keys("e")
			v.Verdict, v.Enforce, j.enforced = audit.False, true, number
		}
	}
	j.want[number-1] = v
	j.Keys(map[audit.Verdict]string{audit.True: "t", audit.False: "f", audit.Unknown: "u"}[v.Verdict])
}

// parting reports whether the pair that is shown is of different texts, and leaves
// a cluster when it is parted; it keeps the captures of the pair.
func (j *judging) parting() bool {
	for i := range j.parted {
		card := fmt.Sprintf(".page-%d ", i)
		date, _, _ := strings.Cut(textOf(j.Tab, card+"p.quiet"), " · ")
		j.parted[i] = date + " " + textOf(j.Tab, card+".uri")
	}
	return count(j.Tab, "tr.difference") > 0 && len(clusterOf(j.clusters, j.parted[0])) > 2
}

// clusterOf returns the captures in the cluster of one; none: it is in no cluster.
func clusterOf(clusters []exportedCluster, one string) []string {
	for _, c := range clusters {
		var all []string
		for _, m := range c.Members {
			all = append(all, capture(m.URI, m.Date))
		}
		if slices.Contains(all, one) {
			return all
		}
	}
	return nil
}

// kept holds the labels of the workspace against what was judged.
func (j *judging) kept(ws string) {
	j.Helper()
	for i, want := range j.want {
		var shown struct{ Judgements []audit.Judgement }
		if err := json.Unmarshal([]byte(neardup(j.T, exitOK, "audit", "item", "by-keys", fmt.Sprint(i+1), "--json", "--workspace", ws)), &shown); err != nil {
			j.Fatal(err)
		}
		if len(shown.Judgements) != 1 {
			j.Fatalf("pair %d: judgements %+v", i+1, shown.Judgements)
		}
		got := shown.Judgements[0]
		if got.Pair, got.Time = want.Pair, ""; got != want {
			j.Errorf("pair %d: judged %+v, want %+v", i+1, got, want)
		}
	}
}

// parts runs again, and sees that the pair is parted, and that this is shown.
func (j *judging) parts(ws string) {
	j.Helper()
	if together := clusterOf(exportedClusters(j.T, ws), j.parted[0]); !slices.Contains(together, j.parted[1]) {
		j.Fatalf("%q is not with %q", j.parted[1], together)
	}
	runIn(j.T, ws)
	if got := neardup(j.T, exitOK, "export", "--format", "summary", "--workspace", ws); !strings.Contains(got, "judged pairs followed      1  1 parted") {
		j.Errorf("the summary is\n%s", got)
	}
	for i, one := range j.parted {
		if slices.Contains(clusterOf(exportedClusters(j.T, ws), one), j.parted[1-i]) {
			j.Errorf("the export has %q with %q", one, j.parted[1-i])
		}
	}
	server := serve(j.T, ws, "127.0.0.1:0")
	j.Tab = browser.Open(j.T, server.url)
	j.At("/enforced")
	if got := textOf(j.Tab, "tbody"); strings.Count(got, "must not join") != 1 || !strings.Contains(got, "✓ followed") {
		j.Errorf("enforced: %s", got)
	}
	j.Follow("tbody a[href^='/pair/']", "/pair/")
	if got := textOf(j.Tab, ".outcome"); !strings.HasPrefix(got, "✗ not joined") || !strings.Contains(got, "judge") {
		j.Errorf("the outcome is %q", got)
	}
	if got := textOf(j.Tab, "#judgements ~ table"); !strings.Contains(got, "Ines ✗ false") || !strings.Contains(got, "must not join") {
		j.Errorf("the judgements are %q", got)
	}
	clusters := browser.Eval[[]string](j.Tab, "[...document.querySelectorAll('.outcome a[href^=\"/cluster/\"]')].map(a => a.getAttribute('href'))")
	if len(clusters) == 0 || len(clusters) == 2 && clusters[0] == clusters[1] {
		j.Errorf("the pair is of clusters %q", clusters)
	}
	for _, path := range clusters {
		j.At(path)
		members := listed(j.Tab)
		if slices.Contains(members, j.parted[0]) == slices.Contains(members, j.parted[1]) {
			j.Errorf("members %q, of %q one", members, j.parted)
		}
	}
	j.At("/audit/by-keys")
	if got := textOf(j.Tab, "main .notice.unsure"); !strings.Contains(got, "of an earlier run") {
		j.Errorf("the audit says %q", got)
	}
	j.Close()
	server.stop()
}
