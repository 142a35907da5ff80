package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"neardup/pipeline/browsing"
	"neardup/pipeline/inputs"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
	"neardup/review"
)

// serveOptions are the flags of neardup serve.
type serveOptions struct {
	workOptions
	listen string
}

// Limits of a connection. A page takes far less time; the limits leave room for a
// slow disk.
const (
	headerTime = 10 * time.Second
	readTime   = 30 * time.Second
	writeTime  = 5 * time.Minute
	idleTime   = 2 * time.Minute
	endTime    = 5 * time.Second // for open answers after an interruption
	maxHeaders = 64 << 10
)

func serveCommand() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve",
		Short: "Show clusters in a browser, and take judgements",
		Long: `Serve shows the clusters of a workspace in a browser until it is interrupted. You
can browse and search clusters, see their pages over time, and put any two pages
beside each other with what the method made of them. Audits draw samples for
people to judge, and give the precision with its interval. POST /lookup answers
programs as neardup lookup does: the page is the body, and ?uri= its URI.

There is no password. By default only this machine reaches the pages. With
another address in --listen, everyone who reaches that address sees the text of
all pages and can judge. Serve holds the workspace while it runs; of one that another
process holds, that is read-only, or whose last run has not ended, it shows the last
finished state, and nobody can judge. docs/serve.md describes the pages.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.run(c) },
	}
	o.workspaceFlag(c)
	o.tempFlag(c)
	c.Flags().StringVar(&o.listen, "listen", "127.0.0.1:8420", "address and port; port 0 takes a free one")
	c.Flags().StringVar(&o.progress, "progress", "auto", "auto, bar, plain, json or none")
	o.watchFlags(c)
	return c
}

func (o *serveOptions) run(c *cobra.Command) error {
	host, port, err := net.SplitHostPort(o.listen)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return usageError{fmt.Errorf("--listen: %q is not an address with a port, such as 127.0.0.1:8420", o.listen)}
	}
	o.read, o.finished = true, true
	before, _ := workspace.ReadManifest(o.workspace) // before it is opened, so that nothing withdrawn later is missed
	j, err := o.open(c, false, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(c.Context())
	defer cancel(nil)
	if j.ReadOnly() {
		go o.watchWithdrawals(ctx, before.Inputs, cancel)
	}
	err = errors.Join(o.serve(ctx, c, j, host), j.Close())
	if cause := context.Cause(ctx); err == nil && errors.Is(cause, errWithdrawn) {
		err = cause
	}
	return err
}

var errWithdrawn = errors.New("captures were withdrawn from the workspace since this server opened it, so it ends; start neardup serve again")

// watchTime is the time between two looks for withdrawn captures.
const watchTime = 2 * time.Second

// watchWithdrawals ends a server that shows a copy of the workspace when another process
// withdraws captures, since that keeps their texts: what it shows, and on the disk.
func (o *serveOptions) watchWithdrawals(ctx context.Context, before []inputs.Source, end context.CancelCauseFunc) {
	var last os.FileInfo
	for ctx.Err() == nil {
		manifest, err := os.Stat(filepath.Join(o.workspace, "manifest.json"))
		if err == nil && (last == nil || !os.SameFile(last, manifest) || !last.ModTime().Equal(manifest.ModTime())) {
			last = manifest
			if now, err := workspace.ReadManifest(o.workspace); err == nil && withdrawn.Since(before, now.Inputs) {
				end(errWithdrawn)
			}
		}
		select {
		case <-time.After(watchTime):
		case <-ctx.Done():
		}
	}
}

func (o *serveOptions) serve(ctx context.Context, c *cobra.Command, j *job, host string) error {
	var listening net.ListenConfig
	l, err := listening.Listen(ctx, "tcp", o.listen)
	if err != nil {
		return usageError{fmt.Errorf("--listen: %w; port 0 takes a free one", err)}
	}
	defer func() { _ = l.Close() }()
	a, err := browsing.Open(ctx, j.Workspace)
	if err != nil {
		return err
	}
	at := l.Addr().(*net.TCPAddr)
	o.warnOfOthers(c, at, "sees the text of all pages and can judge")
	errorLog := log.New(c.ErrOrStderr(), "neardup: ", 0)
	if o.log == "json" {
		errorLog = slog.NewLogLogger(slog.NewJSONHandler(c.ErrOrStderr(), nil), slog.LevelError)
	}
	var open sync.WaitGroup // the workspace is closed after the last answer
	handler := j.progress.meters.watch(review.New(a, review.Options{Name: o.workspace, Version: programBuild().Version, Hosts: hostsOf(host, at), ReadOnly: j.ReadOnly(),
		Failed: func(err error) { errorLog.Print(err) }}))
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			open.Add(1)
			defer open.Done()
			handler.ServeHTTP(w, r)
		}),
		ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaders,
		ErrorLog:    log.New(io.Discard, "", 0), // errors of connections that browsers drop
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stopped := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(stopped)
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
		defer cancel()
		if server.Shutdown(end) != nil {
			_ = server.Close()
		}
	})
	say(c, "%s is at %s until this is interrupted", o.workspace, urlOf(at))
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		_ = server.Close()
		open.Wait()
		return errors.Join(err, a.Close())
	}
	<-stopped
	open.Wait()
	return a.Close()
}

// warnOfOthers warns if other machines reach an address. does says what they do there.
func (o *workOptions) warnOfOthers(c *cobra.Command, at *net.TCPAddr, does string) {
	if !at.IP.IsLoopback() {
		o.warn(c, fmt.Sprintf("other machines reach %s, and there is no password: who does %s", at, does))
	}
}

// urlOf returns the URL at which this machine reaches the address.
func urlOf(at *net.TCPAddr) string {
	ip := at.IP
	if ip.IsUnspecified() {
		ip = net.IPv4(127, 0, 0, 1)
	}
	return "http://" + net.JoinHostPort(ip.String(), strconv.Itoa(at.Port)) + "/"
}

// hostsOf returns the host names that requests may have: the given name and the
// address. If the server listens on every address, these are all addresses and the
// machine's name.
func hostsOf(host string, at *net.TCPAddr) []string {
	hosts := []string{at.IP.String()}
	if host != "" {
		hosts = append(hosts, host)
	}
	if !at.IP.IsUnspecified() {
		return hosts
	}
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}
	all, _ := net.InterfaceAddrs() // on an error, only the name and the loopback are answered
	for _, one := range all {
		if n, ok := one.(*net.IPNet); ok {
			hosts = append(hosts, n.IP.String())
		}
	}
	return hosts
}
