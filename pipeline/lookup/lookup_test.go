package lookup_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"neardup/cluster"
	"neardup/extract"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/lookup"
	"neardup/pipeline/reading"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/signature"
)

// all is more matches than any page has here.
const all = 1000

func open(t *testing.T, w *workspace.Workspace) *lookup.Index {
	t.Helper()
	x, err := lookup.Open(w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// answers looks up the pages of a file.
func answers(t *testing.T, x *lookup.Index, file string) (out []report.Answer) {
	t.Helper()
	sources, _, err := inputs.Find(t.Context(), t.TempDir(), []string{file}, nil, pipetest.Limits)
	if err != nil {
		t.Fatal(err)
	}
	_, err = x.Sources(t.Context(), sources, reading.Options{Workers: 2, Progress: workspace.Silent{}, PageURI: func(inputs.Source) string { return "" }}, all,
		func(a report.Answer) error { out = append(out, a); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// verdict is what two texts are to each other.
type verdict struct {
	Relation                 report.Relation
	Resemblance, Containment report.Score
}

// found are the matches of an answer, but for the text itself.
func found(a report.Answer) map[string]verdict {
	out := map[string]verdict{}
	for _, m := range a.Matches {
		if m.Relation != report.Identical {
			out[m.TextID] = verdict{m.Relation, m.Resemblance, m.Containment}
		}
	}
	return out
}

// postings are the workspace's signatures and their texts.
type postings struct {
	texts      map[signature.Signature][]cluster.Key
	signatures map[rows.TextID][]signature.Signature
	keys       map[rows.TextID]cluster.Key
}

func readPostings(t *testing.T, w *workspace.Workspace) postings {
	t.Helper()
	out := postings{map[signature.Signature][]cluster.Key{}, map[rows.TextID][]signature.Signature{}, map[rows.TextID]cluster.Key{}}
	for r, err := range w.DB.Table(layout.TablePosting) {
		if err != nil {
			t.Fatal(err)
		}
		p, err := layout.ParsePostingKey(r.Key())
		if err != nil {
			t.Fatal(err)
		}
		id := p.Key.ID()
		out.texts[p.Signature] = append(out.texts[p.Signature], p.Key)
		out.signatures[id] = append(out.signatures[id], p.Signature)
		out.keys[id] = p.Key
	}
	return out
}

// expected is the slow way to what a lookup of a text of the workspace finds: all texts
// that share a signature are read as the stage verify reads them, and judged.
func (p postings) expected(t *testing.T, w *workspace.Workspace, id rows.TextID) map[string]verdict {
	t.Helper()
	sharing := map[cluster.Key]bool{}
	for _, s := range p.signatures[id] {
		for _, k := range p.texts[s] {
			sharing[k] = k.ID() != id
		}
	}
	reader, j, own := results.OpenReader(w), dataflow.Judge(w.Config), p.keys[id]
	out := map[string]verdict{}
	for k, isOther := range sharing {
		if !isOther {
			continue
		}
		first, second := k, own
		if own.Compare(k) < 0 {
			first, second = own, k
		}
		a, err := reader.Prepare(j, first.ID())
		b, err2 := reader.Prepare(j, second.ID())
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		d := j.Decide(j.Measure.Comparer(), a, b)
		if !d.Near {
			continue
		}
		score := dataflow.ScoreOf(d)
		if first == own {
			score = score.Inverse()
		}
		other := k.ID()
		out[hex.EncodeToString(other[:])] = verdict{score.Relation, report.Score(score.Resemblance), report.Score(score.Containment)}
	}
	return out
}

// Each page of the example is looked up from its own file: it is there, in its cluster,
// with all that is near it among the texts that share a signature.
func TestPagesOfTheArchive(t *testing.T) {
	crawl, dir := pipetest.Crawl(t), filepath.Join(t.TempDir(), "ws")
	exported := pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{Workers: 2}, crawl)
	w := pipetest.OpenWith(t, dir)
	clusterOf := map[string]string{} // by record id
	mates := 0
	for line := range bytes.Lines(exported) {
		var c report.Cluster
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Members {
			clusterOf[m.RecordID] = c.ID
			if m.Relation == report.Near {
				mates++
			}
		}
	}
	signed := readPostings(t, w)
	seen, near, contained := 0, 0, 0
	for _, a := range answers(t, open(t, w), crawl) {
		seen++
		if a.Verdict != report.VerdictIdentical || a.Cluster != clusterOf[a.Page.RecordID] {
			t.Errorf("%s: %s in cluster %q, want %q", a.Page.URI, a.Verdict, a.Cluster, clusterOf[a.Page.RecordID])
		}
		if a.Matches[0].URI != a.Page.URI || a.Matches[0].Latest < a.Page.Date || a.Matches[0].Earliest == "" || a.Matches[0].Earliest > a.Page.Date {
			t.Errorf("%s of %s: best match %+v", a.Page.URI, a.Page.Date, a.Matches[0])
		}
		id, err := layout.ParseTextID(a.Page.TextID)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := found(a), signed.expected(t, w, id); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: found %v, want %v", a.Page.URI, got, want)
		}
		for _, m := range a.Matches {
			switch m.Relation {
			case report.Near:
				near++
				if m.Cluster != a.Cluster || a.Cluster == "" {
					t.Errorf("%s is near %s, in cluster %s and not %s", a.Page.URI, m.URI, m.Cluster, a.Cluster)
				}
			case report.Contained, report.Contains:
				contained++
			}
		}
	}
	if seen < 90 || near < mates || contained < 2 {
		t.Errorf("%d pages looked up, %d near and %d contained; there are %d near members", seen, near, contained, mates)
	}
}

// line is a line of a text collection.
type line struct {
	ID   string `json:"id"`
	URL  string `json:"url"`
	Date string `json:"date"`
	Text string `json:"text"`
}

func writeLines(t *testing.T, lines []line) string {
	t.Helper()
	var b bytes.Buffer
	for _, l := range lines {
		if err := json.NewEncoder(&b).Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "pages.jsonl")
	pipetest.WriteFile(t, path, b.Bytes())
	return path
}

// A page that the archive does not have gets the verdicts on its pairs that a run over
// the archive and the page gives.
func TestPagesThatAreNew(t *testing.T) {
	first := filepath.Join(t.TempDir(), "first")
	pipetest.RunAll(t, first, pipetest.MustLoad(t), workspace.Options{Workers: 2}, pipetest.Crawl(t))
	var lines []line
	w := pipetest.OpenWith(t, first)
	for d, err := range results.Documents[rows.Document](w) {
		if err != nil {
			t.Fatal(err)
		}
		id, err := layout.ParseTextID(d.Row.TextID)
		if err != nil {
			t.Fatal(err)
		}
		text, err := results.TextOf(w, id)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line{d.ID.String(), d.Row.TargetURI, d.Row.Date, text})
	}
	const every = 12
	near, unknown := 0, 0
	for held := 0; held < len(lines); held += every {
		text := lines[held].Text
		left := slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.Text == text })
		dir := filepath.Join(t.TempDir(), "ws")
		pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{Workers: 2}, writeLines(t, left))
		page := writeLines(t, lines[held:held+1])
		w := pipetest.OpenWith(t, dir)
		got := answers(t, open(t, w), page)
		all := filepath.Join(t.TempDir(), "all")
		pipetest.RunAll(t, all, pipetest.MustLoad(t), workspace.Options{Workers: 2}, writeLines(t, append(left, lines[held])))
		id := extract.TextID(text)
		withIt := pipetest.OpenWith(t, all)
		want := readPostings(t, withIt).expected(t, withIt, id)
		if len(got) != 1 || !reflect.DeepEqual(found(got[0]), want) {
			t.Errorf("%s: %+v, want %v", lines[held].URL, got, want)
		}
		switch {
		case len(got) == 1 && got[0].Verdict == report.VerdictNear:
			near++
		case len(got) == 1 && got[0].Verdict == report.VerdictNew:
			unknown++
		}
	}
	if near < 3 || unknown < 3 {
		t.Errorf("%d pages near and %d new: the test shows little", near, unknown)
	}
}

