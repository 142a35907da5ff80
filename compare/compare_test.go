package compare

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"neardup/configs"
	"neardup/report/figure"
	"neardup/sweep"
	"neardup/truth"
	"neardup/verify"
)

// update rewrites testdata:
//
//	go test ./compare -update
var update = flag.Bool("update", false, "rewrite testdata")

// presetNames are about as many and as long as the program's.
var presetNames = strings.Fields("default paper simhash shingling supershingles minhash-lsh allpairs ppjoin ppjoinplus lcs cosine simfinder")

// made returns a comparison of n methods whose numbers follow from their places.
func made(t *testing.T, n int, labels bool) Comparison {
	t.Helper()
	config, err := configs.Load("default", nil)
	if err != nil {
		t.Fatal(err)
	}
	var c Comparison
	for i, name := range presetNames[:n] {
		x := float64(i)
		m := Method{Name: name, Config: config, Joined: int64(5000 + 40*i),
			Counts: sweep.Counts{Pairs: int64(700 + 1000*i*i), Outcomes: verify.Outcomes{ByScore: 9, Near: int64(600 - i)}, Clusters: 90, Pages: 200 + int64(i), Largest: 30},
			Stages: []sweep.Cost{{Stage: "extract", Wall: 3, CPU: 2.5, Peak: 64e6}, {Stage: "sign", Wall: 1 + x/8, CPU: 1 + x/9, Peak: 32e6},
				{Stage: "cluster", Wall: 0.5, CPU: x / 5, Peak: 20e6 * int64(i)}, {Stage: "verify", Wall: x, CPU: 2 * x, Peak: 16e6}}}
		if labels {
			f := func(p, r float64) truth.F { return truth.F{Precision: p, Recall: r, F1: 2 * p * r / (p + r)} }
			curve := Curve{Method: name, Key: "verify.resemblance"}
			for s := range 9 {
				v := float64(s+1) / 10
				own := s == 4
				pt := Point{Value: fmt.Sprint(v), Own: own, Announced: f(1-(1-v)*(1-v)/(3+x), 1-v*v*v/(9-x/3)), Page: f(1-(1-v)*(1-v)/(4+x), 1-v*v*v/(9-x/3)), Pair: f(1-(1-v)*(1-v)/(2+x/2), 1-v*v/(6-x/4))}
				if own {
					m.Scores = &truth.Scores{Announced: pt.Announced, Page: pt.Page, Pair: pt.Pair, SameSite: 0.5}
				}
				curve.Points = append(curve.Points, pt)
			}
			c.Curves = append(c.Curves, curve)
		}
		for j, o := range c.Methods {
			c.Agreement = append(c.Agreement, NewAgreement(o.Name, name, o.Joined, m.Joined, 5000-int64(100*(i-j))))
		}
		c.Methods = append(c.Methods, m)
	}
	if labels {
		c.Truth = &sweep.TruthUse{Pages: 12, Missing: 2}
	}
	return c
}

func withDisputed(c Comparison) Comparison {
	c.Disputed = []Disputed{
		{Joins: "default", Parts: "paper", Pairs: 7, Shown: []DisputedPair{{Label: "near",
			Pages:      [2]Page{{"<urn:a>", "http://a.example/?q=\x1b[31m", "2024-01-01T00:00:00Z"}, {"<urn:b>", "http://b.example/" + strings.Repeat("b", 300), ""}},
			Scores:     [2]*Scores{{0.61234, 0.9}, nil},
			Difference: Differ("menu\none\nthe tin box\n", "menu\nthe tin cup\nothers\n")}}},
		{Joins: "paper", Parts: "default", Pairs: 0, Shown: []DisputedPair{}},
	}
	return c
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func TestWriteText(t *testing.T) {
	for name, c := range map[string]Comparison{
		"dozen.txt":  made(t, 12, false),
		"labels.txt": withDisputed(made(t, 2, true)),
		"single.txt": made(t, 1, false),
	} {
		var b bytes.Buffer
		if err := c.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.String())
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(strings.TrimRight(line, " \n"))); n > 80 && !strings.Contains(line, "http://") {
				t.Errorf("%s: a line of %d characters: %s", name, n, line)
			}
			if strings.ContainsRune(line, '\x1b') {
				t.Errorf("%s: an escape in %q", name, line)
			}
		}
	}
}

