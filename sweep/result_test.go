package sweep

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"neardup/truth"
	"neardup/verify"
)

// swept makes the results of a plan, the i-th with numbers that follow from i.
func swept(t *testing.T, p Plan, labels bool) Sweep {
	t.Helper()
	s := Sweep{Base: base(t), Varies: p.Varies, Grid: p.Grid, Sample: 10, Repeat: 1}
	for i, v := range p.Variants {
		x := float64(i)
		trustable := 1 - x/10
		r := Result{Settings: v.Settings, Rates: Rates{Documents: 10, Trustable: &trustable},
			Counts: Counts{Signatures: 100, Sets: 20, LargestSet: 5, Pairs: 30 + int64(i), Clusters: 9, Pages: 25, Largest: 7,
				Outcomes: verify.Outcomes{ByLength: 1, BySketch: 2, ByDistance: 3, ByScore: 4, ByRarity: 6, ByTitle: 7, Near: 20 + int64(i)}},
			Stages: []Cost{{"extract", 2, 1.5, 1 << 20}, {"verify", 1 + x, 0.5 + x, 2 << 20}}}
		if labels {
			coverage := 0.5
			r.Rates.Coverage = &coverage
			r.Scores = &truth.Scores{Announced: truth.F{Precision: 0.25, Recall: 0.5, F1: 0.25 + x/10}, Page: truth.F{Precision: 1, Recall: 0.5, F1: 0.5 + x/10}, Pair: truth.F{Precision: 0.75, Recall: 0.25, F1: 0.375}, SameSite: 1}
		}
		s.Results = append(s.Results, r)
	}
	if labels {
		s.Truth = &TruthUse{Pages: 12, Missing: 2}
	}
	return s
}

func TestWriteText(t *testing.T) {
	for _, c := range []struct {
		labels bool
		want   string
	}{
		{false, `
  quality           trustable
  base                 1.0000
  verify.slope=0.2     0.9000

  counts            signatures  sets  largest  pairs  by length  by sketch  by distance  by score  by rarity  by title  near  clusters  pages  largest
  base                     100    20        5     30          1          2            3         4          6         7    20         9     25        7
  verify.slope=0.2         100    20        5     31          1          2            3         4          6         7    21         9     25        7

  processor seconds  extract  verify  all stages  wall
  base                  1.50    0.50        2.00  3.00
  verify.slope=0.2      1.50    1.50        3.00  4.00

`},
		{true, `
  quality           ann. P  page R  ann. F1  page P  page F1  pair P  pair R  pair F1  site P  coverage  trustable
  base              0.2500  0.5000   0.2500  1.0000   0.5000  0.7500  0.2500   0.3750  1.0000    0.5000     1.0000
  verify.slope=0.2  0.2500  0.5000   0.3500  1.0000   0.6000  0.7500  0.2500   0.3750  1.0000    0.5000     0.9000
`},
	} {
		var b bytes.Buffer
		if err := swept(t, planned(t, false, "verify.slope=0.2"), c.labels).WriteText(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix("\n"+b.String(), c.want) {
			t.Errorf("labels %v: got\n%s\nwant\n%s", c.labels, b.String(), c.want)
		}
	}
}

func TestWriteCSV(t *testing.T) {
	var b bytes.Buffer
	if err := swept(t, planned(t, false, "verify.slope=0.2", "cluster.merge=following"), false).WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	want := `verify.slope,cluster.merge,announced_precision,page_recall,announced_f1,page_precision,page_f1,pair_precision,pair_recall,pair_f1,same_site_precision,coverage,trustable,trustable_by_labels,strain_away,reserve,set_precision,set_recall,signatures,sets,largest_set,pairs_compared,rejected_by_length,rejected_by_sketch,rejected_by_distance,rejected_by_score,rejected_by_rarity,rejected_by_title,near,clusters,pages_in_clusters,largest_cluster,extract_cpu_seconds,verify_cpu_seconds,cpu_seconds,seconds
0.1,direct,,,,,,,,,,,1.0000,,,,,,100,20,5,30,1,2,3,4,6,7,20,9,25,7,1.50,0.50,2.00,3.00
0.2,direct,,,,,,,,,,,0.9000,,,,,,100,20,5,31,1,2,3,4,6,7,21,9,25,7,1.50,1.50,3.00,4.00
0.1,following,,,,,,,,,,,0.8000,,,,,,100,20,5,32,1,2,3,4,6,7,22,9,25,7,1.50,2.50,4.00,5.00
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// JSON holds everything, and what is not known is not there.
func TestWriteJSON(t *testing.T) {
	s := swept(t, planned(t, true, "verify.slope=0.2", "cluster.merge=direct,following"), true)
	var b bytes.Buffer
	if err := s.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back Sweep
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, s) {
		t.Errorf("got\n%+v\nwant\n%+v", back, s)
	}
	for _, text := range []string{`"coverage": 0.5`, `"missing": 2`, `"key": "verify.slope"`, `"value": "direct"`, `"slope": 0.1`} {
		if !strings.Contains(b.String(), text) {
			t.Errorf("no %s in\n%s", text, b.String())
		}
	}
	if strings.Contains(b.String(), "reserve") {
		t.Error("a rate that is not known")
	}
}

func TestPlots(t *testing.T) {
	keys := func(s Sweep) (out []string) {
		for _, p := range s.Plots() {
			var labels []string
			for _, pt := range p.points {
				labels = append(labels, pt.label)
			}
			out = append(out, p.Key+" ("+p.caption+") "+strings.Join(labels, " "))
		}
		return out
	}
	for _, c := range []struct {
		grid bool
		vary []string
		want []string
	}{
		// The base is a point of every plot, and 0 is the greatest of limits.
		{false, []string{"verify.slope=0.2,0.05", "cluster.merge=following", "text.max_columns=0,20000"},
			[]string{"verify.slope (all else as in the base) 0.05 0.1 0.2", "text.max_columns (all else as in the base) 20000 200000 0"}},
		{false, []string{"verify.slope=0.1"}, nil}, // one value only
		// The last has the best F1.
		{true, []string{"verify.slope=0.2,0.3", "sign.smallest=3,5"},
			[]string{"verify.slope (sign.smallest=5) 0.2 0.3", "sign.smallest (verify.slope=0.3) 3 5"}},
	} {
		if got := keys(swept(t, planned(t, c.grid, c.vary...), true)); !slices.Equal(got, c.want) {
			t.Errorf("%q:\n got %q\nwant %q", c.vary, got, c.want)
		}
	}
}

func TestWriteSVG(t *testing.T) {
	for _, labels := range []bool{false, true} {
		s := swept(t, planned(t, false, "verify.slope=0.2,0.3"), labels)
		var a, b bytes.Buffer
		for _, w := range []io.Writer{&a, &b} {
			plots := s.Plots()
			if len(plots) != 1 {
				t.Fatalf("%d plots", len(plots))
			}
			if err := plots[0].WriteSVG(w); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Error("two drawings differ")
		}
		var texts []string
		d := xml.NewDecoder(&a)
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if text, ok := token.(xml.CharData); ok {
				texts = append(texts, strings.TrimSpace(string(text)))
			}
		}
		for text, want := range map[string]bool{"verify.slope": true, "0.3": true, "trustable rate": true, "verify": true,
			"processor seconds": true, "announced F1": labels, "F1, closer": labels, "reserve rate": false} {
			if slices.Contains(texts, text) != want {
				t.Errorf("labels %v: %q is there: %v, among %q", labels, text, !want, texts)
			}
		}
	}
}
