package groups

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"neardup/extract"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
)

// A row of the temporary files of Gather is parsed, or refused if it is cut short.
func TestParseGathered(t *testing.T) {
	id := extract.ID{3}
	text := rows.TextID{2}
	place := layout.DocumentKey(id, "a.warc/1", 77)[1+len(id):]
	k := slices.Concat(text[:], text[:], id[:])
	v := slices.Concat([]byte{byte(len(place) >> 8), byte(len(place))}, place, []byte(`{"record_id":"<urn:a>"}`))
	m, err := parseGathered(extsort.Entry{Key: k, Value: v})
	if err != nil || m.RecordID != "<urn:a>" || m.Offset != 77 || m.WARC != "a.warc" || m.Document != id.String() {
		t.Fatalf("%+v, %v", m, err)
	}
	for name, e := range map[string]extsort.Entry{
		"a short key":              {Key: k[:len(k)-1], Value: v},
		"a long key":               {Key: append(k[:len(k):len(k)], 0), Value: v},
		"no value":                 {Key: k},
		"half a length":            {Key: k, Value: v[:1]},
		"a value without a place":  {Key: k, Value: v[:2]},
		"half a place":             {Key: k, Value: v[:1+len(place)]},
		"a place that is cut":      {Key: k, Value: slices.Concat([]byte{0, 1}, v[2:3])},
		"no document":              {Key: k, Value: v[:2+len(place)]},
		"half a document":          {Key: k, Value: v[:len(v)-1]},
		"a document of other kind": {Key: k, Value: append(v[:2+len(place):2+len(place)], "[]"...)},
	} {
		if m, err := parseGathered(e); !errors.Is(err, layout.ErrCorrupt) || strings.Contains(m.RecordID, "urn") {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}
