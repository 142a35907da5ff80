package pipeline_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"

	"neardup/configs"
	"neardup/pipeline/exports"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// good returns a page that has to come through.
func good(name string) string {
	return pipetest.PageRecord("http://good.test/"+name, "2020-01-01T00:00:00Z", "<p>The page "+name+" is all right.", 0)
}

// warnings collects what a run warns of.
type warnings struct {
	workspace.Silent
	mu   sync.Mutex
	said []string
}

func (w *warnings) Warn(message string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, message+" "+strings.TrimSuffix(fmt.Sprintln(args...), "\n"))
}

// extractOnly runs the first stage on the inputs in dir.
func extractOnly(t *testing.T, dir string, config configs.Config, paths ...string) (said []string, err error) {
	t.Helper()
	var p warnings
	w, err := workspace.Open(dir, stages.All, config, true, workspace.Options{Workers: 2, Progress: &p})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	sources, _, err := inputs.Find(t.Context(), dir, paths, nil, config.Extract.Limits)
	if err != nil {
		t.Fatal(err)
	}
	err = w.Run(context.Background(), "extract", "extract", sources)
	return p.said, err
}

// Each hostile file stands between two good pages, which come through; what it
// costs is counted, and said where it is damage.
func TestHostileFilesAreAccountedFor(t *testing.T) {
	a, z := good("a"), good("z")
	many := strings.Repeat
	million := 1_000_000
	if pipetest.Raced {
		million /= 4
	}
	gz := func(records ...string) []byte {
		var b bytes.Buffer
		for _, r := range records {
			w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
			_, _ = w.Write([]byte(r))
			_ = w.Close()
		}
		return b.Bytes()
	}
	// A page of n letters, of which none are held: 1 MiB at a time.
	huge := func(w io.Writer, n int64) {
		page := pipetest.PageRecord("http://bad.test/", "2020-01-01T00:00:00Z", "<p>word ", 0)
		page = pipetest.PageRecord("http://bad.test/", "2020-01-01T00:00:00Z", "<p>word ", int64(len(page)-strings.Index(page, "HTTP/1.1")-len("\r\n\r\n"))+n)
		_, _ = io.WriteString(w, strings.TrimSuffix(page, "\r\n\r\n"))
		letters := bytes.Repeat([]byte{'a'}, 1<<20)
		for ; n > 0; n -= int64(len(letters)) {
			_, _ = w.Write(letters)
		}
		_, _ = io.WriteString(w, "\r\n\r\n")
	}
	hugeSize := int64(256 << 20)
	if pipetest.Raced {
		hugeSize = 0
	}
	var hugeGzip bytes.Buffer
	gw, _ := gzip.NewWriterLevel(&hugeGzip, gzip.BestSpeed)
	huge(gw, hugeSize)
	_ = gw.Close()
	var hugeZip bytes.Buffer
	zw := zip.NewWriter(&hugeZip)
	member, err := zw.Create("archive/a.warc")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(member, a)
	huge(member, hugeSize)
	_, _ = io.WriteString(member, z)
	_ = zw.Close()
	of := func(body string) []byte {
		return gz(a, pipetest.PageRecord("http://bad.test/", "2020-01-01T00:00:00Z", body, 0), z)
	}
	zip64 := zipOf(t, zip.Store, map[string][]byte{"archive/a.warc": []byte(a + z)})
	entry := bytes.LastIndex(zip64, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(zip64[entry+20:], 0x7fffffff) // bytes as stored
	binary.LittleEndian.PutUint32(zip64[entry+24:], 0x7ffffff0) // and as they were
	for _, x := range []struct {
		name     string
		file     []byte
		captures int64
		clipped  int64
		reason   string // one record is skipped for it
		damaged  int64
		says     string
	}{
		{"a line of 20 MiB, plain", []byte(a + pipetest.PageRecord("http://bad.test/", "2020-01-01T00:00:00Z", many("a", 20<<20), 0) + z), 3, 1, "", 0, ""},
		{"a line of 256 MiB, gzip", slices.Concat(gz(a), hugeGzip.Bytes(), gz(z)), 3, 1, "", 1, "extract.max_inflation"},
		{"a bomb in a WACZ file", hugeZip.Bytes(), 2, 1, "", 1, "extract.max_inflation"},
		{"a WACZ file that lies about sizes", zip64, 2, 0, "", 2, "should have"},
		{"nested elements", of(many("<div>", million) + "word"), 3, 0, "", 0, ""},
		{"attributes", of("<p" + many(" a=b", million) + ">word"), 3, 0, "", 0, ""},
		{"zeros", of("<title>a\x00b</title><p>w\x00ord" + many("\x00", million)), 3, 0, "", 0, ""},
		{"header without an end", gz(a, "WARC/1.0\r\n"+many("X: y\r\n", million), z), 2, 0, "", 1, "extract.max_header_bytes"},
		{"HTTP header without an end", gz(a, pipetest.Answer("http://bad.test/", "", "X: "+many("x", 100<<10), "x", 0), z), 2, 0, "http-header-too-long", 0, ""},
		{"negative length", []byte(a + pipetest.PageRecord("http://bad.test/", "", "x", -7) + z), 2, 0, "", 1, "Content-Length"},
		{"huge length", []byte(a + pipetest.PageRecord("http://bad.test/", "", "<p>word", 1<<62) + z), 3, 1, "", 0, ""},
		{"huge length, gzip", gz(a, pipetest.PageRecord("http://bad.test/", "", "<p>word", 1<<62), z), 3, 1, "", 0, ""},
		{"length too small", []byte(a + pipetest.PageRecord("http://bad.test/", "", "<p>word", 64) + z), 3, 1, "", 1, "expected the start of a record"},
		{"zstd window of 2 TiB", slices.Concat(zstdOf(t, [][]byte{[]byte(a)}), []byte("\x28\xb5\x2f\xfd\x00\xf8\x01\x00\x00"), zstdOf(t, [][]byte{[]byte(z)})), 2, 0, "", 1, "extract.max_window_bytes"},
		{"codings", gz(a, pipetest.Answer("http://bad.test/", "", "Content-Encoding: "+many("gzip, ", 100), "x", 0), z), 2, 0, "too-many-codings", 0, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			if pipetest.Raced && x.says == "extract.max_inflation" {
				t.Skip("makes and reads 256 MiB in one goroutine; without the race detector it runs")
			}
			dir := filepath.Join(t.TempDir(), "ws")
			said, err := extractOnly(t, dir, pipetest.MustLoad(t), pipetest.WriteFile(t, filepath.Join(t.TempDir(), "x.warc"), x.file))
			if err != nil {
				t.Fatal(err)
			}
			c, _, _ := counts(t, dir)
			skipped := int64(0)
			for _, n := range c.Skipped {
				skipped += n
			}
			want := int64(0)
			if x.reason != "" {
				want = 1
			}
			if c.Captures != x.captures || c.Clipped != x.clipped || c.Damaged != x.damaged || skipped != want || x.reason != "" && c.Skipped[x.reason] != 1 || c.Records != c.Captures+skipped {
				t.Errorf("%+v", c)
			}
			if int64(len(said)) != x.damaged || x.damaged > 0 && (!strings.Contains(strings.Join(said, " "), x.says) || !strings.Contains(said[0], "x.warc") || !strings.Contains(said[0], "offset")) {
				t.Errorf("said %q, want %q", said, x.says)
			}
		})
	}
}

