package groups

import (
	"encoding/json"
	"strings"
	"testing"

	"neardup/extract"
	"neardup/pipeline/rows"
)

// documents are rows with each field set, with none, and with strings that are
// escaped.
func documents() (out []rows.Document) {
	full := rows.Document{TextID: strings.Repeat("0f", 16), TextBytes: 1 << 40, RevisitOf: "<urn:b>"}
	full.Document = extract.Document{RecordID: "<urn:a>", TargetURI: "http://a.example/?a=b&c=d", Date: "2024-01-02T03:04:05Z", Digest: "sha1:AB",
		Site: "a.example", Title: "例子 – Привет", Byline: `\ "quoted" </a>` + "\n\t\b\f\r", MediaType: "text/html", Charset: "gbk", CharsetFrom: "meta",
		Status: 200, RecordBytes: 77, Bytes: 0, Clipped: true, Replaced: .25, Choices: extract.ChoiceTypeSniffed | extract.ChoiceMainUnsure,
		Kind: "topic", Parsed: true, Repeats: &extract.Reference{RecordID: "urn:c", URI: "http://b.example/", Unresolved: extract.ReasonUnresolved}}
	exact := full
	exact.Replaced = 0
	plain := exact
	plain.Repeats, plain.Choices, plain.Clipped = nil, 0, false
	odd := plain
	odd.Title, odd.Byline, odd.Bytes = "\u2028\x00\x7f\xff", "\U0001f600", -1
	return append(out, full, exact, plain, odd, rows.Document{})
}

// What ParseView reads itself is what encoding/json reads.
func FuzzParseView(f *testing.F) {
	for _, d := range documents() {
		row, err := json.Marshal(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(row)
	}
	for _, row := range []string{``, `{}`, `[]`, `null`, `{"bytes":01}`, `{"bytes":-0}`, `{"bytes":9223372036854775808}`, `{"bytes":1e3}`, `{"bytes":}`,
		`{"title":"a","title":"b"}`, `{"Title":"a"}`, `{"title":null}`, `{"title":"\u00e9\ud83d\ude00"}`, `{"title":"\x"}`, `{"title":"\u00"}`, `{"title":"\`,
		"{\"title\":\"a\nb\"}", "{\"title\":\"\xff\"}", "{\"title\":\"\\\xff\"}", `{"title":"a"} `, `{"title":"a"}}`, `{"title":"a",}`, `{"choices":[]}`,
		`{"choices":["no choice"]}`, `{"choices":["text-cut",]}`, `{"clipped":true,"clipped":false}`, `{"clipped":truetrue}`, `{"repeats":{}}`,
		`{"repeats":{"a":"b","c":1}}`, `{"kind":"a","parsed":true,"replaced":1.5}`, `{"status":200,"unknown":[{"a":1}]}`} {
		f.Add([]byte(row))
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		var got, want DocumentView
		r := viewReader{rows.Reader{Rest: string(row)}}
		if !r.view(&got) {
			return // encoding/json decides
		}
		if err := json.Unmarshal(row, &want); err != nil || got != want {
			t.Errorf("%q\ngives %+v\nbut   %+v, %v", row, got, want, err)
		}
	})
}

// Rows of pages are read without encoding/json, and the others with it.
func TestParseView(t *testing.T) {
	for i, d := range documents() {
		row, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var want DocumentView
		if err := json.Unmarshal(row, &want); err != nil {
			t.Fatal(err)
		}
		if got, err := ParseView(row); err != nil || got != want {
			t.Errorf("%s\ngives %+v\nbut   %+v, %v", row, got, want, err)
		}
		r := viewReader{rows.Reader{Rest: string(row)}}
		if direct := r.view(new(DocumentView)); direct == (i == 0 || i == 3) {
			t.Errorf("%s is read without encoding/json: %v", row, direct)
		}
	}
	if d, err := ParseView([]byte(`{"title":"a"`)); err == nil {
		t.Errorf("half a row is %+v", d)
	}
}

func BenchmarkParseView(b *testing.B) {
	row, err := json.Marshal(documents()[2])
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseView(row); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseViewJSON(b *testing.B) {
	row, err := json.Marshal(documents()[2])
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var d DocumentView
		if err := json.Unmarshal(row, &d); err != nil {
			b.Fatal(err)
		}
	}
}
