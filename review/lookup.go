package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"neardup/report"
)

// formType is what clients such as curl send if they are told nothing. No web server sends
// a page with it.
const formType = "application/x-www-form-urlencoded"

// Asked is a page that a client sends. All but the body may be empty.
type Asked struct {
	URI, ContentType, Coding string // Coding: its Content-Encoding
	Body                     []byte
}

// Finder is an Archive that can look up pages that it may not have.
type Finder interface {
	// Lookup returns what the archive has of a page, with at most limit matches; 0
	// means the default number. The error wraps ErrBusy if too many lookups are waiting,
	// and ErrRefused if the URI is none.
	Lookup(ctx context.Context, page Asked, limit int) (report.Answer, error)
	// MaxPage returns the largest size of a page that may be sent, in bytes.
	MaxPage() int64
}

// ErrBusy reports that a Finder has too many lookups.
var ErrBusy = errors.New("too many lookups at once; try again in a moment")

// maxSent limits the pages of the largest size that may be in memory together.
const maxSent = 4

// maxMatches limits the matches that a request may ask for.
const maxMatches = 100

// lookup looks up a page that a program has sent. Answers and errors are JSON.
func (s *server) lookup(w http.ResponseWriter, r *http.Request) {
	answer, err := s.lookUp(w, r)
	status := http.StatusOK
	if err != nil {
		if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
			return // the client is gone
		}
		var p problem
		switch {
		case errors.As(err, &p):
		case errors.Is(err, ErrBusy):
			w.Header().Set("Retry-After", "1")
			p = problem{http.StatusServiceUnavailable, ErrBusy.Error()}
		case errors.Is(err, ErrRefused):
			p = problem{http.StatusUnprocessableEntity, strings.TrimPrefix(err.Error(), ErrRefused.Error()+": ")}
		default:
			p = problem{http.StatusInternalServerError, "the lookup failed; what failed is in the terminal that neardup serve runs in"}
			if s.options.Failed != nil {
				s.options.Failed(fmt.Errorf("%s %q: %w", r.Method, r.URL.Path, err))
			}
		}
		status = p.status
		answer = map[string]string{"error": p.what}
	}
	answerLookup(w, status, answer)
}

func answerLookup(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(answer) // it fails only if the client is gone
}

func (s *server) lookUp(w http.ResponseWriter, r *http.Request) (any, error) {
	finder, ok := s.archive.(Finder)
	if !ok {
		return nil, problem{http.StatusNotFound, "this archive looks up nothing"}
	}
	asked := inQuery(r)
	if asked.err != nil { // without its end, a URI would be that of another page
		return nil, asked.err
	}
	limit := 0
	if value := asked.Get("limit"); value != "" {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxMatches {
			return nil, bad("limit: %q is no number from 1 to %d", value, maxMatches)
		}
		limit = n
	}
	maxBytes := finder.MaxPage()
	sent := &sentPage{Reader: http.MaxBytesReader(w, r.Body, maxBytes), all: &s.sent, limit: maxSent * maxBytes}
	defer sent.release()
	body, err := io.ReadAll(sent)
	var tooLong *http.MaxBytesError
	switch {
	case errors.Is(err, ErrBusy):
		return nil, err
	case errors.As(err, &tooLong):
		return nil, problem{http.StatusRequestEntityTooLarge, fmt.Sprintf("the page has over %d bytes (extract.max_record_bytes)", maxBytes)}
	case err != nil:
		return nil, bad("the page broke off: %v", err)
	}
	contentType := r.Header.Get("Content-Type")
	if media, _, _ := strings.Cut(contentType, ";"); strings.EqualFold(strings.TrimSpace(media), formType) {
		contentType = ""
	}
	return finder.Lookup(r.Context(), Asked{asked.Get("uri"), contentType, r.Header.Get("Content-Encoding"), body}, limit)
}

// sentPage reads a page that is sent. Bytes count from when they come, so that slow
// clients keep no others out.
type sentPage struct {
	io.Reader
	all   *atomic.Int64 // bytes of all pages that are being sent
	limit int64         // of all
	read  int64         // bytes of this one
}

func (p *sentPage) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.read += int64(n)
	if p.all.Add(int64(n)) > p.limit {
		return n, ErrBusy
	}
	return n, err
}

func (p *sentPage) release() { p.all.Add(-p.read) }