// What records say of themselves may be anything: the exports hold all of it,
// in one order, as valid text.
func TestExportsTakeAnyDateAndURI(t *testing.T) {
	body := "<p>"
	for i, what := range strings.Fields("gutters windows cellars chimneys ovens stables wells fences") {
		body += fmt.Sprintf("Whoever cleans the %s of this house knows what was left in them %d years ago. ", what, i+2)
	}
	dates := []string{"0000-00-00T00:00:00Z", "99999-01-01T00:00:00Z", "-5", "yesterday", "", "2020-01-01T00:00:00Z", "2020-13-45T99:99:99Z", "\x00\x1b[2J", "=1+1"}
	var records []string
	for i, date := range dates {
		records = append(records, pipetest.PageRecord(fmt.Sprintf("http://x%d.test/\xff\xfe\x00%d\"<&,;", i, i), date, body+fmt.Sprint("<p>Number ", i), 0))
	}
	file := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "x.warc"), []byte(strings.Join(records, "")))
	slices.Reverse(records)
	again := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "x.warc"), []byte(strings.Join(records, "")))
	dir := filepath.Join(t.TempDir(), "ws")
	out := pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, file)
	if reversed := pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), pipetest.MustLoad(t), workspace.Options{}, again); withoutHints(t, reversed) != withoutHints(t, out) {
		t.Error("another order of the records gives other clusters")
	}
	if !utf8.Valid(out) || bytes.ContainsAny(out, "\x00\x1b") {
		t.Error("the export is no text")
	}
	var c struct {
		Members []struct {
			Date string `json:"date"`
			URI  string `json:"uri"`
		} `json:"members"`
	}
	if err := json.Unmarshal(out, &c); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range c.Members {
		got = append(got, m.Date)
		if !strings.Contains(m.URI, ".test/\uFFFD") {
			t.Errorf("URI %q", m.URI)
		}
	}
	if len(got) != len(dates) || !slices.IsSorted(got[1:]) {
		t.Errorf("%q: not all, or behind the first not in order", got)
	}
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	for _, format := range []string{"csv", "text", "cdxj", "keep", "keep-jsonl", "edges", "edges-csv", "graphml"} {
		var b bytes.Buffer
		if err := exports.Write(context.Background(), w, exports.Options{Format: format}, &b); err != nil || !utf8.Valid(b.Bytes()) || bytes.IndexByte(b.Bytes(), 0) >= 0 {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// The names in a WACZ file lead nowhere: its members are read in place.
func TestNamesInAWACZFileLeadNowhere(t *testing.T) {
	root := t.TempDir()
	outside := pipetest.WriteFile(t, filepath.Join(root, "outside.warc"), []byte(good("outside")))
	names := []string{"archive/../../outside.warc", "archive/../../../../evil.warc", `archive\..\..\evil2.warc`, "archive/" + outside, "archive/a\x00b.warc", "archive/.", "archive/x/../y.warc", "archive//z.warc"}
	members := map[string][]byte{"../archive/up.warc": []byte(good("up")), "/archive/root.warc": []byte(good("root"))}
	for _, name := range names {
		members[name] = []byte(good(fmt.Sprintf("%q", name)))
	}
	file := pipetest.WriteFile(t, filepath.Join(root, "in", "x.wacz"), zipOf(t, zip.Deflate, members))
	before := pipetest.Tree(t, root)
	dir := filepath.Join(t.TempDir(), "ws")
	if _, err := extractOnly(t, dir, pipetest.MustLoad(t), file); err != nil {
		t.Fatal(err)
	}
	if after := pipetest.Tree(t, root); !slices.Equal(after, before) {
		t.Errorf("there is %q, was %q", after, before)
	}
	c, files, status := counts(t, dir)
	if c.Captures != int64(len(names)) || files != len(names) {
		t.Errorf("%d files, %+v", files, c)
	}
	for _, s := range status.Inputs {
		if s.File != file || s.Name != filepath.Base(s.Name) || strings.ContainsAny(s.Path, "\x00") || !strings.HasPrefix(s.Path, file+"!archive/") {
			t.Errorf("%q %q", s.Path, s.Name)
		}
	}
}

// A damaged checksum in a WACZ file is said and counted, and costs nothing else.
func TestChecksumOfAWACZMember(t *testing.T) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		file := zipOf(t, method, map[string][]byte{"archive/a.warc": []byte(good("a") + good("b"))})
		file[bytes.LastIndex(file, []byte("PK\x01\x02"))+16] ^= 1
		dir := filepath.Join(t.TempDir(), "ws")
		said, err := extractOnly(t, dir, pipetest.MustLoad(t), pipetest.WriteFile(t, filepath.Join(t.TempDir(), "x.wacz"), file))
		c, _, _ := counts(t, dir)
		if err != nil || c.Captures != 2 || c.Damaged != 1 || len(said) != 1 || !strings.Contains(said[0], "checksum is wrong") {
			t.Errorf("method %d: %v, %+v, %q", method, err, c, said)
		}
	}
}

