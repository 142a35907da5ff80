package review

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
)

// Options is what the pages need besides the archive.
type Options struct {
	Name    string          // of the workspace
	Version string          // of the program
	Hosts   []string        // names and addresses that requests may be for, besides the loopback's
	Failed  func(err error) // called with each failure; nil: ignored

	ReadOnly bool // nothing can be judged
}

// maxBody limits a posted form, in bytes: a note and some names.
const maxBody = 64 << 10

// lookupPath is the path to which whole pages are posted.
const lookupPath = "/lookup"

// policy lets a page load only what this handler serves, be in no frame, and send
// forms only here. If crawled markup ever escaped its escaping, it still could do
// nothing.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// server is the handler's state.
type server struct {
	archive Archive
	options Options
	pages   pages
	assets  assets
	hosts   map[string]bool
	sent    atomic.Int64 // bytes of pages that are being looked up
}

// New returns a handler that serves an archive. Only judgements, samples and
// lookups are posted; everything else is read. There is no password: whoever
// reaches the address can see and judge everything.
func New(a Archive, o Options) http.Handler {
	s := &server{archive: a, options: o, assets: loadAssets(), hosts: map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true}}
	s.pages = loadPages(s.assets)
	for _, h := range o.Hosts {
		s.hosts[strings.ToLower(h)] = true
	}
	mux := http.NewServeMux()
	for pattern, h := range map[string]handler{
		"GET /{$}":                       s.overview,
		"GET /clusters":                  s.clusters,
		"GET /search":                    s.search,
		"GET /cluster/{id}":              s.cluster,
		"GET /pair":                      s.choosePair,
		"GET /pair/{a}/{b}":              s.pair,
		"POST /pair/{a}/{b}":             s.judgePair,
		"GET /page/{document}":           s.page,
		"GET /contained":                 s.contained,
		"GET /audit":                     s.audits,
		"POST /audit":                    s.draw,
		"GET /audit/{name}":              s.audit,
		"POST /audit/{name}":             s.beginAudit,
		"GET /audit/{name}/pages.tsv":    s.truthPages,
		"GET /audit/{name}/truth.tsv":    s.truthPairs,
		"GET /audit/{name}/labels.jsonl": s.labels,
		"GET /audit/{name}/result.json":  s.result,
		"GET /audit/{name}/{item}":       s.item,
		"POST /audit/{name}/{item}":      s.judgeItem,
		"GET /enforced":                  s.enforced,
		"GET /assets/{file}":             s.asset,
		"GET /":                          func(http.ResponseWriter, *http.Request) error { return fmt.Errorf("page %w", ErrNotFound) },
	} {
		mux.Handle(pattern, s.handle(h))
	}
	mux.HandleFunc("POST "+lookupPath, s.lookup)
	mux.Handle("GET "+lookupPath, s.handle(func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Allow", http.MethodPost)
		return problem{http.StatusMethodNotAllowed, "a page to look up is sent by POST"}
	}))
	// A form of another site that is posted here carries that site's origin.
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(s.handle(func(http.ResponseWriter, *http.Request) error {
		return problem{http.StatusForbidden, "This form was sent from another site. Send it from the page of this program."}
	}))
	return s.guard(cross.Handler(mux))
}

// guard sets the headers of all answers. It rejects requests for another host: if a
// name of another site led to this address (DNS rebinding), that site's script
// could read the pages.
func (s *server) guard(next http.Handler) http.Handler {
	return s.handle(func(w http.ResponseWriter, r *http.Request) error {
		for key, value := range map[string]string{
			"Content-Security-Policy":      policy,
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control":                "no-store",
		} {
			w.Header().Set(key, value)
		}
		if !s.hosts[hostOf(r.Host)] {
			return problem{http.StatusMisdirectedRequest, "This address is not served here. Open the address that neardup serve has printed."}
		}
		if r.URL.Path != lookupPath { // which has a limit of its own
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		}
		next.ServeHTTP(w, r)
		return nil
	})
}

// hostOf returns a Host header without its port.
func hostOf(h string) string {
	if host, _, err := net.SplitHostPort(h); err == nil {
		h = host
	}
	return strings.ToLower(strings.Trim(h, "[]"))
}

// handler answers a request, or returns an error.
type handler func(http.ResponseWriter, *http.Request) error

// problem describes what is wrong with a request, for people.
type problem struct {
	status int
	what   string
}

func (p problem) Error() string { return p.what }

func bad(format string, args ...any) error {
	return problem{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// handle answers errors and panics. Pages are rendered completely before they are
// written, so nothing was sent by then.
func (s *server) handle(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch p := recover(); p {
			case nil:
			case http.ErrAbortHandler:
				panic(p)
			default:
				s.fail(w, r, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			}
		}()
		if err := h(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var p problem
	var tooLong *http.MaxBytesError
	switch {
	case r.Context().Err() != nil && errors.Is(err, context.Canceled):
		return // the client is gone
	case errors.As(err, &p):
	case errors.As(err, &tooLong):
		p = problem{http.StatusRequestEntityTooLarge, "What was sent is too long. Shorten the note."}
	case errors.Is(err, ErrNotFound):
		p = problem{http.StatusNotFound, "There is no such " + what(r.URL.Path) + ". It may be from before the last run: look for it again."}
	case errors.Is(err, ErrRefused):
		p = problem{http.StatusUnprocessableEntity, strings.TrimPrefix(err.Error(), ErrRefused.Error()+": ")}
	default:
		p = problem{http.StatusInternalServerError, "This page could not be made. What failed is in the terminal that neardup serve runs in."}
		if s.options.Failed != nil {
			s.options.Failed(fmt.Errorf("%s %q: %w", r.Method, r.URL.Path, err))
		}
	}
	if r.URL.Path == lookupPath { // which programs ask
		answerLookup(w, p.status, map[string]string{"error": p.what})
		return
	}
	if err := s.show(w, r, p.status, "error", view{Title: http.StatusText(p.status), Body: p.what}); err != nil {
		http.Error(w, p.what, p.status)
	}
}

// what returns the name of the thing that a path is about.
func what(path string) string {
	for _, name := range []string{"cluster", "pair", "page", "audit"} {
		if strings.HasPrefix(path, "/"+name+"/") {
			return name
		}
	}
	return "page"
}
