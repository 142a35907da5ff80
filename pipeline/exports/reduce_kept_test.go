package exports_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/audit"
	"neardup/pipeline/browsing"
	"neardup/pipeline/exports"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/stages"
	"neardup/pipeline/withdrawals"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// sameText is the text of all pages of these tests.
var sameText = pipetest.Words(rand.New(rand.NewPCG(5, 5)), 20)

func sameRecord(id, uri string, day int, fields ...string) []byte {
	return pipetest.Archived("response", id, uri, day, pipetest.OkHTML+"<p>"+sameText, fields...)
}

// reduceFiles runs files in a new workspace, changes what change changes, and returns the
// reduced archives by name.
func reduceFiles(t *testing.T, change func(*workspace.Workspace), files ...string) (archives map[string][]byte, leftOut string, sum report.ReducedCounts, err error) {
	t.Helper()
	dir := t.TempDir()
	pipetest.RunAll(t, filepath.Join(dir, "ws"), pipetest.MustLoad(t), workspace.Options{}, files...)
	w := pipetest.OpenWith(t, filepath.Join(dir, "ws"))
	if change != nil {
		change(w)
	}
	var all report.Reduced
	out := filepath.Join(dir, "out")
	if err := exports.WriteDirectory(context.Background(), w, exports.Options{Format: "warc", Reduced: &all}, out); err != nil {
		return nil, "", sum, err
	}
	archives = map[string][]byte{}
	for _, f := range all.Files {
		archives[f.Archive], err = os.ReadFile(filepath.Join(out, "archive", f.Archive))
		if f.Bytes == 0 && errors.Is(err, os.ErrNotExist) {
			err = nil // nothing of it stays
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(out, "left-out.jsonl"))
	return archives, string(b), all.Sum, err
}

// A line of a text collection is in no archive, so no capture is left out for it. Two
// captures are still one too many.
func TestReducedBesideCollections(t *testing.T) {
	const uri = "http://a.example/"
	dir := t.TempDir()
	lines := pipetest.WriteFile(t, filepath.Join(dir, "texts.jsonl"), []byte(`{"id":"`+uri+`","url":"`+uri+`","date":"2019-01-01T00:00:00Z","text":"`+strings.TrimSpace(sameText)+`"}`+"\n"))
	one := pipetest.WriteFile(t, filepath.Join(dir, "one.warc"), sameRecord("a", uri, 5))
	two := pipetest.WriteFile(t, filepath.Join(dir, "two.warc"), sameRecord("b", uri, 6))
	archives, _, sum, err := reduceFiles(t, nil, lines, one)
	if err != nil || sum.LeftOut != 0 || len(archives["one.warc"]) == 0 {
		t.Errorf("beside a collection: %+v, %v", sum, err)
	}
	archives, _, sum, err = reduceFiles(t, nil, lines, one, two)
	if err != nil || sum.LeftOut != 1 || len(archives["one.warc"]) == 0 || len(archives["two.warc"]) != 0 {
		t.Errorf("two captures beside a collection: %+v, %v", sum, err)
	}
}

// Two captures of one text that people judge to be different are in one cluster all the
// same, since texts are clustered. Neither is left out for the other; a third one is.
func TestReducedKeepsWhatPeopleJudge(t *testing.T) {
	const uri = "http://a.example/"
	crawl := pipetest.WriteRecords(t, sameRecord("a", uri, 5), sameRecord("b", uri, 6), sameRecord("c", uri, 7))
	for _, judges := range [][]audit.Verdict{nil, {audit.True}, {audit.False}, {audit.True, audit.False}} {
		_, leftOut, sum, err := reduceFiles(t, func(w *workspace.Workspace) {
			for i, v := range judges {
				j := audit.Judgement{Pair: audit.NewPair("urn:test:a", "urn:test:b"), Judge: fmt.Sprint(i), Verdict: v, Enforce: true}
				if err := browsing.Auditor(w).Judge(t.Context(), j); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Run(t.Context(), workspace.StageExtract, workspace.StageVerify, nil); err != nil {
				t.Fatal(err)
			}
		}, crawl)
		want := int64(2)
		if slices.Contains(judges, audit.False) {
			want = 1
		}
		if err != nil || sum.LeftOut != want || !strings.Contains(leftOut, "<urn:test:c>") {
			t.Errorf("judged %q: %d are left out, want %d: %s, %v", judges, sum.LeftOut, want, leftOut, err)
		}
	}
}

// The advice about a file that changed helps: a run reads it again where it notices.
func TestReducedAdvice(t *testing.T) {
	const uri = "http://a.example/"
	other := sameRecord("c", "http://b.example/", 3, "X-Filler: "+strings.Repeat("x", 200<<10))
	same := slices.Concat(sameRecord("a", uri, 1), sameRecord("b", uri, 2))
	crawl, between := slices.Concat(other, same, other), slices.Concat(other, bytes.ReplaceAll(same, []byte("end. "), []byte("ENd. ")), other)
	for name, x := range map[string]struct {
		content []byte
		want    string
	}{
		"cut":             {crawl[:len(other)+100], "neardup run reads it again if you name it"},
		"changed between": {between, "start a new workspace"},
	} {
		file := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "a.warc"), crawl)
		_, _, _, err := reduceFiles(t, func(w *workspace.Workspace) {
			if err := os.WriteFile(file, x.content, 0o666); err != nil {
				t.Fatal(err)
			}
		}, file)
		if err == nil || !strings.HasSuffix(err.Error(), "the file has changed; "+x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// If the page that is kept is no longer what was read, nothing is left out for it, whether
// it is in the same file or in another.
func TestReducedChecksWhatIsKept(t *testing.T) {
	const uri = "http://a.example/"
	kept, redundant := sameRecord("a", uri, 1), sameRecord("b", uri, 2)
	rotten := bytes.Replace(kept, []byte("end. "), []byte("ENd. "), 1)
	const advice = "the file has changed; neardup run reads it again if you name it"
	for name, content := range map[string][][]byte{"one file": {append(bytes.Clone(kept), redundant...)}, "two files": {kept, redundant}} {
		dir := t.TempDir()
		var files []string
		for i, b := range content {
			files = append(files, pipetest.WriteFile(t, filepath.Join(dir, []string{"a.warc", "b.warc"}[i]), b))
		}
		if _, _, sum, err := reduceFiles(t, nil, files...); err != nil || sum.LeftOut != 1 {
			t.Fatalf("%s: %+v, %v", name, sum, err)
		}
		_, _, _, err := reduceFiles(t, func(*workspace.Workspace) {
			copy(content[0], rotten)
			if err := os.WriteFile(files[0], content[0], 0o666); err != nil {
				t.Fatal(err)
			}
		}, files...)
		if err == nil || !strings.Contains(err.Error(), "no longer where they were read: "+advice) {
			t.Errorf("%s: a kept page that has changed: %v", name, err)
		}
	}
}

// Of a compressed member that has several records, each redundant page is counted, and one
// that it has twice is one page.
func TestReducedCountsPagesOfAMember(t *testing.T) {
	const uri = "http://a.example/"
	member := func(records ...[]byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := z.Write(bytes.Join(records, nil))
		if err := errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, x := range map[string]struct {
		content []byte
		stay    int64
	}{
		"a file as a whole": {member(sameRecord("a", uri, 1), sameRecord("b", uri, 2), sameRecord("c", uri, 3), sameRecord("d", uri, 4)), 3},
		"a record twice":    {append(member(sameRecord("a", uri, 1)), member(sameRecord("b", uri, 2), sameRecord("b", uri, 2))...), 1},
	} {
		file := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "a.warc.gz"), x.content)
		archives, _, sum, err := reduceFiles(t, nil, file)
		if err != nil || sum.Inseparable != x.stay || sum.LeftOut != 0 || !bytes.Equal(archives["a.warc.gz"], x.content) {
			t.Errorf("%s: %+v, %v", name, sum, err)
		}
	}
}

// Records of withdrawn addresses, and what belongs to them, are left out. Nothing names
// them. Without a withdrawn revisit, the capture that it refers to need not stay.
func TestReducedWithoutWithdrawn(t *testing.T) {
	dir := t.TempDir()
	file := pipetest.WriteFile(t, filepath.Join(dir, "a.warc"), bytes.Join([][]byte{
		sameRecord("secret", "http://a.example/secret", 1),
		pipetest.Archived("request", "asked", "http://a.example/secret", 1, "GET /secret HTTP/1.1\r\n\r\n", "WARC-Concurrent-To: <urn:test:secret>"),
		pipetest.Archived("metadata", "about", "http://crawler.example/", 1, "a: b", "WARC-Concurrent-To: <urn:test:secret>"),
		pipetest.Archived("response", "gone", "http://a.example/secret", 2, "HTTP/1.1 404 Not Found\r\n\r\n"),
		sameRecord("open", "http://a.example/open", 3),
		sameRecord("again", "http://a.example/open", 4),
		pipetest.Archived("revisit", "revisit", "http://a.example/secret", 5, pipetest.OkHTML, "WARC-Refers-To: <urn:test:open>"),
	}, nil))
	pattern := "http://a.example/secret"
	withdraw := func(w *workspace.Workspace) {
		if _, err := withdrawals.Withdraw(t.Context(), w, withdrawn.Withdrawal{URI: pattern}); err != nil {
			t.Fatal(err)
		}
		if err := w.Run(t.Context(), "extract", "verify", nil); err != nil {
			t.Fatal(err)
		}
	}
	archives, leftOut, sum, err := reduceFiles(t, withdraw, file)
	if err != nil {
		t.Fatal(err)
	}
	got := rawRecords(t, archives["a.warc"])
	if len(got) != 1 || !strings.Contains(got[0], "<urn:test:open>") || sum.Withdrawn != 5 || sum.LeftOut != 1 || sum.Belonging != 0 {
		t.Errorf("%d records, %+v", len(got), sum)
	}
	if strings.Contains(leftOut, "secret") || strings.Count(leftOut, `"withdrawn":true`) != 5 {
		t.Errorf("what was left out: %s", leftOut)
	}
	// Records without an address stay, whatever the pattern.
	pattern = "*"
	info := pipetest.WriteFile(t, filepath.Join(dir, "info.warc"), append([]byte("WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:test:info>\r\nContent-Length: 0\r\n\r\n\r\n\r\n"), sameRecord("page", "http://a.example/", 1)...))
	archives, _, sum, err = reduceFiles(t, withdraw, info)
	if got := rawRecords(t, archives["info.warc"]); err != nil || len(got) != 1 || !strings.Contains(got[0], "warcinfo") || sum.Withdrawn != 1 {
		t.Errorf("without all pages: %d records, %+v, %v", len(got), sum, err)
	}
	pattern = "http://a.example/secret"
	// In one member with others, they cannot be left out, and that is said.
	whole := pipetest.WriteFile(t, filepath.Join(dir, "whole.warc.gz"), gzipped(t, file))
	_, _, sum, err = reduceFiles(t, withdraw, whole)
	if err != nil || sum.Withdrawn != 0 || sum.WithdrawnStay != 4 || !strings.Contains(sum.String(), "4 records of withdrawn addresses STAY") {
		t.Errorf("in one member: %+v, %v", sum, err)
	}
}

func gzipped(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write(content)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A file of which nothing was read ends the export, since nothing of it would be in the
// result, and so does one that changed or is gone. A file without a byte has nothing to
// lose, and of two that have the same bytes one may be gone.
func TestReducedOfFilesThatAreNotAsTheyWereRead(t *testing.T) {
	dir := t.TempDir()
	record := sameRecord("a", "http://a.example/", 5)
	other := sameRecord("b", "http://b.example/", 6)
	write := func(name string, b []byte) string { return pipetest.WriteFile(t, filepath.Join(dir, name), b) }
	do := func(file string, change func(string)) error {
		second := write("second.warc", other)
		ws := filepath.Join(t.TempDir(), "ws")
		w, err := workspace.Open(ws, stages.All, pipetest.MustLoad(t), true, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Close() }()
		sources, _, err := inputs.Find(t.Context(), ws, []string{file, second}, nil, pipetest.Limits)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Run(t.Context(), workspace.StageExtract, workspace.StageVerify, sources); err != nil && !errors.Is(err, workspace.ErrInputFailure) {
			t.Fatal(err)
		}
		if change != nil {
			change(second)
		}
		return exports.WriteDirectory(t.Context(), w, exports.Options{Format: "warc"}, filepath.Join(t.TempDir(), "out"))
	}
	remove := func(file string) {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		name, want string
		err        error
	}{
		{"missing", "nothing of it would be in the result", do(filepath.Join(dir, "missing.warc"), nil)},
		{"was missing", "nothing of it would be in the result", do(filepath.Join(dir, "late.warc"), func(string) { write("late.warc", record) })},
		{"no archive", "nothing of it would be in the result", do(write("notes.warc.gz", []byte("notes")), nil)},
		{"empty", "", do(write("empty.warc", nil), nil)},
		{"grown", "it has grown since it was read", do(write("first.warc", record), func(second string) { write(filepath.Base(second), slices.Concat(other, record)) })},
		{"gone", "put it back", do(write("first.warc", record), remove)},
		{"gone, and read under another name", "", do(write("copy.warc", other), remove)},
	} {
		if x.want == "" && x.err != nil || x.want != "" && (x.err == nil || !strings.Contains(x.err.Error(), x.want)) {
			t.Errorf("%s: %v, want %q", x.name, x.err, x.want)
		}
	}
}

// A name that is too long for a file, such as that of an object in a store, is cut.
func TestReducedOfALongName(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("\x83", 200)+".warc") // each byte is shown as four
	if err := os.WriteFile(path, sameRecord("a", "http://a.example/", 1), 0o666); err != nil {
		t.Skipf("the file system does not take the name: %v", err)
	}
	archives, _, _, err := reduceFiles(t, nil, path)
	for name, b := range archives {
		if len(name) > 255 || !strings.HasSuffix(name, ".warc") || len(b) == 0 {
			t.Errorf("%q has %d bytes", name, len(b))
		}
	}
	if err != nil || len(archives) != 1 {
		t.Errorf("%d archives, %v", len(archives), err)
	}
}

// Files of one long name in several directories become files of several names, none of
// which is too long.
func TestReducedNamesakesOfLongNames(t *testing.T) {
	var files []string
	name := strings.Repeat("é", 125) + ".warc"
	for i := range 3 {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, sameRecord([]string{"a", "b", "c"}[i], "http://"+[]string{"a", "b", "c"}[i]+".example/", 1+i), 0o666); err != nil {
			t.Skipf("the file system does not take the name: %v", err)
		}
		files = append(files, path)
	}
	archives, _, sum, err := reduceFiles(t, nil, files...)
	if err != nil || len(archives) != 3 || sum.Records != 3 {
		t.Errorf("%d files, %+v, %v", len(archives), sum, err)
	}
	for name := range archives {
		if len(name) > 255 {
			t.Errorf("%d bytes of name", len(name))
		}
	}
}

// A WACZ file of many archives is opened once for all of them, and others beside it are not.
func TestReducedOfManyMembers(t *testing.T) {
	const n = 70
	dir := t.TempDir()
	var members []string
	for i := range n {
		name := filepath.Join(dir, fmt.Sprintf("%d.warc", i))
		members = append(members, pipetest.WriteFile(t, filepath.Join(dir, fmt.Sprintf("%d.warc.gz", i)),
			gzipped(t, pipetest.WriteFile(t, name, sameRecord(fmt.Sprintf("m%d", i), fmt.Sprintf("http://a.example/%d", i%50), 1+i/50)))))
	}
	wacz := writeWACZ(t, filepath.Join(dir, "many.wacz"), members...)
	few := writeWACZ(t, filepath.Join(dir, "few.wacz"), members[:2]...)
	archives, _, sum, err := reduceFiles(t, nil, wacz, few)
	if err != nil || sum.LeftOut != n-50 || len(archives) != n+2 {
		t.Fatalf("%d archives, %+v, %v", len(archives), sum, err)
	}
	stay := 0
	for _, b := range archives {
		if len(b) > 0 {
			stay++
		}
	}
	if stay != 50+2 {
		t.Errorf("%d archives have a record", stay)
	}
}
