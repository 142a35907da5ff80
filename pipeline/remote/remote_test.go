package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"neardup/pipeline/remote"
	"neardup/pipeline/remote/remotetest"
)

func TestMain(m *testing.M) {
	remote.FirstPause = time.Millisecond
	s, stop, err := remotetest.Run()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var url string
	if theStore = s; s != nil {
		url, theFaults = s.URL, &s.Faults
	} else {
		url, stop = theFaults.Proxy("http://127.0.0.1:1")
	}
	for _, v := range remotetest.Env(url) {
		name, value, _ := strings.Cut(v, "=")
		_ = os.Setenv(name, value)
	}
	code := m.Run()
	stop()
	os.Exit(code)
}

// content is of random bytes: another place is never the same.
func content(seed uint64, size int) []byte {
	b := make([]byte, size)
	r := rand.NewChaCha8([32]byte{byte(seed)})
	_, _ = r.Read(b)
	return b
}

// target is an object that the tests read: of a web server or of an object store, behind a
// proxy.
type target struct {
	url    string
	faults *remotetest.Faults
	put    func([]byte)
}

// targets calls test with an object of each kind.
func targets(t *testing.T, b []byte, test func(t *testing.T, o target)) {
	t.Run("web", func(t *testing.T) {
		now, tag := b, 1
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/crawl.warc.gz" {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, tag))
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(now))
		}))
		t.Cleanup(s.Close)
		o := target{faults: &remotetest.Faults{}, put: func(b []byte) { now, tag = b, tag+1 }}
		o.url = o.faults.Before(t, s.URL) + "/crawl.warc.gz"
		test(t, o)
	})
	t.Run("s3", func(t *testing.T) {
		s := store(t)
		key := strings.ReplaceAll(t.Name(), "/", "-") + "/crawl of % and ?.warc.gz"
		put := func(b []byte) {
			if err := s.Put(key, b); err != nil {
				t.Fatal(err)
			}
		}
		put(b)
		s.Faults.Set(nil)
		test(t, target{"s3://" + remotetest.Bucket + "/" + key, &s.Faults, put})
	})
}

// theStore is one for all tests, because credentials are looked up once. nil: there is no
// program. theFaults is the proxy before it; without it, one that only faults answer.
var (
	theStore  *remotetest.Store
	theFaults = &remotetest.Faults{}
)

func store(t *testing.T) *remotetest.Store {
	if theStore == nil {
		t.Skip(remotetest.Missing)
	}
	return theStore
}

// read reads all of an object, size bytes at a time.
func read(o *remote.Object, size int) ([]byte, error) {
	var out []byte
	p := make([]byte, size)
	for {
		n, err := o.ReadAt(p, int64(len(out)))
		out = append(out, p[:n]...)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
	}
}

func open(t *testing.T, url string) *remote.Object {
	t.Helper()
	o, err := remote.Open(t.Context(), url, remote.Version{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	return o
}

func TestRead(t *testing.T) {
	for _, size := range []int{0, 1, 64 << 10, 64<<10 + 1, 3 << 20} {
		want := content(1, size)
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			targets(t, want, func(t *testing.T, target target) {
				o := open(t, target.url)
				got, err := read(o, 100_000)
				if err != nil || !bytes.Equal(got, want) || o.Size != int64(size) || o.Tag == "" {
					t.Fatalf("%d bytes, %v; version %+v", len(got), err, o.Version)
				}
				if n := len(target.faults.Asked()); n > 3 {
					t.Errorf("%d requests for one pass", n)
				}
				r := rand.New(rand.NewPCG(1, 2))
				for range 50 {
					p := make([]byte, r.IntN(200_000))
					off := r.Int64N(int64(size) + 1)
					n, err := o.ReadAt(p, off)
					if rest := want[off:]; !bytes.Equal(p[:n], rest[:min(len(rest), len(p))]) || n < len(p) && err != io.EOF {
						t.Fatalf("at %d: %d of %d bytes, %v", off, n, len(p), err)
					}
				}
			})
		})
	}
}

// TestFaults reads an object whose server fails in one way or another for a while.
func TestFaults(t *testing.T) {
	want := content(2, 5<<20)
	for name, fault := range map[string]remotetest.Fault{
		"cut": func(_ int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
			remotetest.Cut(w, r, pass, 700_001)
		},
		"cut before the first byte": func(n int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
			remotetest.Cut(w, r, pass, n%3*1_000_000)
		},
		"503": func(n int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
			if n%4 != 3 {
				w.Header().Set("Retry-After", "0")
				http.Error(w, "slow down", http.StatusServiceUnavailable)
				return
			}
			remotetest.Cut(w, r, pass, 2<<20)
		},
		"another place": func(n int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
			if n%2 == 1 {
				r.Header.Set("Range", "bytes=7-")
				r.Header.Del("Authorization")
			}
			remotetest.Cut(w, r, pass, 2<<20)
		},
	} {
		t.Run(name, func(t *testing.T) {
			targets(t, want, func(t *testing.T, target target) {
				if name == "another place" && strings.HasPrefix(target.url, "s3:") {
					t.Skip("the range is signed")
				}
				target.faults.Set(fault)
				got, err := read(open(t, target.url), 256<<10)
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%d of %d bytes, %v", len(got), len(want), err)
				}
				if n := len(target.faults.Asked()); n < 4 {
					t.Errorf("%d requests: there was no fault", n)
				}
			})
		})
	}
}

