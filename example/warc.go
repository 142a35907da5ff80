package example

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
)

// writeCrawl writes a warcinfo record, then the record of each document, followed
// by its request if there is one. WARC/1.1, ISO 28500:2017.
func writeCrawl(w io.Writer, docs []document) error {
	info := []byte("software: neardup example generator\r\nformat: WARC File Format 1.1\r\n" +
		"description: invented pages with near-duplicates, hosts below .example\r\n")
	infoID := recordID("warcinfo", "crawl.warc.gz")
	err := writeRecord(w, []string{
		"WARC-Type: warcinfo", "WARC-Record-ID: " + infoID, "WARC-Date: 2024-03-04T06:00:00Z",
		"WARC-Filename: crawl.warc.gz", "Content-Type: application/warc-fields",
	}, info)
	for i := 0; err == nil && i < len(docs); i++ {
		d := docs[i]
		head := d.head(infoID, d.Type, d.RecordID, d.media)
		if d.payload != nil {
			head = append(head, "WARC-Payload-Digest: "+digest(d.payload))
		}
		err = writeRecord(w, append(head, d.extra...), d.block)
		if err == nil && d.request {
			id := recordID("request", d.URI, d.Date)
			head := d.head(infoID, "request", id, "application/http; msgtype=request")
			err = writeRecord(w, append(head, "WARC-Concurrent-To: "+d.RecordID), d.requestBlock())
		}
	}
	return err
}

// head returns the header lines that responses and requests share.
func (d document) head(infoID, kind, id, media string) []string {
	uri := d.URI
	if d.wget { // as GNU Wget writes it
		uri = "<" + uri + ">"
	}
	head := []string{"WARC-Type: " + kind, "WARC-Record-ID: " + id, "WARC-Target-URI: " + uri,
		"WARC-Date: " + d.Date, "WARC-Warcinfo-ID: " + infoID, "Content-Type: " + media}
	host, _, _ := strings.Cut(d.Site, ".")
	if i := slices.Index(hosts, host); i >= 0 && (kind == "response" || kind == "request") {
		head = append(head, fmt.Sprintf("WARC-IP-Address: 192.0.2.%d", 11+i))
	}
	return head
}

func (d document) requestBlock() []byte {
	u, err := url.Parse(d.URI)
	if err != nil {
		panic(err)
	}
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: */*\r\nUser-Agent: example-crawler/1.0\r\n\r\n", u.RequestURI(), u.Host)
}

// writeRecord writes a record as a gzip member of its own. The member's header has
// neither time nor name.
func writeRecord(w io.Writer, head []string, block []byte) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("WARC/1.1\r\n")
	for _, h := range head {
		b.WriteString(h + "\r\n")
	}
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(block))
	b.Write(block)
	b.WriteString("\r\n\r\n")
	if _, err := z.Write(b.Bytes()); err != nil {
		return err
	}
	return z.Close()
}
