package rows

import (
	"encoding/json"
	"reflect"
	"testing"

	"neardup/extract"
)

// revisitRows are rows with each field set, and with few.
func revisitRows() (out []Revisit) {
	full := Revisit{Resolved: "0f"}
	full.Document = extract.Document{RecordID: "<urn:a>", TargetURI: "http://a.example/?a=b&c=d", Date: "2024-01-02T03:04:05Z", Digest: "sha1:AB", Site: "a.example",
		Title: "例子", Byline: "\"x\"", MediaType: "text/html", Charset: "gbk", CharsetFrom: "meta", Status: 304, RecordBytes: 77, Bytes: 5, Clipped: true, Derived: true, Kind: "topic",
		Repeats: &extract.Reference{RecordID: "urn:c", URI: "http://b.example/", Date: "2024", Digest: "sha1:CD", Unresolved: extract.ReasonUnresolved}}
	few := Revisit{}
	few.Document = extract.Document{RecordID: "<urn:a>", Repeats: &extract.Reference{Digest: "sha1:CD"}}
	odd := few
	odd.Replaced, odd.Choices, odd.Parsed = .5, extract.ChoiceTypeSniffed, true
	return append(out, full, few, odd, Revisit{})
}

// Rows of revisits are read without encoding/json, and the others with it.
func TestParseRevisit(t *testing.T) {
	for i, want := range revisitRows() {
		row, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseRevisit(row); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngives %+v\nbut   %+v, %v", row, got, want, err)
		}
		r := revisitReader{Reader{string(row)}}
		if direct := r.revisit(new(Revisit)); direct == (i == 2) {
			t.Errorf("%s is read without encoding/json: %v", row, direct)
		}
	}
	if v, err := ParseRevisit([]byte(`{"title":"a"`)); err == nil {
		t.Errorf("half a row is %+v", v)
	}
}

// What ParseRevisit reads itself is what encoding/json reads.
func FuzzParseRevisit(f *testing.F) {
	for _, v := range revisitRows() {
		row, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(row)
	}
	for _, row := range []string{`{}`, `{"repeats":{}}`, `{"repeats":null}`, `{"repeats":{"uri":"a"},"repeats":{"date":"b"}}`, `{"repeats":{"uri":"a"}}}`, `{"repeats":{"uri":"a",}}`,
		`{"bytes":01}`, `{"status":99999999999}`, `{"clipped":true,"clipped":false}`, `{"resolved":"a"} `, `{"uri":"a","uri":"b"}`, `{"record_id":"a","x":1}`, `[]`} {
		f.Add([]byte(row))
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		var got, want Revisit
		r := revisitReader{Reader{string(row)}}
		if !r.revisit(&got) {
			return // encoding/json decides
		}
		if err := json.Unmarshal(row, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q\ngives %+v\nbut   %+v, %v", row, got, want, err)
		}
	})
}
