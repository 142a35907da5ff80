// Package costs measures what a run takes: the time and the memory of each stage, and
// the files, pages and sets that take longest.
package costs

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// maxCostly is the number of entries of each list of costs.
const maxCostly = 20

// Run collects what a run costs. A nil Run collects nothing. Its methods may be
// called from any goroutine.
type Run struct {
	mu    sync.Mutex
	began time.Time

	stages []Stage
	files  []File
	pages  []Page
	sets   []Set
}

// New returns the costs of a run that begins now.
func New() *Run { return &Run{began: time.Now()} }

// Report is the content of run.json. Seconds of files, pages and sets are elapsed
// times of the worker that had them; workers are many, so their sum exceeds that of
// the stage.
type Report struct {
	Program string    `json:"program"`
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended"`
	Workers int       `json:"workers"`
	Error   string    `json:"error,omitempty"` // why the run ended before it was done

	Stages []Stage `json:"stages"`        // that had work to do, in their order
	Files  []File  `json:"slowest_files"` // the slowest first, as in the next two
	Pages  []Page  `json:"slowest_pages"`
	Sets   []Set   `json:"slowest_sets"`
}

// Stage is the cost of a stage in this run.
type Stage struct {
	Name      string  `json:"name"`
	Reason    string  `json:"reason"`
	Seconds   float64 `json:"seconds"`
	CPU       float64 `json:"cpu_seconds"`
	Peak      int64   `json:"peak_bytes"`       // of memory, as in the manifest
	Needs     int64   `json:"disk_needs_bytes"` // estimate from before the stage
	NeedsTemp int64   `json:"disk_needs_temporary_bytes"`
	Took      int64   `json:"disk_took_bytes"` // growth of the database's files, less what it removed
}

// File is the cost of extracting a file.
type File struct {
	File    string  `json:"file"`
	Records int64   `json:"records"`
	Seconds float64 `json:"seconds"` // of workers
	Elapsed float64 `json:"elapsed_seconds"`
}

// Page is the cost of extracting a page.
type Page struct {
	URI     string  `json:"uri,omitempty"`
	File    string  `json:"file"`
	Offset  int64   `json:"offset"`
	Bytes   int64   `json:"bytes"` // of the record
	Skipped string  `json:"skipped,omitempty"`
	Seconds float64 `json:"seconds"`
}

// Set is the cost of comparing the texts of a perhaps-similar set.
type Set struct {
	Set        string  `json:"set"` // id of its first text
	Texts      int     `json:"texts"`
	Pairs      int64   `json:"pairs"`
	OverBudget int64   `json:"over_budget,omitempty"` // pairs that were not scored because of max_scored
	Seconds    float64 `json:"seconds"`
}

// keepCostly adds an entry to a list of the costliest, if it belongs there.
func keepCostly[T any](list []T, one T, seconds func(T) float64) []T {
	at, _ := slices.BinarySearchFunc(list, one, func(a, b T) int { return cmp.Compare(seconds(b), seconds(a)) })
	if at == maxCostly {
		return list
	}
	list = slices.Insert(list, at, one)
	return list[:min(len(list), maxCostly)]
}

// File adds a file.
func (c *Run) File(f File) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = keepCostly(c.files, f, func(f File) float64 { return f.Seconds })
}

// Page adds a page.
func (c *Run) Page(p Page) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages = keepCostly(c.pages, p, func(p Page) float64 { return p.Seconds })
}

// Set adds a set.
func (c *Run) Set(s Set) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sets = keepCostly(c.sets, s, func(s Set) float64 { return s.Seconds })
}

// Stage adds a stage.
func (c *Run) Stage(s Stage) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stages = append(c.stages, s)
}

// list returns all entries. A list without entries is empty and not nil, so that
// readers of the JSON always find a list.
func list[T any](of []T) []T { return append([]T{}, of...) }

// Report returns the costs of the run, which ends now. failure is the error that ended it
// early. Program and Workers are for the caller to set.
func (c *Run) Report(failure error) Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := Report{Began: c.began, Ended: time.Now(), Stages: list(c.stages), Files: list(c.files), Pages: list(c.pages), Sets: list(c.sets)}
	if failure != nil {
		r.Error = failure.Error()
	}
	return r
}
