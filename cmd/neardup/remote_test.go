package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"neardup/pipeline/remote/remotetest"
)

// objects are what a script reads by URL: an object store, if there is one, and a web
// server, each behind a proxy.
type objects struct {
	store *remotetest.Store
	web   remotetest.Faults
	dir   string
}

var allObjects sync.Map // of *testscript.TestScript to *objects

// scriptObjects starts the servers. WEB is the URL of the web server.
func scriptObjects(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 0, "objects")
	o := &objects{dir: ts.MkAbs("web")}
	ts.Check(os.MkdirAll(o.dir, 0o777))
	server := httptest.NewServer(http.FileServer(http.Dir(o.dir)))
	proxied, stop := o.web.Proxy(server.URL)
	ts.Defer(func() {
		stop()
		server.Close()
	})
	ts.Setenv("WEB", proxied)
	store, stop, err := remotetest.Run()
	ts.Check(err)
	ts.Defer(stop)
	if o.store = store; store != nil {
		for _, v := range store.Env() {
			name, value, _ := strings.Cut(v, "=")
			ts.Setenv(name, value)
		}
	}
	allObjects.Store(ts, o)
}

func objectsOf(ts *testscript.TestScript) *objects {
	o, ok := allObjects.Load(ts)
	if !ok {
		ts.Fatalf("objects must come before")
	}
	return o.(*objects)
}

func scriptPut(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "put FILE KEY")
	o, content := objectsOf(ts), []byte(ts.ReadFile(args[0]))
	path := filepath.Join(o.dir, filepath.FromSlash(args[1]))
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o777))
	if !strings.HasSuffix(args[1], "/") { // the marker of a folder
		ts.Check(os.WriteFile(path, content, 0o644))
	}
	if o.store != nil {
		ts.Check(o.store.Put(args[1], content))
	}
}

// scriptFaults spoils answers: each is cut off (cut), three of four are a 503 (busy), all are
// (down), all requests for ranges get the whole (whole), one that nobody asked for follows
// (more), or none (none).
func scriptFaults(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 1, "faults cut|busy|down|whole|more|none")
	faults := map[string]remotetest.Fault{
		"none": nil,
		"cut": func(n int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
			remotetest.Cut(w, r, pass, 20_000+n%2*100_000)
		},
		"busy": func(n int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
			if n%4 != 3 {
				http.Error(w, "slow down", http.StatusServiceUnavailable)
				return
			}
			pass.ServeHTTP(w, r)
		},
		"down": func(_ int, w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			http.Error(w, "down", http.StatusServiceUnavailable)
		},
		"whole": func(_ int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
			r.Header.Del("Range")
			pass.ServeHTTP(w, r)
		},
		"more": remotetest.More,
	}
	fault, ok := faults[args[0]]
	if !ok {
		ts.Fatalf("no fault %q", args[0])
	}
	o := objectsOf(ts)
	o.web.Set(fault)
	if o.store != nil {
		o.store.Faults.Set(fault)
	}
}
