package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"neardup/report"
)

// archived is a WARC record of a page of the given day.
func archived(kind, id, uri string, day int, block string, fields ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:test:%s>\r\nWARC-Target-URI: %s\r\nWARC-Date: 2020-01-%02dT00:00:00Z\r\n",
		kind, id, uri, day)
	fmt.Fprintf(&b, "Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n%s\r\n%s\r\n\r\n",
		len(block), strings.Join(append(fields, ""), "\r\n"), block)
	return b.Bytes()
}

const (
	okHTML = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
	okPNG  = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"
)

// revisits is a crawl in which revisits refer to captures in every way, and
// what each should be a revisit of.
func revisits() (records [][]byte, want map[string]string) {
	page := func(id, uri string, day int, text string, fields ...string) {
		records = append(records, archived("response", id, uri, day, okHTML+"<p>"+text, fields...))
	}
	want = map[string]string{}
	revisit := func(id, uri string, day int, of string, block string, fields ...string) {
		records = append(records, archived("revisit", id, uri, day, block, fields...))
		want[id] = of
	}
	const payload = "WARC-Payload-Digest: sha1:"
	page("a", "http://a.example/", 1, "page a", payload+"AAAA2222AAAA2222AAAA2222AAAA2222")
	page("b", "http://b.example/", 2, "page b", payload+"BBBB2222AAAA2222AAAA2222AAAA2222")
	page("b-later", "http://b.example/", 3, "page b, later")
	page("mirror", "http://mirror.example/", 1, "page b", payload+"BBBB2222AAAA2222AAAA2222AAAA2222")

	revisit("by-id", "http://a.example/", 5, "a", okHTML, "WARC-Refers-To: <urn:test:a>")
	revisit("by-capture", "http://b.example/", 6, "b-later", "HTTP/1.1 304 Not Modified\r\n\r\n",
		"WARC-Refers-To-Target-URI: http://b.example/", "WARC-Refers-To-Date: 2020-01-03T00:00:00Z")
	revisit("by-payload", "http://b.example/", 7, "b", okHTML, payload+"BBBB2222AAAA2222AAAA2222AAAA2222")
	revisit("by-payload-elsewhere", "http://c.example/", 7, "mirror", okHTML, payload+"BBBB2222AAAA2222AAAA2222AAAA2222")
	revisit("id-before-payload", "http://a.example/", 8, "a", okHTML, "WARC-Refers-To: <urn:test:a>", payload+"BBBB2222AAAA2222AAAA2222AAAA2222")
	revisit("gone-so-payload", "http://b.example/", 8, "b", okHTML, "WARC-Refers-To: <urn:test:gone>", payload+"BBBB2222AAAA2222AAAA2222AAAA2222")
	revisit("of-a-revisit", "http://a.example/", 9, "a", okHTML, "WARC-Refers-To: <urn:test:by-id>")
	revisit("of-that", "http://a.example/", 10, "a", okHTML, "WARC-Refers-To: <urn:test:of-a-revisit>")
	revisit("lost", "http://d.example/", 5, "", okHTML, "WARC-Refers-To: <urn:test:gone>")
	revisit("picture", "http://d.example/x.png", 5, "", okPNG, "WARC-Refers-To: <urn:test:gone>")
	revisit("nothing-said", "http://a.example/", 5, "", okHTML)
	revisit("itself", "http://a.example/", 5, "", okHTML, "WARC-Refers-To: <urn:test:itself>")
	revisit("circle-1", "http://a.example/", 5, "", okHTML, "WARC-Refers-To: <urn:test:circle-2>")
	revisit("circle-2", "http://a.example/", 5, "", okHTML, "WARC-Refers-To: <urn:test:circle-1>")
	// Captures of each other, and each has a payload: what they share with a
	// page goes first.
	revisit("cross-1", "http://a.example/", 11, "a", okHTML, "WARC-Refers-To: <urn:test:cross-2>", payload+"AAAA2222AAAA2222AAAA2222AAAA2222")
	revisit("cross-2", "http://b.example/", 11, "b", okHTML, "WARC-Refers-To: <urn:test:cross-1>", payload+"BBBB2222AAAA2222AAAA2222AAAA2222")
	before := "by-id"
	for i := range 20 {
		id, of := fmt.Sprintf("chain-%02d", i), "a"
		if i >= 15 { // the stage follows 16 revisits of revisits
			of = ""
		}
		revisit(id, "http://a.example/", 12, of, okHTML, "WARC-Refers-To: <urn:test:"+before+">")
		before = id
	}
	return records, want
}

