package exports_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"neardup/extract/container"
	"neardup/keep"
	"neardup/pipeline/exports"
	"neardup/pipeline/groups"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// Every page is in each form of the list of all pages, once, with the action that the
// keep list has for it.
func TestAllPages(t *testing.T) {
	dir := t.TempDir()
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.Crawl(t))
	w := pipetest.OpenWith(t, dir)
	rules := keep.Default()
	rules.Policy, rules.Resemblance = keep.Latest, 0.8
	want := map[string]string{}
	for d, err := range results.Documents[groups.DocumentView](w) {
		if err != nil {
			t.Fatal(err)
		}
		want[d.Row.RecordID] = "keep alone   "
	}
	list, err := csv.NewReader(bytes.NewReader(pipetest.ExportOf(t, w, exports.Options{Format: "keep", Keep: &rules}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(row []string, name string) string { return row[slices.Index(list[0], name)] }
	for _, row := range list[1:] {
		kept, score, lost := column(row, "kept"), column(row, "resemblance"), column(row, "lost")
		if column(row, "action") == "keep" {
			kept, score, lost = "", "", ""
		}
		want[column(row, "record_id")] = strings.Join([]string{column(row, "action"), column(row, "reason"), kept, score, lost}, " ")
	}
	check := func(format string, got map[string]string, n int) {
		t.Helper()
		for id, actions := range want {
			if got[id] != actions {
				t.Errorf("%s: %s: %q, want %q", format, id, got[id], actions)
			}
		}
		if n != len(want) || len(got) != n {
			t.Errorf("%s: %d pages, want %d", format, n, len(want))
		}
	}
	o := exports.Options{Keep: &rules, All: true}

	o.Format = "csv"
	var sum report.Kept
	o.Kept = &sum
	table, err := csv.NewReader(bytes.NewReader(pipetest.ExportOf(t, w, o))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, row := range table[1:] {
		got[row[3]] = strings.Join(row[len(row)-5:], " ")
	}
	check("csv", got, len(table)-1)
	if int(sum.Keep+sum.Review+sum.Redundant) != len(want) || sum.Redundant == 0 {
		t.Errorf("%+v", sum)
	}

	o.Format = "jsonl"
	got = map[string]string{}
	n := 0
	for d := json.NewDecoder(bytes.NewReader(pipetest.ExportOf(t, w, o))); d.More(); {
		var c report.Cluster
		if err := d.Decode(&c); err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Members {
			n++
			x := m.Chosen
			score, lost := "", ""
			if x.Resemblance != nil {
				b, _ := json.Marshal(x.Lost)
				score, lost = x.Resemblance.String(), string(b)
			}
			got[m.RecordID] = strings.Join([]string{string(x.Action), string(x.Reason), x.Kept, score, lost}, " ")
		}
	}
	check("jsonl", got, n)

	o.Format = "parquet"
	b := pipetest.ExportOf(t, w, o)
	type row struct {
		ID     string   `parquet:"record_id"`
		Path   string   `parquet:"warc_path"`
		Action string   `parquet:"action"`
		Reason string   `parquet:"reason"`
		Kept   *string  `parquet:"kept"`
		Score  *float64 `parquet:"kept_resemblance"`
		Lost   *int64   `parquet:"lost"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	got = map[string]string{}
	for _, r := range rows {
		kept, score, lost := "", "", ""
		if r.Kept != nil {
			kept = *r.Kept
		}
		if r.Score != nil {
			b, _ := json.Marshal(r.Lost)
			score, lost = report.Score(*r.Score).String(), string(b)
		}
		got[r.ID] = strings.Join([]string{r.Action, r.Reason, kept, score, lost}, " ")
	}
	check("parquet", got, len(rows))
}

// Files of one name are told apart: at the place that an export names, the record is.
// The halves of a crawl lie in two directories, and in two WACZ files.
func TestFilesOfOneNameAreToldApart(t *testing.T) {
	first, second, whole := halves(t)
	dir := t.TempDir()
	inputs := writeNamesakes(t, dir, first, second, whole)
	waczs := []string{writeWACZ(t, filepath.Join(dir, "one.wacz"), inputs[0]), writeWACZ(t, filepath.Join(dir, "two.wacz"), inputs[1])}
	for _, given := range [][]string{inputs[:2], {inputs[1], inputs[0]}, {dir + "/a/../a", dir + "/b"}, waczs, {inputs[2], inputs[0]}} {
		ws := t.TempDir()
		pipetest.RunAll(t, ws, pipetest.MustLoad(t), workspace.Options{}, given...)
		w := pipetest.OpenWith(t, ws)
		seen := map[string]int{}
		for c, err := range results.Clusters(context.Background(), w) {
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range c.Members {
				seen[m.Path+"!"+m.Entry]++
				if id := recordAt(t, m); id != m.RecordID {
					t.Errorf("%s %s %d: %s, want %s", m.Path, m.Entry, m.Offset, id, m.RecordID)
				}
			}
		}
		if len(seen) != 2 && len(given) == 2 && given[0] != inputs[2] {
			t.Errorf("%v: %v", given, seen)
		}
	}
}

// halves returns the records of the example crawl up to one of them, those from it
// on, and all.
func halves(t *testing.T) (first, second, whole []byte) {
	t.Helper()
	b, err := os.ReadFile(pipetest.Crawl(t))
	if err != nil {
		t.Fatal(err)
	}
	cut := offsets(t, b)[60]
	return b[:cut], b[cut:], b
}

// writeNamesakes writes each archive as data.warc.gz, into directories a, b and so on.
func writeNamesakes(t *testing.T, dir string, archives ...[]byte) (paths []string) {
	t.Helper()
	for i, archive := range archives {
		sub := filepath.Join(dir, string(rune('a'+i)))
		if err := os.Mkdir(sub, 0o777); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, pipetest.WriteFile(t, filepath.Join(sub, "data.warc.gz"), archive))
	}
	return paths
}

func offsets(t *testing.T, b []byte) (all []int64) {
	t.Helper()
	r, err := container.NewReader(bytes.NewReader(b), container.Position{}, pipetest.Limits)
	if err != nil {
		t.Fatal(err)
	}
	for raw, err := r.Next(); err != io.EOF; raw, err = r.Next() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, raw.Offset)
	}
	return all
}

// recordAt returns the id of the record at the place of a page.
func recordAt(t *testing.T, m report.Member) string {
	t.Helper()
	b, err := os.ReadFile(m.Path)
	if err != nil {
		t.Fatal(err)
	}
	var in io.ReaderAt = bytes.NewReader(b)
	if m.Entry != "" {
		members, err := container.Members(in, int64(len(b)), pipetest.Limits)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(members, func(e container.Member) bool { return e.Path == m.Entry })
		if in, err = members[i].Open(); err != nil {
			t.Fatal(err)
		}
	}
	r, err := container.NewReader(in, container.Position{Offset: m.Offset}, pipetest.Limits)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := r.Next()
	if err != nil {
		return err.Error()
	}
	for line := range strings.Lines(string(raw.Header)) {
		if id, ok := strings.CutPrefix(line, "WARC-Record-ID: "); ok {
			return strings.TrimSpace(id)
		}
	}
	return ""
}

// A corpus has the texts of the pages that stay, as one file or as shards, as JSON
// lines or in Parquet; with all, those of every page.
func TestCorpus(t *testing.T) {
	dir := t.TempDir()
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.Crawl(t))
	w := pipetest.OpenWith(t, dir)
	ctx := context.Background()
	lines := func(b []byte) (pages []report.CorpusPage) {
		for d := json.NewDecoder(bytes.NewReader(b)); d.More(); {
			var p report.CorpusPage
			if err := d.Decode(&p); err != nil {
				t.Fatal(err)
			}
			pages = append(pages, p)
		}
		return pages
	}
	all := lines(pipetest.ExportOf(t, w, exports.Options{Format: "corpus", All: true}))
	var want []report.CorpusPage
	languages := map[string]bool{}
	for _, p := range all {
		id, err := layout.ParseTextID(p.TextID)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := results.TextOf(w, id); err != nil || text != p.Text || text == "" || p.Host == "" || p.Digest == "" {
			t.Errorf("%+v (%v)", p, err)
		}
		languages[p.Language] = true
		if p.Action != report.ActionRedundant {
			want = append(want, p)
		}
	}
	if len(want) == 0 || len(want) == len(all) || !languages["en"] || !languages["de"] || !languages["ja"] {
		t.Errorf("%d of %d pages stay; languages %v", len(want), len(all), languages)
	}
	var sum report.Kept
	got := lines(pipetest.ExportOf(t, w, exports.Options{Format: "corpus", Kept: &sum}))
	if !slices.Equal(got, want) || int(sum.Keep+sum.Review) != len(want) {
		t.Errorf("%d pages, want %d (%+v)", len(got), len(want), sum)
	}
	b := pipetest.ExportOf(t, w, exports.Options{Format: "corpus-parquet"})
	rows, err := parquet.Read[report.CorpusPage](bytes.NewReader(b), int64(len(b)))
	if err != nil || !slices.Equal(rows, want) {
		t.Errorf("parquet: %d rows (%v)", len(rows), err)
	}
	shards := filepath.Join(t.TempDir(), "shards")
	const size = 20_000
	if err := exports.WriteDirectory(ctx, w, exports.Options{Format: "corpus", ShardSize: size}, shards); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(shards)
	if err != nil || len(files) < 3 {
		t.Fatalf("%v (%v)", files, err)
	}
	got = nil
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(shards, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		bytes := 0
		pages := lines(b)
		for _, p := range pages {
			bytes += len(p.Text)
		}
		if bytes > size && len(pages) > 1 {
			t.Errorf("%s has %d bytes of text", f.Name(), bytes)
		}
		got = append(got, pages...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("shards: %d pages, want %d", len(got), len(want))
	}
	if err := exports.WriteDirectory(ctx, w, exports.Options{Format: "corpus", ShardSize: size}, shards); err == nil {
		t.Error("a directory with files was written to")
	}
	dir = t.TempDir()
	setting := "text.frames=0"
	pipetest.RunAll(t, dir, pipetest.MustLoad(t, setting), workspace.Options{}, pipetest.Crawl(t))
	w = pipetest.OpenWith(t, dir, setting)
	if err := exports.Write(ctx, w, exports.Options{Format: "corpus", Clean: true}, io.Discard); !errors.Is(err, workspace.ErrUsage) {
		t.Errorf("clean without frames: %v", err)
	}

	dir = t.TempDir()
	setting = "text.frames=2"
	pipetest.RunAll(t, dir, pipetest.MustLoad(t, setting, "extract.clean=none"), workspace.Options{}, pipetest.Crawl(t))
	w = pipetest.OpenWith(t, dir, setting, "extract.clean=none")
	clean, whole := 0, 0
	for _, p := range lines(pipetest.ExportOf(t, w, exports.Options{Format: "corpus", All: true, Clean: true})) {
		clean += len(p.Text)
	}
	for _, p := range lines(pipetest.ExportOf(t, w, exports.Options{Format: "corpus", All: true})) {
		whole += len(p.Text)
	}
	if clean >= whole || clean == 0 {
		t.Errorf("%d bytes without frames, %d with them", clean, whole)
	}
}

// TestVisible: all of the visible text stays stored beside the main content, and is
// what a run with clean: none keeps.
func TestVisible(t *testing.T) {
	texts := func(o exports.Options, settings ...string) map[string]string {
		dir := t.TempDir()
		pipetest.RunAll(t, dir, pipetest.MustLoad(t, settings...), workspace.Options{}, pipetest.Crawl(t))
		w := pipetest.OpenWith(t, dir, settings...)
		if err := exports.Write(t.Context(), w, exports.Options{Format: "corpus", Clean: true, Visible: true}, io.Discard); !errors.Is(err, workspace.ErrUsage) {
			t.Errorf("clean and visible: %v", err)
		}
		out := map[string]string{}
		revisits := map[string]bool{} // they have nothing around the text of the capture that they repeat
		for c := range strings.Lines(string(pipetest.ExportOf(t, w, exports.Options{Format: "jsonl", All: true}))) {
			var cluster report.Cluster
			if err := json.Unmarshal([]byte(c), &cluster); err != nil {
				t.Fatal(err)
			}
			for _, m := range cluster.Members {
				revisits[m.RecordID] = m.RevisitOf != ""
			}
		}
		for p := range strings.Lines(string(pipetest.ExportOf(t, w, o))) {
			var page report.CorpusPage
			if err := json.Unmarshal([]byte(p), &page); err != nil {
				t.Fatal(err)
			}
			if !revisits[page.RecordID] {
				out[page.RecordID] = page.Text
			}
		}
		return out
	}
	none := texts(exports.Options{Format: "corpus", All: true}, "extract.clean=none")
	visible := texts(exports.Options{Format: "corpus", All: true, Visible: true}, "extract.clean=main")
	main := texts(exports.Options{Format: "corpus", All: true}, "extract.clean=main")
	if !maps.Equal(none, visible) || len(none) == 0 {
		t.Errorf("%d pages with clean: none, %d visible; or their texts differ", len(none), len(visible))
	}
	if maps.Equal(main, visible) {
		t.Error("the main content of all pages is all that is visible: nothing was tested")
	}
}

// A page of which only a part was read is never redundant, even if a kept page has
// all that was read of it.
func TestPagesReadInPartStay(t *testing.T) {
	var lines strings.Builder
	for i := range 120 {
		fmt.Fprintf(&lines, "<p>Line %d of the minutes is about matter %d – the council puts it off until %d.</p>\n", i, i*7919%1000, 2000+i*31%97)
	}
	const text, short = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000000\r\n\r\n"
	for name, x := range map[string]struct{ maxText, header, first, second, want string }{
		"whole":           {"1000000", text, "for it", "against it", "keep policy 0, redundant covered 11"},
		"over the limit":  {"4096", text, "for it", "against it", "keep policy 0, review clipped 0"},
		"not all stored":  {"1000000", short, "for it", "for it", "keep policy 0, review clipped 0"},
		"damaged":         {"1000000", text, "for it", "for it", "keep policy 0, review clipped 0"},
		"not all decoded": {"1000000", text, "\xf5\xf0\xdd\xf1", "\xea\xe1\xf4\xdc", "keep policy 0, review clipped 0"}, // for and against, in Greek of iso-8859-7
	} {
		dir := t.TempDir()
		settings := "extract.max_text_bytes=" + x.maxText
		capture := func(day int, vote string) []byte {
			var digest []string
			if name == "damaged" && day == 1 {
				digest = []string{"WARC-Block-Digest: sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"}
			}
			return pipetest.Archived("response", fmt.Sprint(day), "http://a.example/minutes", day, x.header+lines.String()+"<p>The vote was "+vote+".", digest...)
		}
		file := pipetest.WriteRecords(t, capture(1, x.first), capture(2, x.second))
		pipetest.RunAll(t, dir, pipetest.MustLoad(t, settings), workspace.Options{}, file)
		rules := keep.Default()
		rules.Resemblance = 0.9
		list, err := csv.NewReader(bytes.NewReader(pipetest.ExportOf(t, pipetest.OpenWith(t, dir, settings), exports.Options{Format: "keep", Keep: &rules}))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, row := range list[1:] {
			got = append(got, strings.Join([]string{row[1], row[2], row[slices.Index(list[0], "lost")]}, " "))
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// Text that was made from a capture replaces no capture, whatever the policy. No revisit gets
// its text where the capture is there.
func TestDerivedTextReplacesNoCapture(t *testing.T) {
	var records [][]byte
	for i := range 12 {
		var lines strings.Builder
		for j := range 8 {
			fmt.Fprintf(&lines, "<p>The report %d says in line %d that the matter of %d is put off until %d, and no one minds.</p>\n", i, j, (i+1)*7919%1000, 1000+i*53+j*31)
		}
		uri := fmt.Sprintf("http://a.example/%d", i)
		text := strings.NewReplacer("<p>", "", "</p>", "").Replace(lines.String()) + "Imprint and contact.\n"
		records = append(records,
			pipetest.Archived("response", fmt.Sprintf("b%d", i), uri, 1, pipetest.OkHTML+lines.String()),
			pipetest.Archived("revisit", fmt.Sprintf("c%d", i), uri, 3, "", "WARC-Refers-To-Target-URI: "+uri, "WARC-Refers-To-Date: 2020-01-01T00:00:00Z"),
			bytes.Replace(pipetest.Archived("conversion", fmt.Sprintf("a%d", i), uri, 1, text), []byte("application/http; msgtype=response"), []byte("text/plain"), 1),
			bytes.Replace(pipetest.Archived("conversion", fmt.Sprintf("d%d", i), uri, 2, text), []byte("application/http; msgtype=response"), []byte("text/plain"), 1))
	}
	dir := t.TempDir()
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.WriteRecords(t, records...))
	w := pipetest.OpenWith(t, dir)
	for _, policy := range []keep.Policy{keep.Earliest, keep.Latest, keep.Longest} {
		rules := keep.Default()
		rules.Policy, rules.Resemblance, rules.MaxLost, rules.AllowLostURIs = policy, 0.9, -1, true
		list, err := csv.NewReader(bytes.NewReader(pipetest.ExportOf(t, w, exports.Options{Format: "keep", Keep: &rules}))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		redundant := map[byte]int{}
		for _, row := range list[1:] {
			id, kept, of := row[slices.Index(list[0], "record_id")], row[slices.Index(list[0], "kept")], row[slices.Index(list[0], "revisit_of")]
			letter := id[len("<urn:test:")]
			if letter == 'c' && of[len("<urn:test:")] != 'b' {
				t.Errorf("%s repeats %s", id, of)
			}
			if row[1] != "redundant" {
				continue
			}
			redundant[letter]++
			if of := kept[len("<urn:test:")]; of == 'a' || of == 'd' {
				t.Errorf("%s: %s is redundant because of %s", policy, id, kept)
			}
		}
		if redundant['b'] != 0 || redundant['a'] == 0 || redundant['c'] != 12 {
			t.Errorf("%s: %v are redundant", policy, redundant)
		}
	}
}

// A page with little text, which a script fills, is redundant only because of its payload. A
// corpus has its text once all the same.
func TestPagesOfScriptsStay(t *testing.T) {
	capture := func(day int, data string) []byte {
		return pipetest.Archived("response", fmt.Sprint(day), "http://a.example/app", day, pipetest.OkHTML+"<div id=root>Loading the page for you.</div><script>"+data+"</script>")
	}
	dir := t.TempDir()
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.WriteRecords(t,
		capture(1, "one"), capture(2, "two"), capture(3, "one"), pipetest.Archived("revisit", "4", "http://a.example/app", 4, "", "WARC-Refers-To: <urn:test:2>"), capture(5, "three")))
	w := pipetest.OpenWith(t, dir)
	for minText, want := range map[int]string{0: "keep policy, redundant covered, redundant covered, redundant covered, redundant covered", 10: "keep policy, redundant covered, redundant covered, redundant covered, redundant covered",
		200: "keep policy, keep covers, redundant covered, redundant covered, review little"} {
		rules := keep.Default()
		rules.MinText = minText
		list, err := csv.NewReader(bytes.NewReader(pipetest.ExportOf(t, w, exports.Options{Format: "keep", Keep: &rules}))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		got := make([]string, len(list)-1)
		for _, row := range list[1:] {
			at, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(row[slices.Index(list[0], "record_id")], "<urn:test:"), ">"))
			if err != nil {
				t.Fatal(err)
			}
			got[at-1] = row[1] + " " + row[2]
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%d: %q, want %q", minText, got, want)
		}
	}
	if n := bytes.Count(pipetest.ExportOf(t, w, exports.Options{Format: "corpus"}), []byte("\n")); n != 1 {
		t.Errorf("%d texts in the corpus", n)
	}
}

// A revisit stays if only text that was made from a capture has its text. So its URI keeps a
// record.
func TestRevisitOfDerivedTextStays(t *testing.T) {
	const uri = "http://a.example/x"
	text := strings.Repeat("The council put the matter off, and no one minded that it did so again. ", 9)
	dir := t.TempDir()
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.WriteRecords(t,
		bytes.Replace(pipetest.Archived("conversion", "1", uri, 1, text), []byte("application/http; msgtype=response"), []byte("text/plain"), 1),
		pipetest.Archived("revisit", "2", uri, 2, "", "WARC-Refers-To-Target-URI: "+uri, "WARC-Refers-To-Date: 2020-01-01T00:00:00Z")))
	rules := keep.Default()
	rules.AllowLostURIs = true
	list := string(pipetest.ExportOf(t, pipetest.OpenWith(t, dir), exports.Options{Format: "keep", Keep: &rules}))
	if n := strings.Count(list, "\n"); n != 3 || strings.Contains(list, "redundant") {
		t.Error(list)
	}
}
