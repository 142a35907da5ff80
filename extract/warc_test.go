package extract

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/nlnwa/gowarc"

	"neardup/extract/container"
	"neardup/extract/internal/testkit"
)

// checkFields holds readFields against gowarc on a header that gowarc takes, and
// tells whether it does. Of a resource gowarc has another digest than the header:
// that of no bytes. Encoded words that stand for nothing stay as written.
func checkFields(t *testing.T, raw []byte) bool {
	t.Helper()
	rec, _, _, err := unmarshaler().Unmarshal(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil {
		return false
	}
	defer func() { _ = rec.Close() }()
	f := readFields(raw)
	if f.encoded {
		f.decode(raw)
	}
	h := rec.WarcHeader()
	if got := recordTypes[strings.ToLower(f.kind)]; got != rec.Type() {
		t.Errorf("%q: type %v, gowarc %v", raw, got, rec.Type())
	}
	for name, got := range map[string]string{
		gowarc.WarcRecordID: f.id, gowarc.WarcTargetURI: f.uri, gowarc.WarcDate: f.date, gowarc.ContentType: f.contentType,
		gowarc.WarcRefersTo: f.refersTo, gowarc.WarcRefersToTargetURI: f.refersToURI, gowarc.WarcRefersToDate: f.refersToDate,
	} {
		want := ""
		for _, value := range h.GetAll(name) {
			if want == "" {
				want = strings.TrimSpace(value)
			}
		}
		if got != want && !(f.encoded && want == "") {
			t.Errorf("%q: %s is %q, gowarc has %q", raw, name, got, want)
		}
	}
	if f.segment != h.Has(gowarc.WarcSegmentNumber) {
		t.Errorf("%q: segment %v", raw, f.segment)
	}
	if all := h.GetAll(gowarc.WarcPayloadDigest); len(all) > 0 && rec.Type() != gowarc.Resource && f.digest != strings.TrimSpace(all[len(all)-1]) {
		t.Errorf("%q: digest %q, gowarc has %q", raw, f.digest, all)
	}
	return true
}

// The records of real archives (see testkit.Archives) read as gowarc reads them.
func TestFieldsOnArchive(t *testing.T) {
	paths, example := testkit.Archives("..")
	read, taken := 0, 0
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := container.NewReader(f, container.Position{}, limits)
		for err != io.EOF {
			var raw *container.Raw
			raw, err = r.Next()
			var damage *container.Damage
			if err != nil && !errors.As(err, &damage) {
				break
			}
			if raw == nil || raw.Format != container.FormatRecords {
				continue
			}
			if read++; checkFields(t, raw.Header) {
				taken++
			}
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d records, of which gowarc takes %d", read, taken)
	if example && (read != 135 || taken != read) {
		t.Errorf("%d records of the example, %d taken", read, taken)
	}
}

func TestEncodedWords(t *testing.T) {
	for _, c := range []struct{ uri, digest, want string }{
		{"=?utf-8?q?http://x.org/=C3=A9?=", "sha1:AAAA", "http://x.org/é"},
		{"=?iso-8859-1?q?http://x.org/=E9?=", "sha1:AAAA", "http://x.org/é"},
		{"http://x.org/a=?b", "sha1:AAAA", "http://x.org/a=?b"},
		{"=?no-such?q?http://x.org/=E9?=", "sha1:AAAA", "=?no-such?q?http://x.org/=E9?="},
		{"=?utf-8?q?http://x.org/=C3=A9?=", "none:x", "http://x.org/é"}, // a digest that gowarc does not know
		{"=?utf-8?q?http://x.org/=C3=A9?=", "x", "http://x.org/é"},
	} {
		doc := document(t, response("WARC-Target-URI: "+c.uri, "WARC-Payload-Digest: "+c.digest))
		if doc.TargetURI != c.want || doc.Digest != c.digest {
			t.Errorf("%s: %s %s", c.uri, doc.TargetURI, doc.Digest)
		}
	}
}

// Fields that are given twice: the first that says something.
func TestRepeatedFields(t *testing.T) {
	f := readFields([]byte("WARC/1.0\r\nWARC-Type: \r\nwarc-type: response\r\nWARC-Type: request\r\nWARC-Date:\r\nWARC-DATE: 2020\r\n\r\n"))
	if f.kind != "response" || f.date != "2020" {
		t.Errorf("%+v", f)
	}
}

func FuzzFields(f *testing.F) {
	for _, s := range []string{
		"WARC-Type: response\r\nWARC-Record-ID: <urn:x:1>\r\nWARC-Date: 2020-02-03T04:05:06Z\r\nContent-Length: 0",
		"warc-type: Revisit\r\nWARC-Refers-To: <urn:x:2>\r\nWARC-Refers-To-Target-URI: <http://x/>\r\nWARC-Refers-To-Date: 2020\r\nContent-Length: 0",
		"WARC-Type:\r\n resource\r\nWARC-Target-URI: http://x/\r\n\ta\r\nWARC-Segment-Number: 1", "WARC-Target-URI: =?utf-8?q?a=20b?=", "x", ": ", "WARC-Type: response\nA: b\n c",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, fields string) {
		if strings.Contains(fields, "\n\n") || strings.Contains(fields, "\n\r") {
			return // the header would end there
		}
		for i := range len(fields) { // of white space, gowarc trims blanks, tabs and line ends only
			if c := fields[i]; c == '\v' || c == '\f' || c >= 0x80 {
				return
			}
		}
		checkFields(t, []byte("WARC/1.0\r\n"+fields+"\r\n\r\n"))
	})
}