func TestWriteCSV(t *testing.T) {
	var b bytes.Buffer
	if err := made(t, 2, true).WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "labels.csv", b.String())
	b.Reset()
	if err := made(t, 12, false).WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(lines) != 13 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	cell := func(row int, name string) string {
		i := slices.Index(lines[0], name)
		if i < 0 {
			t.Fatalf("no column %s in %q", name, lines[0])
		}
		return lines[row][i]
	}
	for name, want := range map[string]string{"method": "lcs", "page_f1": "", "near": "591", "pairs_joined": "5360",
		"verify_cpu_seconds": "18.00", "cpu_seconds": "24.30", "seconds": "14.62", "cluster_peak_bytes": "180000000",
		"peak_bytes": "180000000", "jaccard_lcs": "1.0000", "jaccard_default": "0.6550"} {
		if got := cell(10, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// JSON holds everything.
func TestWriteJSON(t *testing.T) {
	c := withDisputed(made(t, 3, true))
	c.Disputed[0].Shown[0].Scores[0].Resemblance = 0.6123 // as it is written
	var b bytes.Buffer
	if err := c.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back Comparison
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, c) {
		t.Errorf("got\n%+v\nwant\n%+v", back, c)
	}
	if strings.ContainsRune(b.String(), '\x1b') {
		t.Error("an escape")
	}
}

// The plots name every method, and are the same every time.
func TestPlots(t *testing.T) {
	c := made(t, 12, true)
	c.Methods[3].Name, c.Curves[3].Method = "<a&b>", "<a&b>"
	for name, plot := range map[string]struct {
		write func(io.Writer) error
		texts []string
	}{
		"curves.svg":  {c.WriteCurvesSVG, []string{"recall, announced pages", "precision, announced pages", "recall, pairs", "precision, pairs"}},
		"quality.svg": {c.WriteQualitySVG, []string{"F1", "announced pages", "pairs"}},
		"cost.svg":    {c.WriteCostSVG, []string{"processor seconds", "extract", "sign", "cluster", "verify"}},
	} {
		var a, b bytes.Buffer
		for _, w := range []io.Writer{&a, &b} {
			if err := plot.write(w); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s: two drawings differ", name)
		}
		texts := svgTexts(t, &a)
		for _, m := range c.Methods {
			plot.texts = append(plot.texts, m.Name)
		}
		for _, text := range plot.texts {
			if !slices.Contains(texts, text) {
				t.Errorf("%s: no %q among %q", name, text, texts)
			}
		}
	}
}

func svgTexts(t *testing.T, r io.Reader) (texts []string) {
	t.Helper()
	d := xml.NewDecoder(r)
	for {
		token, err := d.Token()
		if err == io.EOF {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			texts = append(texts, strings.TrimSpace(string(text)))
		}
	}
}

func TestAxisHoldsEveryRate(t *testing.T) {
	for low := 0.0; low <= 1; low += 0.01 {
		var a figure.Axis
		showRates(&a, low)
		if a.Min >= low || a.Max <= 1 || a.Max-a.Min > 1.1 || low-a.Min > 0.2 {
			t.Errorf("from %v: %v to %v", low, a.Min, a.Max)
		}
		ticks := a.Ticks
		if len(ticks) < 3 || ticks[0].Value > low || ticks[len(ticks)-1].Value != 1 {
			t.Errorf("from %v: ticks %v", low, ticks)
		}
	}
}

func TestAmountTicks(t *testing.T) {
	for _, most := range []float64{0.001, 0.0777, 1, 1.99, 2, 4.9, 5, 9.99, 123, 86400, 1e7} {
		ticks := amountTicks(most)
		if n := len(ticks); n < 4 || n > 12 || ticks[0].Value != 0 || ticks[n-1].Value > most || ticks[n-1].Value < 0.75*most {
			t.Errorf("%v: %v", most, ticks)
		}
	}
	if got := fmt.Sprint(amountTicks(28.9)); got != "[{0 0} {5 5} {10 10} {15 15} {20 20} {25 25}]" {
		t.Errorf("28.9: %s", got)
	}
}

func TestShort(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1.0k", 9949: "9.9k", 9950: "10k", 999499: "999k", 999500: "1.0M",
		2210963: "2.2M", 1 << 62: "4.6E"} {
		if got := short(n); got != want || len(got) > 4 {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestShareIsOneForEqualsOnly(t *testing.T) {
	for x, want := range map[float64]string{0: ".00", 0.005: ".00", 0.5: ".50", 0.9999: ".99", 1: "1"} {
		if got := share(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}