func writeRecords(t testing.TB, records ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "crawl.warc")
	if err := os.WriteFile(path, bytes.Join(records, nil), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// checkRevisits holds a workspace's clusters against what was wanted.
func checkRevisits(t *testing.T, clusters []byte, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for line := range bytes.Lines(clusters) {
		var c report.Cluster
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Members {
			if m.RevisitOf == "" {
				continue
			}
			got[strings.TrimSuffix(strings.TrimPrefix(m.RecordID, "<urn:test:"), ">")] = strings.TrimSuffix(strings.TrimPrefix(m.RevisitOf, "<urn:test:"), ">")
			if m.Relation != report.Identical {
				t.Errorf("%s is %s", m.RecordID, m.Relation)
			}
		}
	}
	for id, of := range want {
		if got[id] != of {
			t.Errorf("%s is a revisit of %q, want %q", id, got[id], of)
		}
	}
}

func TestRevisitsAreIdenticalCaptures(t *testing.T) {
	records, want := revisits()
	dir := filepath.Join(t.TempDir(), "ws")
	clusters := runAll(t, dir, mustLoad(t), Options{}, writeRecords(t, records...))
	checkRevisits(t, clusters, want)

	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	var c ExtractCounts
	if err := json.Unmarshal(m.Stages[0].Counts, &c); err != nil {
		t.Fatal(err)
	}
	resolved := int64(0)
	for _, of := range want {
		if of != "" {
			resolved++
		}
	}
	skipped := int64(0)
	for _, n := range c.Skipped {
		skipped += n
	}
	if c.Revisits != int64(len(want)) || c.Resolved != resolved || c.Captures != 4+resolved || c.Documents != c.Captures ||
		c.Records != c.Captures+skipped || c.Skipped["media-type"] != 1 || c.Skipped["revisit-unresolved"] != skipped-1 {
		t.Errorf("%+v, want %d of %d revisits resolved", c, resolved, len(want))
	}
}

// Where and when the captures come does not matter: in any order, before or
// after what refers to them, in one file or in several runs.
func TestRevisitsResolveTheSameInAnyOrder(t *testing.T) {
	records, want := revisits()
	r := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		r.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		dir := filepath.Join(t.TempDir(), "ws")
		var clusters []byte
		for at := 0; at < len(records); {
			n := min(len(records), at+5+r.IntN(20))
			// Each change committed by itself, so that later ones see it.
			clusters = runAll(t, dir, mustLoad(t), Options{commitBytes: 1}, writeRecords(t, records[at:n]...))
			at = n
		}
		checkRevisits(t, clusters, want)
	}
}

// The same file read twice, under two names: everything counts once.
func TestRevisitsOfAFileGivenTwice(t *testing.T) {
	records, want := revisits()
	dir := filepath.Join(t.TempDir(), "ws")
	clusters := runAll(t, dir, mustLoad(t), Options{}, writeRecords(t, records...), writeRecords(t, records...))
	checkRevisits(t, clusters, want)
	once := runAll(t, filepath.Join(t.TempDir(), "ws"), mustLoad(t), Options{}, writeRecords(t, records...))
	if !bytes.Equal(clusters, once) {
		t.Errorf("given twice:\n%s\nonce:\n%s", clusters, once)
	}
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	var c ExtractCounts
	if err := json.Unmarshal(m.Stages[0].Counts, &c); err != nil {
		t.Fatal(err)
	}
	if c.Records != int64(2*len(records)) || c.Duplicates != c.Documents {
		t.Errorf("%+v", c)
	}
}
