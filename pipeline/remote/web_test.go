package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go/logging"
)

// A redirection from https to http is refused wherever it comes in a chain.
func TestRedirections(t *testing.T) {
	request := func(url string) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, x := range []struct {
		chain []string
		ok    bool
	}{
		{[]string{"http://a/", "http://b/"}, true},
		{[]string{"http://a/", "https://b/"}, true},
		{[]string{"https://a/", "https://b/"}, true},
		{[]string{"https://a/", "http://b/"}, false},
		{[]string{"http://a/", "https://b/", "http://c/"}, false},
		{[]string{"http://a/", "https://b/", "https://c/", "http://d/"}, false},
	} {
		var via []*http.Request
		for _, url := range x.chain[:len(x.chain)-1] {
			via = append(via, request(url))
		}
		err := client.CheckRedirect(request(x.chain[len(x.chain)-1]), via)
		if (err == nil) != x.ok {
			t.Errorf("%v: %v", x.chain, err)
		}
	}
}

// slowBody sends so many bytes every two seconds.
type slowBody struct {
	ctx  context.Context
	each int
}

func (b *slowBody) Read(p []byte) (int, error) {
	select {
	case <-b.ctx.Done():
		return 0, context.Cause(b.ctx)
	case <-time.After(2 * time.Second):
		return min(len(p), b.each), nil
	}
}

func (b *slowBody) Close() error { return nil }

// A server that sends less than it must is given up, even if it never pauses for long.
// Time in which nobody reads does not count.
func TestStalls(t *testing.T) {
	for _, x := range []struct {
		name  string
		each  int
		pause time.Duration
		ok    bool
	}{
		{"a byte at a time", 1, 0, false},
		{"just too slow", stallBytes / 31, 0, false},
		{"slow", stallBytes / 28, 0, true},
		{"a slow reader", stallBytes / 28, time.Hour, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			body := stallBody(&slowBody{ctx, x.each}, cancel)
			began, p := time.Now(), make([]byte, stallBytes)
			var err error
			for n, read := 0, 0; n < 10*stallBytes && err == nil; n += read {
				time.Sleep(x.pause)
				read, err = body.Read(p)
			}
			took := time.Since(began)
			if x.ok && err != nil || !x.ok && (!errors.Is(err, errStalled) || took != stallTime) {
				t.Errorf("%s: %v after %v", x.name, err, took)
			}
			_ = body.Close()
		})
	}
}

// The AWS SDK writes no lines of its own beside those of the program.
func TestObjectStoreIsQuiet(t *testing.T) {
	b, _, err := splitBucket("s3://crawls/")
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.client()
	if err != nil {
		t.Fatal(err)
	}
	if _, quiet := c.Options().Logger.(logging.Nop); !quiet {
		t.Errorf("the client writes to %T", c.Options().Logger)
	}
}

// A server may send fewer bytes than it is asked for, if it says so. Then the rest is asked
// for at once. A server that sends all from some request on is read from the start.
func TestParts(t *testing.T) {
	content := make([]byte, 300_000)
	for i := range content {
		content[i] = byte(i * i >> 7)
	}
	for _, tt := range []struct {
		name string
		most int // bytes of an answer
		all  int // from this request on, the whole object is sent
	}{{"less than the first block", 20_000, 1 << 30}, {"less than the rest", 100_000, 1 << 30}, {"all at last", 1 << 30, 1}, {"parts, then all", 70_000, 2}} {
		n := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var from int
			if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); err != nil {
				t.Error(err)
			}
			if n++; n > tt.all {
				_, _ = w.Write(content)
				return
			}
			part := content[from:min(len(content), from+tt.most)]
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, from+len(part)-1, len(content)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(part)
		}))
		o, err := Open(t.Context(), server.URL, Version{})
		if err != nil {
			t.Fatal(err)
		}
		began := o.tries
		got, err := io.ReadAll(io.NewSectionReader(o, 0, o.Size))
		server.Close()
		if err != nil || !bytes.Equal(got, content) || tt.all > n && o.tries != began {
			t.Errorf("%s: %d bytes, %d tries, %v", tt.name, len(got), o.tries, err)
		}
	}
}

func TestContentRange(t *testing.T) {
	for _, tt := range []struct {
		v                string
		from, till, size int64
		ok               bool
	}{
		{"bytes 0-9/20", 0, 10, 20, true}, {"bytes 5-5/6", 5, 6, 6, true}, {"bytes */0", 0, 0, 0, true},
		{"bytes 5-4/6", 0, 0, 0, false}, {"bytes 0-/6", 0, 0, 0, false}, {"bytes -1-2/6", 0, 0, 0, false}, {"bytes 0-9/*", 0, 0, 0, false}, {"0-9/20", 0, 0, 0, false}, {"bytes 0-9", 0, 0, 0, false},
	} {
		from, till, size, err := contentRange(tt.v)
		if from != tt.from || till != tt.till || size != tt.size || (err == nil) != tt.ok {
			t.Errorf("%q: %d, %d, %d, %v", tt.v, from, till, size, err)
		}
	}
}