const sentence = "Sentence number %d of page %d tells how the old harbour was built and burnt down again. "

// textOf is the text of a page of one site, all of whose pages share sentences.
func textOf(page int) string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, sentence, i, page)
	}
	return b.String()
}

func small(t *testing.T, settings ...string) *workspace.Workspace {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	var texts []string
	for i := range 30 {
		texts = append(texts, textOf(i))
	}
	pipetest.RunAll(t, dir, pipetest.MustLoad(t, settings...), workspace.Options{Workers: 2}, pipetest.WriteTexts(t, 0, texts))
	return pipetest.OpenWith(t, dir, settings...)
}

// A page of figures is near its other captures by its sentences, and shares their
// cluster.
func TestAskedForFigures(t *testing.T) {
	const url = "https://rooms.example/list"
	figures := func(first int) string {
		b := "The rooms are counted each morning. They are swept in the evening. Nobody sleeps in them at noon.\n"
		for i := range 30 {
			b += fmt.Sprintf("%c%c room %d\n", 'a'+i, 'b'+i, first+7*i*i)
		}
		return b
	}
	lines := []line{{pipetest.TextURN(1), url + "?1", "2024-01-01T00:00:00Z", figures(11111)}, {pipetest.TextURN(2), url + "?2", "2024-02-01T00:00:00Z", figures(55555)}}
	dir := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{Workers: 2}, writeLines(t, lines))
	a, err := open(t, pipetest.OpenWith(t, dir)).Page(t.Context(), lookup.Asked{URI: url, ContentType: "text/plain", Body: []byte(figures(33333))}, 2)
	if err != nil || a.Verdict != report.VerdictNear || a.Cluster == "" || len(a.Matches) != 2 || a.Matches[0].Relation != report.Alike {
		t.Errorf("%+v, %v", a, err)
	}
}

