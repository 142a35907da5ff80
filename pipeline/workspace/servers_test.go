package workspace_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/remote"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// The server of inputs that are done is asked only where the answer matters: not by a run
// that names inputs, by a run without inputs until it has failed for one object, and by
// status once.
func TestServersOfDoneInputs(t *testing.T) {
	remote.FirstPause = time.Millisecond
	content, err := os.ReadFile(pipetest.Crawl(t))
	if err != nil {
		t.Fatal(err)
	}
	var down atomic.Bool
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if down.Load() {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	t.Cleanup(s.Close)
	dir, local := filepath.Join(t.TempDir(), "ws"), pipetest.Crawl(t)
	var urls []string
	for i := range 4 {
		urls = append(urls, fmt.Sprintf("%s/%d.warc.gz", s.URL, i))
	}
	if err := runWith(t, dir, urls...); err != nil {
		t.Fatal(err)
	}
	down.Store(true)
	for _, x := range []struct {
		name string
		do   func() error
		want int32
	}{
		{"a run that names an input", func() error { return runWith(t, dir, local) }, 0},
		{"a run without inputs", func() error { return runWith(t, dir) }, 8},
		{"status", func() error {
			status, err := workspace.ReadStatus(t.Context(), dir, stages.All, nil)
			for _, s := range status.Inputs {
				if remote.IsURL(s.Path) && !strings.HasPrefix(s.Note, "cannot be looked at: ") {
					t.Errorf("%s: %q", s.Path, s.Note)
				}
			}
			return err
		}, 1},
	} {
		asked.Store(0)
		if err := x.do(); err != nil || asked.Load() != x.want {
			t.Errorf("%s: %d requests, %v; want %d", x.name, asked.Load(), err, x.want)
		}
	}
}
