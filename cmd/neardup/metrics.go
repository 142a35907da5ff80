package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"neardup/pipeline/workspace"
)

// meters are the figures of --metrics. A nil value counts nothing.
type meters struct {
	registry *prometheus.Registry
	running  *prometheus.GaugeVec
	done     *prometheus.GaugeVec
	total    *prometheus.GaugeVec
	needs    *prometheus.GaugeVec
	ended    *prometheus.CounterVec
	warnings prometheus.Counter
	requests *prometheus.HistogramVec

	server *http.Server
	at     *net.TCPAddr
}

func newMeters(dir string) *meters {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	m := &meters{
		registry: prometheus.NewRegistry(),
		running:  gauge("neardup_stage_running", "1 while the stage is at work.", "stage"),
		done:     gauge("neardup_stage_work_done", "Work done of the present part of the stage.", "stage", "unit"),
		total:    gauge("neardup_stage_work", "All work of the present part of the stage.", "stage", "unit"),
		needs:    gauge("neardup_stage_disk_needs_bytes", "Estimate of the disk space that the stage takes.", "stage"),
		ended:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "neardup_stages_total", Help: "Stages that ended, by result: done, failed or up-to-date."}, []string{"stage", "result"}),
		warnings: prometheus.NewCounter(prometheus.CounterOpts{Name: "neardup_warnings_total", Help: "Warnings, as in the log."}),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "neardup_http_request_seconds", Help: "Requests to neardup serve, by what was asked for and status.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10}}, []string{"what", "code"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "neardup_build_info", Help: "1, with the version.", ConstLabels: prometheus.Labels{"version": programBuild().Version}})
	build.Set(1)
	free := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "neardup_disk_free_bytes", Help: "Free space of the workspace's disk; -1 if unknown."}, func() float64 {
		n, err := workspace.FreeSpace(dir)
		if err != nil {
			return -1
		}
		return float64(n)
	})
	m.registry.MustRegister(m.running, m.done, m.total, m.needs, m.ended, m.warnings, m.requests, build, free,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// serveMeters serves the figures of a command in the workspace dir at the address,
// until close is called. An empty address gives nil.
func serveMeters(ctx context.Context, address, dir string) (*meters, error) {
	if address == "" {
		return nil, nil
	}
	var listening net.ListenConfig
	l, err := listening.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, usageError{fmt.Errorf("--metrics: %w", err)}
	}
	m := newMeters(dir)
	handler := http.NewServeMux()
	handler.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	m.at = l.Addr().(*net.TCPAddr)
	m.server = &http.Server{Handler: handler, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: readTime,
		IdleTimeout: idleTime, MaxHeaderBytes: maxHeaders, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = m.server.Serve(l) }() // it ends when the server is closed
	return m, nil
}

// url returns the URL of the figures.
func (m *meters) url() string { return "http://" + m.at.String() + "/metrics" }

func (m *meters) close() error {
	if m == nil {
		return nil
	}
	return m.server.Close()
}

func (m *meters) skip(stage string) {
	if m != nil {
		m.ended.WithLabelValues(stage, "up-to-date").Inc()
	}
}

func (m *meters) disk(stage string, e workspace.Estimate) {
	if m != nil {
		m.needs.WithLabelValues(stage).Set(float64(e.Workspace + e.Temporary))
	}
}

func (m *meters) start(stage string) {
	if m != nil {
		m.running.WithLabelValues(stage).Set(1)
	}
}

// work sets how much is done, and of how much.
func (m *meters) work(stage, unit string, done, total int64) {
	if m != nil {
		m.done.WithLabelValues(stage, unit).Set(float64(done))
		m.total.WithLabelValues(stage, unit).Set(float64(total))
	}
}

func (m *meters) warn() {
	if m != nil {
		m.warnings.Inc()
	}
}

func (m *meters) stop(stage string, err error) {
	if m == nil {
		return
	}
	m.running.WithLabelValues(stage).Set(0)
	result := "done"
	if err != nil {
		result = "failed"
	}
	m.ended.WithLabelValues(stage, result).Inc()
}

// watch returns a handler that measures the requests to another one.
func (m *meters) watch(h http.Handler) http.Handler {
	if m == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		what := "page"
		if strings.HasPrefix(r.URL.Path, "/lookup") {
			what = "lookup"
		}
		began, answer := time.Now(), &answered{ResponseWriter: w, code: http.StatusOK}
		h.ServeHTTP(answer, r)
		m.requests.WithLabelValues(what, strconv.Itoa(answer.code)).Observe(time.Since(began).Seconds())
	})
}

// answered notes the status of an answer.
type answered struct {
	http.ResponseWriter
	once sync.Once
	code int
}

func (a *answered) WriteHeader(code int) {
	a.once.Do(func() { a.code = code })
	a.ResponseWriter.WriteHeader(code)
}

// Close closes the workspace and ends --metrics.
func (j *job) Close() error { return errors.Join(j.Workspace.Close(), j.progress.meters.close()) }