// An asked page may be HTML or plain text, with and without a type and a URI, or none.
func TestAsked(t *testing.T) {
	x := open(t, small(t))
	html := "<html><head><title>a</title></head><body><p>" + strings.ReplaceAll(textOf(3), ". ", ".</p>\n<p>") + "</p></body></html>"
	for _, tt := range []struct {
		name    string
		asked   lookup.Asked
		verdict string
		reason  string
	}{
		{"plain", lookup.Asked{Body: []byte(textOf(3))}, report.VerdictNear, ""},
		{"HTML", lookup.Asked{URI: "https://example.org/a", ContentType: "text/html; charset=utf-8", Body: []byte(html)}, report.VerdictNear, ""},
		{"HTML without a type", lookup.Asked{Body: []byte(html)}, report.VerdictNear, ""},
		{"new", lookup.Asked{Body: []byte(strings.Repeat("Nobody has said so before, and nobody will. ", 20))}, report.VerdictNew, ""},
		{"nothing", lookup.Asked{}, report.VerdictNoPage, string(extract.ReasonEmpty)},
		{"an image", lookup.Asked{ContentType: "image/png", Body: []byte("\x89PNG\r\n\x1a\n")}, report.VerdictNoPage, string(extract.ReasonMediaType)},
		{"a coding", lookup.Asked{ContentType: "text/html", Coding: "deflate", Body: deflated(html)}, report.VerdictNear, ""},
		{"a coding without a type", lookup.Asked{Coding: "deflate", Body: deflated(html)}, report.VerdictNear, ""},
		{"a type of two lines", lookup.Asked{ContentType: "text/html\r\nX: y", Body: []byte(html)}, report.VerdictNear, ""},
	} {
		a, err := x.Page(t.Context(), tt.asked, 1)
		if err != nil || a.Verdict != tt.verdict && !(tt.verdict == report.VerdictNear && a.Verdict == report.VerdictIdentical) || a.Reason != tt.reason {
			t.Errorf("%s: %+v, %v; want %s", tt.name, a, err, tt.verdict)
		}
		if tt.verdict == report.VerdictNew && (a.Page.Signatures == 0 || a.Work.Lists != 0) {
			t.Errorf("%s: %d signatures, of which no text has one, and %d lists", tt.name, a.Page.Signatures, a.Work.Lists)
		}
		if a.Page.RecordID != "" {
			t.Errorf("%s: the record ID %q, which nobody gave", tt.name, a.Page.RecordID)
		}
		if a.Page.URI != tt.asked.URI || len(a.Matches) > 1 {
			t.Errorf("%s: page %+v, %d matches", tt.name, a.Page, len(a.Matches))
		}
		if tt.verdict == report.VerdictNear && (len(a.Matches) == 0 || a.Matches[0].RecordID != "<"+pipetest.TextURN(3)+">") {
			t.Errorf("%s: matches %+v", tt.name, a.Matches)
		}
	}
	for _, uri := range []string{"https://a/\r\nWARC-Type: warcinfo", "https://a/" + strings.Repeat("b", 8<<10)} {
		if _, err := x.Page(t.Context(), lookup.Asked{URI: uri, Body: []byte("a")}, 1); !errors.Is(err, workspace.ErrUsage) {
			t.Errorf("%.40q: %v", uri, err)
		}
	}
}

