package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Limits for a server.
const (
	connectTime = 20 * time.Second
	headerTime  = 60 * time.Second // until an answer begins
	stallTime   = 60 * time.Second // waiting for stallBytes of an answer
	stallBytes  = 64 << 10
	maxMoves    = 10 // redirections
)

// client makes requests. It accepts no content coding: a transport that decodes
// would shift the offsets.
var client = &http.Client{
	Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: connectTime}).DialContext,
		TLSHandshakeTimeout:   connectTime,
		ResponseHeaderTimeout: headerTime,
		IdleConnTimeout:       headerTime,
		MaxIdleConnsPerHost:   maxStream,
		DisableCompression:    true,
		ForceAttemptHTTP2:     true,
	},
	CheckRedirect: func(r *http.Request, via []*http.Request) error {
		switch {
		case len(via) >= maxMoves:
			return permanent{fmt.Errorf("the server redirects more than %d times", maxMoves)}
		case via[len(via)-1].URL.Scheme == "https" && r.URL.Scheme != "https":
			return permanent{errors.New("the server redirects from https to " + r.URL.Scheme)}
		}
		return nil
	},
}

// web is an object of a web server.
type web struct{ url string }

func (w web) get(ctx context.Context, from, to int64, want Version) (*answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url, nil)
	if err != nil {
		cancel(nil)
		return nil, permanent{err}
	}
	r.Header.Set("User-Agent", "neardup")
	r.Header.Set("Accept-Encoding", "identity")
	r.Header.Set("Range", byteRange(from, to))
	if strong(want.Tag) {
		r.Header.Set("If-Match", want.Tag)
	}
	resp, err := client.Do(r)
	if err != nil {
		cancel(nil)
		return nil, explain(err)
	}
	a := &answer{Version: Version{-1, version(resp.Header.Get("ETag"), resp.Header.Get("Last-Modified"))}}
	a.body = stallBody(resp.Body, cancel)
	switch resp.StatusCode {
	case http.StatusOK:
		a.Size = resp.ContentLength
		return a, nil
	case http.StatusPartialContent:
		a.ranged = true
		if a.from, a.till, a.Size, err = contentRange(resp.Header.Get("Content-Range")); err == nil {
			return a, nil
		}
		err = permanent{err}
	case http.StatusRequestedRangeNotSatisfiable:
		if _, _, size, rangeErr := contentRange(resp.Header.Get("Content-Range")); rangeErr == nil && size == 0 && from == 0 {
			a.ranged, a.Size = true, 0
			return a, nil
		}
		err = ErrChanged // it is shorter now
	case http.StatusPreconditionFailed:
		err = ErrChanged
	default:
		err = &failure{resp.StatusCode, "the server says " + resp.Status, retryAfter(resp.Header)}
	}
	_ = a.body.Close()
	return nil, err
}

// explain marks errors that a retry will not cure as permanent.
func explain(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err // the message names the URL already
	}
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return &failure{http.StatusNotFound, "there is no host " + dns.Name, 0}
	}
	var p permanent
	if err == nil || errors.As(err, &p) {
		return err
	}
	for _, sign := range []string{"x509: ", "server gave HTTP response to HTTPS client", "unsupported protocol scheme"} {
		if strings.Contains(err.Error(), sign) {
			return permanent{err}
		}
	}
	return err
}

func byteRange(from, to int64) string {
	if to == 0 {
		return fmt.Sprintf("bytes=%d-", from)
	}
	return fmt.Sprintf("bytes=%d-%d", from, to-1)
}

// version returns what identifies a version: a strong ETag, else a date, else a
// weak ETag.
func version(etag, modified string) string {
	if strong(etag) || modified == "" {
		return etag
	}
	return modified
}

// strong reports whether If-Match accepts a tag. Weak tags and dates are only
// compared.
func strong(tag string) bool { return strings.HasPrefix(tag, `"`) }

// contentRange parses a Content-Range field: bytes FIRST-LAST/SIZE. till is behind LAST.
func contentRange(v string) (from, till, size int64, err error) {
	span, total, found := strings.Cut(strings.TrimPrefix(v, "bytes "), "/")
	size, err = strconv.ParseInt(total, 10, 64)
	if span != "*" {
		first, last, _ := strings.Cut(span, "-")
		var firstErr, lastErr error
		from, firstErr = strconv.ParseInt(first, 10, 64)
		till, lastErr = strconv.ParseInt(last, 10, 64)
		till++
		err = errors.Join(err, firstErr, lastErr)
		found = found && from >= 0 && from < till
	}
	if !found || err != nil || size < 0 || !strings.HasPrefix(v, "bytes ") {
		return 0, 0, 0, fmt.Errorf("the server's Content-Range %q cannot be read", v)
	}
	return from, till, size, nil
}

// retryAfter returns how long the server asks to wait.
func retryAfter(h http.Header) time.Duration {
	if s, err := strconv.Atoi(h.Get("Retry-After")); err == nil && s > 0 {
		return time.Duration(min(s, int(maxPause/time.Second))) * time.Second
	}
	if t, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return time.Until(t)
	}
	return 0
}

var errStalled = fmt.Errorf("less than %d KiB came within %v", stallBytes>>10, stallTime)

// stallBody returns a body whose reads fail if they wait longer than stallTime for
// stallBytes. The time between reads does not count. cancel ends its request.
func stallBody(body io.ReadCloser, cancel context.CancelCauseFunc) io.ReadCloser {
	return &watched{body: body, cancel: cancel}
}

type watched struct {
	body   io.ReadCloser
	cancel context.CancelCauseFunc
	came   int           // bytes, up to stallBytes
	waited time.Duration // for these
}

func (w *watched) Read(p []byte) (int, error) {
	var stalled error
	began := time.Now()
	over := time.AfterFunc(stallTime-w.waited, func() { w.cancel(errStalled) })
	n, err := w.body.Read(p)
	if !over.Stop() {
		stalled = errStalled
	}
	if err != nil && stalled != nil {
		err = stalled
	}
	w.came, w.waited = w.came+n, w.waited+time.Since(began)
	if w.came >= stallBytes {
		w.came, w.waited = 0, 0
	}
	return n, err
}

func (w *watched) Close() error {
	w.cancel(nil)
	return w.body.Close()
}
