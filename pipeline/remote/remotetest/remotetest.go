// Package remotetest starts an object store for tests, behind a proxy that can
// inject faults.
package remotetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// ServerVariable names the environment variable with the program of the object
// store, versitygw. Without it, the tests that need it are skipped. .ci/run sets
// it.
const ServerVariable = "NEARDUP_S3_SERVER"

// Credentials of the object store.
const (
	AccessKey = "neardup"
	SecretKey = "neardup-secret"
	Region    = "us-east-1"
)

// Bucket is the bucket of the store.
const Bucket = "crawls"

// Store is an object store on this machine, behind a proxy.
type Store struct {
	URL     string // URL of the proxy
	Faults  Faults
	objects *s3.Client
}

// Missing is the reason why a test is skipped.
const Missing = ServerVariable + " names no object store (go build -C tools/s3 -o versitygw github.com/versity/versitygw/cmd/versitygw)"

// Run starts a store with an empty bucket. stop ends it. Run returns nil if there
// is no program.
func Run() (_ *Store, stop func(), err error) {
	program := os.Getenv(ServerVariable)
	if program == "" {
		return nil, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "neardup-store-")
	if err != nil {
		return nil, nil, err
	}
	stop = func() { _ = os.RemoveAll(dir) }
	defer func() {
		if err != nil {
			stop()
		}
	}()
	data, meta := filepath.Join(dir, "data"), filepath.Join(dir, "meta")
	at, err := freeAddress()
	if err := errors.Join(err, os.Mkdir(data, 0o777), os.Mkdir(meta, 0o777)); err != nil {
		return nil, nil, err
	}
	var out bytes.Buffer
	c := exec.Command(program, "--port", at, "--region", Region, "--quiet", "posix", "--sidecar", meta, data)
	c.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+AccessKey, "ROOT_SECRET_KEY="+SecretKey)
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		return nil, nil, err
	}
	end := sync.OnceFunc(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	remove := stop
	quit := func() {
		end()
		remove()
	}
	direct := "http://" + at
	s := &Store{objects: s3.New(s3.Options{
		BaseEndpoint: &direct, Region: Region, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(AccessKey, SecretKey, ""),
	})}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if _, err = s.objects.CreateBucket(context.Background(), &s3.CreateBucketInput{Bucket: aws.String(Bucket)}); err == nil {
			url, closed := s.Faults.Proxy(direct)
			s.URL = url
			return s, func() {
				closed()
				quit()
			}, nil
		}
	}
	end()
	return nil, nil, fmt.Errorf("the object store does not start: %w\n%s", err, out.Bytes())
}

// freeAddress returns an address that nothing listens at.
func freeAddress() (string, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Put writes an object.
func (s *Store) Put(key string, content []byte) error {
	_, err := s.objects.PutObject(context.Background(), &s3.PutObjectInput{Bucket: aws.String(Bucket), Key: &key, Body: bytes.NewReader(content)})
	return err
}

// Env returns the environment variables for the AWS tools, as NAME=VALUE.
func (s *Store) Env() []string { return Env(s.URL) }

// Env is Store.Env of the store at a URL.
func Env(url string) []string {
	return []string{
		"AWS_ENDPOINT_URL_S3=" + url, "AWS_ACCESS_KEY_ID=" + AccessKey, "AWS_SECRET_ACCESS_KEY=" + SecretKey, "AWS_REGION=" + Region,
		"AWS_CONFIG_FILE=/nonexistent", "AWS_SHARED_CREDENTIALS_FILE=/nonexistent", "AWS_EC2_METADATA_DISABLED=true",
	}
}

// Faults is a proxy that can inject faults into answers.
type Faults struct {
	mu    sync.Mutex
	fault Fault
	asked []*http.Request
}

// Fault answers a request as it likes. n counts requests from 0. pass writes the
// server's answer.
type Fault func(n int, w http.ResponseWriter, r *http.Request, pass http.Handler)

// Set sets the fault, nil for none, and forgets earlier requests.
func (f *Faults) Set(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.asked = fault, nil
}

// Asked returns the requests since Set.
func (f *Faults) Asked() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// Before starts the proxy in front of a server and returns its URL.
func (f *Faults) Before(t testing.TB, server string) string {
	url, stop := f.Proxy(server)
	t.Cleanup(stop)
	return url
}

// Proxy starts the proxy in front of a server. stop ends it.
func (f *Faults) Proxy(server string) (proxied string, stop func()) {
	u, err := url.Parse(server)
	if err != nil {
		panic(err) // it is httptest's, or ours
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(u)
			r.Out.Host = r.In.Host // the host is part of the signature
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	}
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		fault, n := f.fault, len(f.asked)
		f.asked = append(f.asked, r.Clone(context.WithoutCancel(r.Context())))
		f.mu.Unlock()
		if fault == nil {
			proxy.ServeHTTP(w, r)
			return
		}
		fault(n, w, r, proxy)
	}))
	return p.URL, p.Close
}

// Cut sends the first bytes of an answer's body and then closes the connection.
func Cut(w http.ResponseWriter, r *http.Request, pass http.Handler, bytes int) {
	rec := httptest.NewRecorder()
	pass.ServeHTTP(rec, r)
	for name, values := range rec.Header() {
		w.Header()[name] = values
	}
	body := rec.Body.Bytes()
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(rec.Code)
	if bytes >= len(body) {
		_, _ = w.Write(body)
		return
	}
	_, _ = w.Write(body[:bytes])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// More sends an answer, and behind it another one that nobody asked for.
func More(_ int, w http.ResponseWriter, r *http.Request, pass http.Handler) {
	rec := httptest.NewRecorder()
	pass.ServeHTTP(rec, r)
	resp := rec.Result()
	c, b, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err) // it is httptest's
	}
	_ = resp.Write(b)
	_, _ = b.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	_ = b.Flush()
	_ = c.Close()
}