// deflated compresses a page as servers do with Content-Encoding deflate.
func deflated(page string) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(page))
	_ = w.Close()
	return b.Bytes()
}

// Lookups at the same time say what they say one by one.
func TestConcurrent(t *testing.T) {
	x := open(t, small(t))
	ask := func(page int) report.Answer {
		a, err := x.Page(t.Context(), lookup.Asked{Body: []byte(textOf(page) + "One more.")}, 3)
		if err != nil {
			t.Error(err)
		}
		return a
	}
	var want []report.Answer
	for i := range 30 {
		want = append(want, ask(i))
	}
	var g sync.WaitGroup
	for from := range 4 {
		g.Go(func() {
			for i := range 30 {
				page := (i + 7*from) % 30
				if got := ask(page); !reflect.DeepEqual(got, want[page]) {
					t.Errorf("page %d: %+v, alone %+v", page, got, want[page])
				}
			}
		})
	}
	g.Wait()
}

// The lists that are read are bounded, and those that are not are counted. So are
// deleted ones.
func TestBounds(t *testing.T) {
	x := open(t, small(t))
	page := lookup.Asked{Body: []byte(textOf(5) + "One more.")}
	whole, err := x.Page(t.Context(), page, all)
	if err != nil || whole.Work.Unread != 0 || whole.Work.Candidates == 0 || len(whole.Matches) == 0 {
		t.Fatalf("%+v, %v", whole.Work, err)
	}
	x.SetLimit(2)
	a, err := x.Page(t.Context(), page, all)
	if err != nil || a.Work.Unread == 0 || a.Work.Lists+a.Work.Deleted+a.Work.Unread < whole.Work.Lists {
		t.Errorf("%+v, %v; without the bound %+v", a.Work, err, whole.Work)
	}
	x = open(t, small(t, "verify.max_scored=1"))
	a, err = x.Page(t.Context(), lookup.Asked{Body: []byte(textOf(5) + textOf(6) + textOf(7))}, all)
	if err != nil || a.Work.Compared != 1 || a.Work.OverBudget == 0 || a.Work.Compared+a.Work.OverBudget != a.Work.Candidates {
		t.Errorf("%+v, %v", a.Work, err)
	}
}