// TestGivenUp reads an object whose server goes on failing.
func TestGivenUp(t *testing.T) {
	want := content(3, 5<<20)
	for name, x := range map[string]struct {
		fault remotetest.Fault
		err   string
	}{
		"503": {func(n int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
			if n == 0 {
				pass.ServeHTTP(w, r)
				return
			}
			http.Error(w, "slow down", http.StatusServiceUnavailable)
		}, `at byte 65536: the (server|object store) says 503 .*given up after 8 tries`},
		"a byte at a time": {func(n int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
			remotetest.Cut(w, r, pass, 64<<10+n)
		}, `at byte \d+: .*given up after 8 tries`},
		"403": {func(n int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
			if n == 0 {
				pass.ServeHTTP(w, r)
				return
			}
			http.Error(w, "no", http.StatusForbidden)
		}, `at byte 65536: the (server|object store) says 403 Forbidden`},
	} {
		t.Run(name, func(t *testing.T) {
			targets(t, want, func(t *testing.T, target target) {
				o := open(t, target.url)
				target.faults.Set(x.fault)
				if name != "a byte at a time" {
					target.faults.Set(func(n int, w http.ResponseWriter, r *http.Request, pass http.Handler) { x.fault(n+1, w, r, pass) })
				}
				got, err := read(o, 256<<10)
				matches(t, err, x.err)
				if !bytes.HasPrefix(want, got) {
					t.Error("what was read before is wrong")
				}
				if n := len(target.faults.Asked()); n > 12 {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

// TestChanged reads an object that another takes the place of, with and without another
// size, of a server that knows If-Match and of one that does not.
func TestChanged(t *testing.T) {
	for _, size := range []int{3 << 20, 1 << 20, 70_000} {
		for _, knows := range []bool{true, false} {
			t.Run(fmt.Sprint(size, knows), func(t *testing.T) {
				targets(t, content(4, 3<<20), func(t *testing.T, target target) {
					if !knows && strings.HasPrefix(target.url, "s3:") {
						t.Skip("the condition is signed")
					}
					target.faults.Set(func(_ int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
						if !knows {
							r.Header.Del("If-Match")
						}
						remotetest.Cut(w, r, pass, 1<<20)
					})
					o := open(t, target.url)
					before := o.Version
					p := make([]byte, 500_000)
					if _, err := o.ReadAt(p, 0); err != nil {
						t.Fatal(err)
					}
					target.put(content(5, size))
					if _, err := read(o, 256<<10); !errors.Is(err, remote.ErrChanged) {
						t.Errorf("error %v", err)
					}
					if _, err := remote.Open(t.Context(), target.url, before); !errors.Is(err, remote.ErrChanged) {
						t.Errorf("opened with the former version: %v", err)
					}
					if now := open(t, target.url); now.Version == before {
						t.Error("the version is the same")
					}
				})
			})
		}
	}
}

// TestStrayAnswer reads where one answer is to no request of ours, as when a server sends
// two answers to a request.
func TestStrayAnswer(t *testing.T) {
	want := content(7, 2<<20)
	targets(t, want, func(t *testing.T, target target) {
		target.faults.Set(func(n int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
			if n == 1 {
				return // 200, and nothing
			}
			pass.ServeHTTP(w, r)
		})
		got, err := read(open(t, target.url), 256<<10)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d of %d bytes, error %v", len(got), len(want), err)
		}
	})
}

// TestWithoutRanges reads from a server that sends whole objects only.
func TestWithoutRanges(t *testing.T) {
	want := content(6, 2<<20)
	whole := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		whole++
		w.Header().Set("Last-Modified", "Sun, 22 Nov 2026 10:00:00 GMT")
		w.Header().Set("Content-Length", fmt.Sprint(len(want)))
		if whole == 1 {
			_, _ = w.Write(want[:1<<20])
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(want)
	}))
	t.Cleanup(s.Close)
	o := open(t, s.URL)
	got, err := read(o, 100_000)
	if err != nil || !bytes.Equal(got, want) || whole != 2 || o.Ranged() {
		t.Fatalf("%d bytes of %d answers, %v", len(got), whole, err)
	}
	p := make([]byte, 10)
	for range 20 {
		for _, off := range []int64{1 << 20, 0} {
			if _, err = o.ReadAt(p, off); err != nil {
				break
			}
		}
	}
	if !errors.Is(err, remote.ErrNoRanges) {
		t.Errorf("going back for ever: %v after %d answers", err, whole)
	}
}

// TestAnswers opens objects of servers that answer otherwise than they should.
func TestAnswers(t *testing.T) {
	var there string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gone":
			w.WriteHeader(http.StatusGone)
		case "/long": // nobody knows how long
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			_, _ = w.Write([]byte("text"))
		case "/range":
			w.Header().Set("Content-Range", "bytes 0-9/many")
			w.WriteHeader(http.StatusPartialContent)
		case "/empty": // has no first byte to give
			w.Header().Set("Content-Range", "bytes */0")
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		case "/shorter":
			w.Header().Set("Content-Range", "bytes */5")
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		case "/moved":
			http.Redirect(w, r, "/there?with=query", http.StatusFound)
		case "/circle":
			http.Redirect(w, r, "/circle", http.StatusFound)
		case "/there":
			there = r.Header.Get("Range") + " " + r.URL.RawQuery
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader("text"))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	for path, want := range map[string]string{
		"/none":   `^the server says 404 Not Found$`,
		"/gone":   `^the server says 410 Gone$`,
		"/long":   `^the server does not tell how long it is`,
		"/range":  `^the server's Content-Range "bytes 0-9/many" cannot be read`,
		"/circle": `^the server redirects more than 10 times`,
	} {
		_, err := remote.Open(t.Context(), s.URL+path, remote.Version{})
		matches(t, err, want)
		if missing := path == "/none" || path == "/gone"; errors.Is(err, fs.ErrNotExist) != missing {
			t.Errorf("%s: missing is not %v", path, missing)
		}
	}
	for url, want := range map[string]string{
		"http://me:secret@localhost/x": "a URL with a password",
		"https:///x":                   "the URL has no host",
		"http://no-such-host.invalid/": "there is no host no-such-host.invalid|given up",
		"s3://bucket":                  "this is a bucket, not an object",
		"https://%zz/":                 "this is no URL",
		"s3:///x":                      "no bucket is named",
		"s3://me:secret@bucket/x":      "has no user, password or port",
		"S3://me:sec/ret@bucket/x":     "has no user, password or port",
		"s3://me@bucket/x":             "has no user, password or port",
	} {
		_, err := remote.Open(t.Context(), url, remote.Version{})
		matches(t, err, want)
		if strings.Contains(err.Error(), "sec") {
			t.Errorf("%s: the password is in the message: %v", url, err)
		}
	}
	if _, err := remote.List(t.Context(), "s3://me:secret@bucket/"); err == nil {
		t.Error("a bucket with a password is listed")
	}
	if o := open(t, s.URL+"/moved"); o.Size != 4 || there != "bytes=0-65535 with=query" {
		t.Errorf("moved: %+v, asked for %q", o.Version, there)
	}
	if o := open(t, s.URL+"/empty"); o.Size != 0 {
		t.Errorf("an empty object has %d bytes", o.Size)
	}
	if _, err := remote.Open(t.Context(), s.URL+"/shorter", remote.Version{}); !errors.Is(err, remote.ErrChanged) {
		t.Errorf("an object that has no first byte, and five: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := remote.Open(ctx, s.URL+"/there", remote.Version{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestList(t *testing.T) {
	s := store(t)
	s.Faults.Set(nil)
	var want []string
	for i := range 7 {
		key := fmt.Sprintf("list/%d.warc.gz", i)
		if err := s.Put(key, []byte("x")); err != nil {
			t.Fatal(err)
		}
		want = append(want, "s3://crawls/"+key)
	}
	if err := s.Put("list-other", []byte("x")); err != nil {
		t.Fatal(err)
	}
	s.Faults.Set(func(n int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
		if n == 0 {
			http.Error(w, "slow down", http.StatusServiceUnavailable)
			return
		}
		pass.ServeHTTP(w, r)
	})
	got, err := remote.List(t.Context(), "s3://crawls/list/")
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v %v", got, err)
	}
	if got, err := remote.List(t.Context(), "s3://crawls/nothing"); err != nil || len(got) != 0 {
		t.Errorf("%v %v", got, err)
	}
	_, err = remote.List(t.Context(), "s3://no-such-bucket/")
	matches(t, err, `^the object store says 404 Not Found: NoSuchBucket`)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("a missing bucket is not missing")
	}
	_, err = remote.Open(t.Context(), "s3://crawls/list/8.warc.gz", remote.Version{})
	matches(t, err, `the object store says 404 Not Found: NoSuchKey`)
}
