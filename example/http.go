package example

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
)

// message is an HTTP response.
type message struct {
	status  int
	media   string
	body    []byte
	gzip    bool
	chunked bool
	extra   []string
}

// bytes returns the message as it went over the wire, and the payload for the
// digest. The payload of a chunked body is nil, because archives disagree about its
// digest.
func (m message) bytes() (block, payload []byte) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\nServer: example\r\n", m.status, http.StatusText(m.status))
	if m.media != "" {
		fmt.Fprintf(&b, "Content-Type: %s\r\n", m.media)
	}
	for _, h := range m.extra {
		b.WriteString(h + "\r\n")
	}
	body := m.body
	if m.gzip {
		b.WriteString("Content-Encoding: gzip\r\n")
		body = squeeze(body)
	}
	if !m.chunked {
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(body))
		b.Write(body)
		return b.Bytes(), body
	}
	b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
	for n := 1500; len(body) > 0; n += 700 { // cuts anywhere, within characters too
		n = min(n, len(body))
		fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	b.WriteString("0\r\n\r\n")
	return b.Bytes(), nil
}

// squeeze gzips without compressing. Stored blocks are the same for every version
// of compress/flate, and the record around them is compressed anyway.
func squeeze(b []byte) []byte {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.NoCompression)
	if err == nil {
		_, err = z.Write(b)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil { // a write to a buffer cannot fail
		panic(err)
	}
	return out.Bytes()
}
