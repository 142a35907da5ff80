package report

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"unicode/utf8"
)

// NewJSONL returns a writer of one line of JSON for each cluster.
func NewJSONL(w io.Writer) Writer {
	j := &jsonl{w: w}
	j.other = json.NewEncoder(&j.buffer)
	j.other.SetEscapeHTML(false)
	return j
}

// jsonl writes what encoding/json writes for a Cluster, most of it in a quarter of the
// time: runs write all clusters again after each crawl. encoding/json writes strings with
// other characters than printable ASCII, contained pages and choices.
type jsonl struct {
	w      io.Writer
	line   []byte
	buffer bytes.Buffer
	other  *json.Encoder // into the buffer
	err    error         // of other
}

func (j *jsonl) Write(c Cluster) error {
	j.line = j.cluster(j.line[:0], &c)
	if j.err != nil {
		return j.err
	}
	_, err := j.w.Write(j.line)
	return err
}

func (j *jsonl) Close() error { return nil }

func (j *jsonl) cluster(b []byte, c *Cluster) []byte {
	if c.From == 0 {
		b = j.begin(b, c)
	}
	for i := range c.Members {
		if c.From+i > 0 {
			b = append(b, ',')
		}
		b = j.member(b, &c.Members[i])
	}
	if c.More {
		return b
	}
	if c.Members != nil {
		b = append(b, ']')
	}
	if len(c.Contained) > 0 {
		b = j.any(append(b, `,"contained":`...), c.Contained)
	}
	return append(b, "}\n"...)
}

// begin appends what comes before the members.
func (j *jsonl) begin(b []byte, c *Cluster) []byte {
	b = j.string(append(b, `{"cluster":`...), c.ID)
	b = strconv.AppendInt(append(b, `,"size":`...), int64(c.Size), 10)
	b = j.string(append(b, `,"representative":`...), c.Representative)
	b = j.optional(b, `,"estimated_by":`, c.EstimatedBy)
	b = append(b, `,"members":`...)
	if c.Members == nil {
		return append(b, "null"...)
	}
	return append(b, '[')
}

func (j *jsonl) member(b []byte, m *Member) []byte {
	b = j.string(append(b, `{"record_id":`...), m.RecordID)
	b = j.string(append(b, `,"uri":`...), m.URI)
	b = j.string(append(b, `,"date":`...), m.Date)
	b = j.optional(b, `,"title":`, m.Title)
	b = j.optional(b, `,"byline":`, m.Byline)
	if m.Unsure {
		b = append(b, `,"main_unsure":true`...)
	}
	b = j.string(append(b, `,"warc":`...), m.WARC)
	b = j.string(append(b, `,"path":`...), m.Path)
	b = j.optional(b, `,"entry":`, m.Entry)
	b = strconv.AppendInt(append(b, `,"offset":`...), m.Offset, 10)
	b = j.string(append(b, `,"digest":`...), m.Digest)
	b = j.string(append(b, `,"relation":`...), string(m.Relation))
	b = m.Resemblance.append(append(b, `,"resemblance":`...))
	b = m.Containment.append(append(b, `,"containment":`...))
	b = j.string(append(b, `,"verified_against":`...), m.VerifiedAgainst)
	b = j.optional(b, `,"revisit_of":`, m.RevisitOf)
	if m.Chosen != nil {
		b = j.any(append(b, `,"chosen":`...), m.Chosen)
	}
	return append(b, '}')
}

// optional appends a field, unless its value is empty.
func (j *jsonl) optional(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return j.string(append(b, name...), value)
}

func (j *jsonl) string(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return j.any(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// any appends a value as encoding/json writes it.
func (j *jsonl) any(b []byte, v any) []byte {
	j.buffer.Reset()
	if err := j.other.Encode(v); err != nil {
		j.err = err
		return b
	}
	return append(b, bytes.TrimSuffix(j.buffer.Bytes(), []byte("\n"))...)
}
