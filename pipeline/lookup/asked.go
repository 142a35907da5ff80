package lookup

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"neardup/extract"
	"neardup/extract/container"
	"neardup/pipeline/inputs"
	"neardup/pipeline/reading"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// Asked is a page as a server or a crawler hands it over.
type Asked struct {
	URI         string // of the page; empty: unknown, and then the page has no site
	ContentType string // as the server sent it; empty: the content decides
	Coding      string // Content-Encoding of the body, likewise
	Body        []byte
}

// Page looks up a page and returns at most limit matches; 0 means the default
// number. A page without visible text also gets an answer.
func (x *Index) Page(ctx context.Context, p Asked, limit int) (a report.Answer, err error) {
	if err := CheckURI(p.URI); err != nil {
		return a, &uriError{err}
	}
	err = x.take(ctx, func(wk *worker) error {
		d, reason := wk.extractor.Document(p.raw())
		d = asAsked(d)
		if reason != extract.ReasonNone {
			a = report.Answer{Verdict: report.VerdictNoPage, Reason: string(reason), Matches: []report.Match{}, Archive: x.state, Page: report.AskedPage{URI: d.TargetURI}}
			return nil
		}
		a, err = wk.answer(ctx, d, limit)
		return err
	})
	return a, err
}

// uriError is ErrUsage.
type uriError struct{ error }

func (*uriError) Is(target error) bool { return target == workspace.ErrUsage }

// CheckURI rejects a URI that does not fit into a record's header.
func CheckURI(uri string) error {
	if strings.ContainsFunc(uri, func(r rune) bool { return r < ' ' || r == 0x7f }) || len(uri) > maxURI {
		return fmt.Errorf("the URI has control characters, or over %d bytes", maxURI)
	}
	return nil
}

const maxURI = 8 << 10

// noURI stands for an unknown URI, since a record must have one.
const noURI = "urn:neardup:asked"

// asAsked removes from a document the fields that only stand for unknown values.
func asAsked(d extract.Document) extract.Document {
	if d.TargetURI == noURI {
		d.TargetURI, d.Site = "", ""
	}
	if strings.HasPrefix(d.RecordID, "<urn:neardup:") {
		d.RecordID = ""
	}
	return d
}

// raw returns the page as a record that states only what is known.
func (p Asked) raw() *container.Raw {
	uri := p.URI
	if uri == "" {
		uri = noURI
	}
	head := ""
	for _, field := range [][2]string{{"Content-Type", p.ContentType}, {"Content-Encoding", p.Coding}} {
		if field[1] != "" && !strings.ContainsAny(field[1], "\r\n") {
			head += field[0] + ": " + field[1] + "\r\n"
		}
	}
	if head == "" {
		return &container.Raw{Block: p.Body, Length: int64(len(p.Body)),
			Header: []byte("WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: " + uri + "\r\n\r\n")}
	}
	block := append([]byte("HTTP/1.1 200 OK\r\n"+head+"\r\n"), p.Body...)
	return &container.Raw{Block: block, Length: int64(len(block)),
		Header: []byte("WARC/1.1\r\nWARC-Type: response\r\nContent-Type: application/http;msgtype=response\r\nWARC-Target-URI: " + uri + "\r\n\r\n")}
}

// Sources looks up the pages of sources, in order. o.PageURI returns the URI of a
// source that is a single page, or "" if it is unknown. If the error wraps
// workspace.ErrInputFailure, everything readable was looked up.
func (x *Index) Sources(ctx context.Context, sources []inputs.Source, o reading.Options, limit int, emit func(report.Answer) error) (results.ExtractCounts, error) {
	o.Extract = x.w.Config.Extract
	pageURI := o.PageURI
	o.PageURI = func(s inputs.Source) string { return cmp.Or(pageURI(s), noURI) }
	const together = 64 // pages that are looked up at a time
	var batch []extract.Document
	flush := func() error {
		answers := make([]report.Answer, len(batch))
		g, gctx := errgroup.WithContext(ctx)
		g.SetLimit(cap(x.workers))
		for i, d := range batch {
			g.Go(func() error {
				return x.take(gctx, func(wk *worker) (err error) {
					answers[i], err = wk.answer(gctx, d, limit)
					return err
				})
			})
		}
		batch = batch[:0]
		err := g.Wait()
		for i := 0; i < len(answers) && err == nil; i++ {
			err = emit(answers[i])
		}
		return err
	}
	counts, err := reading.Each(ctx, sources, o, func(d extract.Document) error {
		if batch = append(batch, asAsked(d)); len(batch) < together {
			return nil
		}
		return flush()
	})
	if err == nil || errors.Is(err, workspace.ErrInputFailure) {
		err = errors.Join(flush(), err)
	}
	return counts, err
}

// CheckAddress rejects what is no URL of a page. Such a URL is not to have a password.
func CheckAddress(address string) error {
	switch u, err := url.Parse(address); {
	case err != nil || u.User != nil: // it is not repeated: logs would keep the password
		return fmt.Errorf("%w: a URL cannot be read, or has a user or a password in it", workspace.ErrUsage)
	case u.Host == "":
		return fmt.Errorf("%w: %q is no URL of a page", workspace.ErrUsage, address)
	}
	return nil
}

// fetchTime limits the time of fetching a page.
const fetchTime = time.Minute

// Fetch reads a page of at most maxBody bytes from a web server. It follows
// redirections, except from https to http, and the page has the URI that they lead to.
// The page is what the server sends to a program, which may differ from what it sends
// to a browser.
func Fetch(ctx context.Context, address string, maxBody int64) (p Asked, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	if err := CheckAddress(address); err != nil {
		return p, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return p, fmt.Errorf("%w: %w", workspace.ErrUsage, err)
	}
	r.Header.Set("User-Agent", "neardup")
	client := http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) >= 10 || via[len(via)-1].URL.Scheme == "https" && next.URL.Scheme != "https" {
			return errors.New("the redirections are too many, or lead from https to http")
		}
		return nil
	}}
	answer, err := client.Do(r)
	if err != nil {
		return p, fmt.Errorf("%w: %w", workspace.ErrInputFailure, err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return p, fmt.Errorf("%w: %s answers %s", workspace.ErrInputFailure, address, answer.Status)
	}
	var body bytes.Buffer
	n, err := io.Copy(&body, io.LimitReader(answer.Body, maxBody+1))
	switch {
	case err != nil:
		return p, fmt.Errorf("%w: %s: %w", workspace.ErrInputFailure, address, err)
	case n > maxBody:
		return p, fmt.Errorf("%w: %s has over %d bytes (extract.max_record_bytes)", workspace.ErrInputFailure, address, maxBody)
	}
	if final := *answer.Request.URL; answer.Request != r { // a crawl has the page under this address
		final.User, final.Fragment, final.RawFragment = nil, "", ""
		address = final.String()
	}
	return Asked{URI: address, ContentType: answer.Header.Get("Content-Type"), Coding: answer.Header.Get("Content-Encoding"), Body: body.Bytes()}, nil
}
