package rows

import (
	"encoding/json"

	"neardup/extract"
)

// Revisit is the row of a revisit record.
type Revisit struct {
	extract.Document
	Resolved string `json:"resolved,omitempty"` // hexadecimal TextID of the capture it refers to
}

// ParseRevisit decodes a Revisit that encoding/json wrote.
func ParseRevisit(row []byte) (v Revisit, err error) {
	r := revisitReader{Reader{string(row)}}
	if r.revisit(&v) {
		return v, nil
	}
	v = Revisit{}
	return v, json.Unmarshal(row, &v)
}

// revisitReader decodes what encoding/json writes for a Revisit.
type revisitReader struct{ Reader }

func (r *revisitReader) revisit(v *Revisit) (ok bool) {
	return r.Object(func(key string) (ok bool) {
		switch key {
		case "record_id":
			ok = text(r, &v.RecordID)
		case "uri":
			ok = text(r, &v.TargetURI)
		case "date":
			ok = text(r, &v.Date)
		case "digest":
			ok = text(r, &v.Digest)
		case "site":
			ok = text(r, &v.Site)
		case "title":
			ok = text(r, &v.Title)
		case "byline":
			ok = text(r, &v.Byline)
		case "type":
			ok = text(r, &v.MediaType)
		case "charset":
			ok = text(r, &v.Charset)
		case "charset_from":
			ok = text(r, &v.CharsetFrom)
		case "kind":
			ok = text(r, &v.Kind)
		case "resolved":
			ok = text(r, &v.Resolved)
		case "status":
			var n int64
			n, ok = r.Int()
			v.Status = int(n)
		case "record_bytes":
			v.RecordBytes, ok = r.Int()
		case "bytes":
			v.Bytes, ok = r.Int()
		case "clipped":
			v.Clipped, ok = true, r.True()
		case "derived":
			v.Derived, ok = true, r.True()
		case "repeats":
			if v.Repeats == nil {
				v.Repeats = &extract.Reference{}
			}
			ok = r.reference(v.Repeats)
		}
		return ok
	}) && r.Rest == ""
}

func (r *revisitReader) reference(v *extract.Reference) bool {
	return r.Object(func(key string) (ok bool) {
		switch key {
		case "record_id":
			ok = text(r, &v.RecordID)
		case "uri":
			ok = text(r, &v.URI)
		case "date":
			ok = text(r, &v.Date)
		case "digest":
			ok = text(r, &v.Digest)
		case "unresolved":
			ok = text(r, &v.Unresolved)
		}
		return ok
	})
}

// text takes a string.
func text[S ~string](r *revisitReader, to *S) bool {
	s, ok := r.String()
	*to = S(s)
	return ok
}
