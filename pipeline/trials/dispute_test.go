package trials

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/compare"
	"neardup/configs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/verify/tlcs"
)

// The score of a pair is that of the whole comparison, in any order.
func TestScorePair(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	c := pipetest.PresetDefault(t)
	pipetest.RunAll(t, dir, c, workspace.Options{}, pipetest.Crawl(t))
	other := pipetest.PresetDefault(t)
	if err := other.Set([]string{"text.max_columns=60", "verify.rounds=1"}); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	var ids []rows.TextID
	for r, err := range w.DB.Table(layout.TableText) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, rows.TextID(r.Key()[1:]))
	}
	partly := 0
	for _, config := range []configs.Config{c, other} {
		for i, a := range ids {
			for _, b := range ids[i:min(len(ids), i+24)] {
				r, contained, ok, err := scorePair(w, config, a, b)
				if err != nil || !ok {
					t.Fatal(ok, err)
				}
				back, containedBack, _, _ := scorePair(w, config, b, a)
				if r != back || contained != containedBack || a == b && (r != 1 || contained != 1) {
					t.Errorf("%x %x: %v %v, the other way %v %v", a, b, r, contained, back, containedBack)
				}
				if r > 0 && r < 1 {
					partly++
				}
				if w.Config.Text.MaxColumns != c.Text.MaxColumns {
					t.Fatal("the workspace's config changed")
				}
			}
		}
	}
	if partly < 20 {
		t.Errorf("%d scores between 0 and 1", partly)
	}
	// Near pairs score what the verification found.
	near := 0
	for l, err := range results.NearPairs(w) {
		if err != nil {
			t.Fatal(err)
		}
		near++
		r, contained, ok, err := scorePair(w, c, l.Leader.ID(), l.Member.ID())
		if err != nil || !ok || r != l.Score.Resemblance || contained != l.Score.Containment {
			t.Errorf("%v %v %v %v, want %+v", r, contained, ok, err, l.Score)
		}
	}
	if near == 0 {
		t.Error("no near pairs")
	}
	// And only as much text counts as the config looks at.
	a, err := results.TextOf(w, ids[0])
	if err != nil {
		t.Fatal(err)
	}
	b, _ := results.TextOf(w, ids[1])
	short := other.Verify.Options
	v := tlcs.NewComparer(short).Score(tlcs.Prepare(a[:min(60, len(a))], short.Window), tlcs.Prepare(b[:min(60, len(b))], short.Window))
	if r, _, _, _ := scorePair(w, other, ids[0], ids[1]); isASCII(a[:60]) && isASCII(b[:60]) && r != v.Resemblance {
		t.Errorf("resemblance %v, want %v", r, v.Resemblance)
	}
}

func isASCII(s string) bool {
	return !slices.ContainsFunc([]byte(s), func(b byte) bool { return b >= 0x80 })
}

// Pages of one text are disputed where one method leaves the text out. What
// moves other text does not reach the screen.
func TestDisputedPagesOfOneText(t *testing.T) {
	menu := pipetest.OkHTML + "<nav>" + strings.Repeat("<a href=/>one entry of the menu</a>\n", 30) + "</nav>"
	crawl := pipetest.WriteRecords(t, pipetest.Archived("response", "one", "http://a.example/", 1, menu), pipetest.Archived("response", "two", "http://b.example/\u202egnp", 2, menu))
	plan := methods(t, false)
	plan.Methods = []compare.Planned{plan.Methods[0], plan.Methods[2]}
	got, err := compareIn(t.Context(), t, filepath.Join(t.TempDir(), "ws"), crawl, &pipetest.StageLog{}, CompareOptions{Plan: plan, Disputed: 3})
	if err != nil {
		t.Fatal(err)
	}
	d := got.Disputed[0]
	if d.Pairs != 1 || len(d.Shown) != 1 || len(got.Disputed[1].Shown) != 0 {
		t.Fatalf("got %+v", got.Disputed)
	}
	one := compare.Scores{Resemblance: 1, Containment: 1}
	s := d.Shown[0]
	if s.Label != "" || *s.Scores[0] != one || *s.Scores[1] != one || len(s.Difference.Begin) != 1 || s.Pages[0].RecordID == s.Pages[1].RecordID {
		t.Errorf("got %+v", s)
	}
	var text bytes.Buffer
	if err := got.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), `http://b.example/\u202egnp`) || strings.ContainsRune(text.String(), '\u202e') {
		t.Errorf("got\n%s", text.String())
	}
}

// Methods with frames of their own score pairs of different sites without them,
// whatever the workspace learned last.
func TestDisputedScoresLeaveOutFrames(t *testing.T) {
	var records [][]byte
	frame := strings.Repeat("All pages of this site show these words in their frame, "+"whatever else they tell of. ", 20)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 6 {
		for _, site := range []string{"a", "b"} {
			own := "Of " + site
			for range 60 {
				own += fmt.Sprintf(" %x", random.Uint32())
			}
			records = append(records, pipetest.Archived("response", fmt.Sprint(i)+site, fmt.Sprintf("http://%s.example/%d", site, i), 1+i, pipetest.OkHTML+"<p>"+frame+"<p>"+own+"."))
		}
	}
	p, err := compare.NewPlan(pipetest.PresetDefault(t), []string{"default"}, []string{"verify.resemblance=0.3", "verify.whole=0", "verify.rare_pages=0", "sign.smallest=1"}, false)
	if err != nil {
		t.Fatal(err)
	}
	without := p.Methods[0]
	without.Name, without.Config.Text.Frames = "without", 5
	p.Methods[0].Config.Text.Frames = 0
	for _, order := range [][]compare.Planned{{p.Methods[0], without}, {without, p.Methods[0]}} {
		p.Methods = order
		got, err := compareIn(t.Context(), t, filepath.Join(t.TempDir(), "ws"), pipetest.WriteRecords(t, records...), &pipetest.StageLog{}, CompareOptions{Plan: p, Disputed: 5})
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		for _, d := range got.Disputed {
			for _, s := range d.Shown {
				shown++
				if d.Joins != "default" || s.Scores[0].Resemblance < 0.3 || s.Scores[1].Resemblance >= 0.3 {
					t.Errorf("joined by %s: %+v, %+v", d.Joins, *s.Scores[0], *s.Scores[1])
				}
			}
		}
		if shown == 0 {
			t.Errorf("nothing is disputed: %+v", got.Agreement)
		}
	}
}