// A limit that is a setting is the one that counts.
func TestLimitsAreSettings(t *testing.T) {
	long := pipetest.PageRecord("http://long.test/"+strings.Repeat("x", 3000), "2020-01-01T00:00:00Z", "<p>word", 0)
	file := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "x.warc"), []byte(good("a")+long+good("z")))
	two := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "x.wacz"), zipOf(t, zip.Store, map[string][]byte{"archive/a.warc": []byte(good("a")), "archive/b.warc": []byte(good("b"))}))
	for _, x := range []struct {
		setting, file     string
		captures, damaged int64
		err               string
	}{
		{"extract.max_header_bytes=65536", file, 3, 0, ""},
		{"extract.max_header_bytes=2048", file, 2, 1, ""},
		{"extract.max_members=2", two, 2, 0, ""},
		{"extract.max_members=1", two, 0, 0, "extract.max_members"},
	} {
		dir := filepath.Join(t.TempDir(), "ws")
		_, err := extractOnly(t, dir, pipetest.MustLoad(t, x.setting), x.file)
		if (x.err == "") != (err == nil) || err != nil && (!errors.Is(err, workspace.ErrInputFailure) || !strings.Contains(err.Error(), x.err)) {
			t.Errorf("%s: %v", x.setting, err)
		}
		if c, _, _ := counts(t, dir); c.Captures != x.captures || c.Damaged != x.damaged {
			t.Errorf("%s: %+v", x.setting, c)
		}
	}
}