// Lists that a run deletes make no candidates.
func TestDeletedLists(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	same := "All of these pages say that the ferry leaves at noon today. " + "The second sentence of all these pages is about the bridge. " + "And the third one is about the new town hall of the place. "
	var texts []string
	for i := range 5 {
		texts = append(texts, same+fmt.Sprintf("Page %d. ", i))
	}
	pipetest.RunAll(t, dir, pipetest.MustLoad(t, "cluster.max_list=4"), workspace.Options{Workers: 2}, pipetest.WriteTexts(t, 0, texts))
	x := open(t, pipetest.OpenWith(t, dir, "cluster.max_list=4"))
	a, err := x.Page(t.Context(), lookup.Asked{Body: []byte(same + "Page 9. ")}, all)
	if err != nil || a.Verdict != report.VerdictNew || a.Work.Deleted == 0 || a.Work.Candidates != 0 {
		t.Errorf("%+v, %v", a, err)
	}
}

// Who comes when many wait is told so; who gives up while waiting is let go.
func TestBusy(t *testing.T) {
	x := open(t, small(t))
	release := x.Hold()
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, x.MaxWaiting())
	for range x.MaxWaiting() {
		go func() {
			_, err := x.Page(ctx, lookup.Asked{Body: []byte("a")}, 1)
			failed <- err
		}()
	}
	for x.Waiting() < x.MaxWaiting() {
		time.Sleep(time.Millisecond)
	}
	if _, err := x.Page(t.Context(), lookup.Asked{Body: []byte("a")}, 1); !errors.Is(err, lookup.ErrBusy) {
		t.Errorf("over the bound: %v", err)
	}
	cancel()
	for range x.MaxWaiting() {
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
	release()
	if a, err := x.Page(t.Context(), lookup.Asked{Body: []byte(textOf(2))}, 1); err != nil || len(a.Matches) != 1 {
		t.Errorf("afterwards: %+v, %v", a, err)
	}
}

// Methods that find candidates otherwise are refused, and so is a run that is not done.
func TestRefused(t *testing.T) {
	w := small(t)
	for _, settings := range [][]string{{"verify.resemblance=0.6"}, {"sign.scheme=simhash", "cluster.search=hamming", "verify.measure=search"}} {
		if x, err := lookup.Open(w.With(pipetest.MustLoad(t, settings...))); !errors.Is(err, workspace.ErrUsage) {
			t.Errorf("%v: %v", settings, err)
			if err == nil {
				_ = x.Close()
			}
		}
	}
}

// A page of a web server is read up to the limit of a record, with its type, and what is
// no page there is an input that could not be read.
func TestFetch(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			fmt.Fprint(w, textOf(4)+"One more.")
		case "/coded": // unasked
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Content-Encoding", "deflate")
			z := zlib.NewWriter(w)
			fmt.Fprint(z, textOf(4)+"One more.")
			_ = z.Close()
		case "/moved":
			http.Redirect(w, r, "/page#top", http.StatusFound)
		case "/circle":
			http.Redirect(w, r, "/circle", http.StatusFound)
		case "/large":
			_, _ = w.Write(bytes.Repeat([]byte("a"), 300_000))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	x := open(t, small(t, "extract.max_record_bytes=200000"))
	for path, final := range map[string]string{"/page": "/page", "/moved": "/page", "/coded": "/coded"} {
		p, err := lookup.Fetch(t.Context(), server.URL+path, 200_000)
		if err != nil || p.URI != server.URL+final {
			t.Fatal(p.URI, err)
		}
		if a, err := x.Page(t.Context(), p, 1); err != nil || a.Verdict != report.VerdictNear {
			t.Errorf("%s: %+v, %v", path, a, err)
		}
	}
	for path, want := range map[string]error{"/none": workspace.ErrInputFailure, "/circle": workspace.ErrInputFailure, "/large": workspace.ErrInputFailure} {
		if _, err := lookup.Fetch(t.Context(), server.URL+path, 200_000); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := lookup.Fetch(t.Context(), "http://user:word@localhost/", 200_000); !errors.Is(err, workspace.ErrUsage) {
		t.Error(err)
	}
}
