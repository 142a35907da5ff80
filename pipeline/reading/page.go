package reading

import (
	"fmt"
	"io"
	"os"

	"neardup/extract"
	"neardup/extract/container"
	"neardup/pipeline/extractors"
	"neardup/pipeline/inputs"
	"neardup/pipeline/remote"
	"neardup/pipeline/workspace"
)

// readPage passes the document of a source that may be a single page to take.
// unread is why it is no page.
func (r *reader) readPage(s inputs.Source) (unread, err error) {
	if remote.IsURL(s.Path) {
		return fmt.Errorf("%s; if it is a page, fetch it, and name the file or -", s.Error), nil
	}
	d, reason, unread := Page(r.Extract, s.Path, r.PageURI(s))
	switch {
	case unread != nil:
		return unread, nil
	case reason != extract.ReasonNone:
		return fmt.Errorf("%s; and no page: %s", s.Error, reason), nil
	}
	r.counts.Records++
	r.counts.Capture(d)
	return nil, r.take(d)
}

// Page makes a document from a file that is one page: HTML or plain text of any
// charset, told by its content. reason says why it is none. The document has the
// given URI, which must have no line breaks, and no date.
func Page(o extract.Options, file, uri string) (d extract.Document, reason extract.Reason, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return d, "", fmt.Errorf("%w: %w", workspace.ErrUsage, err)
	}
	if !info.Mode().IsRegular() {
		return d, "", fmt.Errorf("%w: %s is no file", workspace.ErrUsage, file)
	}
	f, err := os.Open(file)
	if err != nil {
		return d, "", err
	}
	defer func() { _ = f.Close() }()
	block, err := io.ReadAll(io.LimitReader(f, o.MaxRecordBytes))
	if err != nil {
		return d, "", err
	}
	raw := container.Raw{Block: block, Length: info.Size(), Clipped: info.Size() > int64(len(block)), Header: []byte(
		"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: " + uri + "\r\n\r\n")}
	d, reason = extractors.New(o).Document(&raw)
	return d, reason, nil
}
