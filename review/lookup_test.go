package review

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"neardup/report"
)

// finder is an archive that answers with what it was asked.
type finder struct {
	Archive
	err   error
	enter func() // is called at each lookup
}

func (f finder) MaxPage() int64 { return 100 }

func (f finder) Lookup(_ context.Context, p Asked, limit int) (report.Answer, error) {
	if f.enter != nil {
		f.enter()
	}
	return report.Answer{Verdict: report.VerdictNew, Reason: fmt.Sprintf("%s %s %s %s %d", p.URI, p.ContentType, p.Coding, p.Body, limit)}, f.err
}

func sendPage(t *testing.T, h http.Handler, path, body string, header map[string]string) (status int, answer map[string]any, head http.Header) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(body))
	for k, v := range header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Errorf("%s: %v in %q", path, err, w.Body.String())
	}
	return w.Code, answer, w.Header()
}

func TestLookup(t *testing.T) {
	h := New(finder{}, Options{})
	status, answer, _ := sendPage(t, h, "/lookup?uri=https%3A%2F%2Fa.example%2F&limit=3", "a page", map[string]string{"Content-Type": "text/html", "Content-Encoding": "br"})
	if status != http.StatusOK || answer["reason"] != "https://a.example/ text/html br a page 3" {
		t.Error(status, answer)
	}
	if _, answer, _ := sendPage(t, h, "/lookup", "a page", map[string]string{"Content-Type": "Application/x-www-form-urlencoded; charset=utf-8"}); answer["reason"] != "   a page 0" {
		t.Error(answer)
	}
	for _, tt := range []struct {
		name, path, body string
		archive          Archive
		status           int
	}{
		{"too long", "/lookup", strings.Repeat("a", 101), finder{}, http.StatusRequestEntityTooLarge},
		{"no number", "/lookup?limit=many", "a", finder{}, http.StatusBadRequest},
		{"too many", "/lookup?limit=101", "a", finder{}, http.StatusBadRequest},
		{"URI that is not escaped", "/lookup?uri=https://a.example/b;c=1", "a", finder{}, http.StatusBadRequest},
		{"escape that is broken", "/lookup?uri=https://a.example/100%", "a", finder{}, http.StatusBadRequest},
		{"busy", "/lookup", "a", finder{err: ErrBusy}, http.StatusServiceUnavailable},
		{"refused", "/lookup", "a", finder{err: fmt.Errorf("%w: no URI", ErrRefused)}, http.StatusUnprocessableEntity},
		{"failed", "/lookup", "a", finder{err: io.ErrUnexpectedEOF}, http.StatusInternalServerError},
		{"looks up nothing", "/lookup", "a", struct{ Archive }{}, http.StatusNotFound},
	} {
		status, answer, head := sendPage(t, New(tt.archive, Options{}), tt.path, tt.body, nil)
		if status != tt.status || answer["error"] == "" || head.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %v %v", tt.name, status, answer, head)
		}
		if tt.status == http.StatusServiceUnavailable && head.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", tt.name)
		}
	}
	// A form of another site learns nothing; a program, which sends no origin, does.
	if status, answer, _ := sendPage(t, h, "/lookup", "a", map[string]string{"Origin": "https://other.example"}); status != http.StatusForbidden || answer["error"] == "" {
		t.Errorf("from another site: %d %v", status, answer)
	}
	for url, want := range map[string]int{"http://evil.example/lookup": http.StatusMisdirectedRequest, "http://localhost/lookup": http.StatusMethodNotAllowed} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, url, nil))
		var answer struct{ Error string }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != want || answer.Error == "" {
			t.Errorf("GET %s: %d %s", url, w.Code, w.Body)
		}
	}
}

// The pages that are in memory together are bounded.
func TestLookupsTogether(t *testing.T) {
	inside, release := make(chan struct{}), make(chan struct{})
	h := New(finder{enter: func() { inside <- struct{}{}; <-release }}, Options{})
	var g sync.WaitGroup
	for range maxSent {
		g.Go(func() {
			if status, _, _ := sendPage(t, h, "/lookup", strings.Repeat("a", 100), nil); status != http.StatusOK {
				t.Error(status)
			}
		})
		<-inside
	}
	if status, _, _ := sendPage(t, h, "/lookup", "a", nil); status != http.StatusServiceUnavailable {
		t.Errorf("over the bound: %d", status)
	}
	close(release)
	g.Wait()
	go func() { <-inside }()
	if status, _, _ := sendPage(t, h, "/lookup", "a", nil); status != http.StatusOK {
		t.Errorf("afterwards: %d", status)
	}
}

// Clients that send slowly keep no others out.
func TestSlowClients(t *testing.T) {
	h := New(finder{}, Options{})
	var g sync.WaitGroup
	defer g.Wait()
	for range 3 * maxSent {
		from, to := io.Pipe()
		g.Go(func() {
			defer from.Close()
			r := httptest.NewRequest(http.MethodPost, "http://localhost/lookup", from) // of unknown length
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != http.StatusOK {
				t.Error("of a slow client: ", w.Code)
			}
		})
		if _, err := to.Write([]byte("a")); err != nil {
			t.Fatal(err)
		}
		defer to.Close()
	}
	if status, _, _ := sendPage(t, h, "/lookup", strings.Repeat("a", 100), nil); status != http.StatusOK {
		t.Errorf("beside slow clients: %d", status)
	}
}
