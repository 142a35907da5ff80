package groups

import (
	"encoding/json"

	"neardup/pipeline/rows"
)

// ParseView decodes the value of a row of TableDocument.
func ParseView(row []byte) (DocumentView, error) { return parseView(string(row)) }

func parseView(row string) (d DocumentView, err error) {
	r := viewReader{rows.Reader{Rest: row}}
	if r.view(&d) {
		return d, nil
	}
	d = DocumentView{}
	return d, json.Unmarshal([]byte(row), &d)
}

// viewReader decodes what encoding/json writes for a rows.Document.
type viewReader struct{ rows.Reader }

func (r *viewReader) view(d *DocumentView) (ok bool) {
	return r.Object(func(key string) (ok bool) {
		switch key {
		case "record_id":
			d.RecordID, ok = r.String()
		case "uri":
			d.TargetURI, ok = r.String()
		case "title":
			d.Title, ok = r.String()
		case "byline":
			d.Byline, ok = r.String()
		case "date":
			d.Date, ok = r.String()
		case "digest":
			d.Digest, ok = r.String()
		case "site":
			d.Site, ok = r.String()
		case "revisit_of":
			d.RevisitOf, ok = r.String()
		case "type":
			d.MediaType, ok = r.String()
		case "charset":
			d.Charset, ok = r.String()
		case "text_id":
			d.TextID, ok = r.String()
		case "bytes":
			d.Bytes, ok = r.Int()
		case "record_bytes":
			d.RecordBytes, ok = r.Int()
		case "text_bytes":
			d.TextBytes, ok = r.Int()
		case "status":
			var n int64
			n, ok = r.Int()
			d.Status = int(n)
		case "clipped":
			d.Clipped, ok = true, r.True()
		case "derived":
			d.Derived, ok = true, r.True()
		case "choices":
			var names string
			names, ok = r.List('[', ']', (*rows.Reader).Skip)
			ok = ok && d.Choices.UnmarshalJSON([]byte(names)) == nil
		case "charset_from", "kind":
			ok = r.Skip()
		case "repeats":
			_, ok = r.List('{', '}', func(r *rows.Reader) bool { return r.Skip() && r.Take(':') && r.Skip() })
			d.Repeats = true
		case "parsed":
			ok = r.True()
		}
		return ok
	}) && r.Rest == ""
}
