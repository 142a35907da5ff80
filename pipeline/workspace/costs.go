package workspace

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"neardup/pipeline/disk"
)

// costsName is the file of the last run's costs. It is no export, because times
// differ from run to run.
const costsName = "run.json"

// maxCostly is the number of entries of each list of costs.
const maxCostly = 20

// Costs collects what a run costs. A nil Costs collects nothing. Its methods may be
// called from any goroutine.
type Costs struct {
	mu    sync.Mutex
	began time.Time

	stages []StageCost
	files  []FileCost
	pages  []PageCost
	sets   []SetCost
}

// NewCosts returns the costs of a run that begins now.
func NewCosts() *Costs { return &Costs{began: time.Now()} }

// RunCosts is the content of run.json. Seconds of files, pages and sets are elapsed
// times of the worker that had them; workers are many, so their sum exceeds that of
// the stage.
type RunCosts struct {
	Program string    `json:"program"`
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended"`
	Workers int       `json:"workers"`
	Error   string    `json:"error,omitempty"` // why the run ended before it was done

	Stages []StageCost `json:"stages"`        // that had work to do, in their order
	Files  []FileCost  `json:"slowest_files"` // the slowest first, as in the next two
	Pages  []PageCost  `json:"slowest_pages"`
	Sets   []SetCost   `json:"slowest_sets"`
}

// StageCost is the cost of a stage in this run.
type StageCost struct {
	Name      string  `json:"name"`
	Reason    string  `json:"reason"`
	Seconds   float64 `json:"seconds"`
	CPU       float64 `json:"cpu_seconds"`
	Peak      int64   `json:"peak_bytes"`       // of memory, as in the manifest
	Needs     int64   `json:"disk_needs_bytes"` // estimate from before the stage
	NeedsTemp int64   `json:"disk_needs_temporary_bytes"`
	Took      int64   `json:"disk_took_bytes"` // growth of the database's files, less what it removed
}

// FileCost is the cost of extracting a file.
type FileCost struct {
	File    string  `json:"file"`
	Records int64   `json:"records"`
	Seconds float64 `json:"seconds"` // of workers
	Elapsed float64 `json:"elapsed_seconds"`
}

// PageCost is the cost of extracting a page.
type PageCost struct {
	URI     string  `json:"uri,omitempty"`
	File    string  `json:"file"`
	Offset  int64   `json:"offset"`
	Bytes   int64   `json:"bytes"` // of the record
	Skipped string  `json:"skipped,omitempty"`
	Seconds float64 `json:"seconds"`
}

// SetCost is the cost of comparing the texts of a perhaps-similar set.
type SetCost struct {
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
func (c *Costs) File(f FileCost) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = keepCostly(c.files, f, func(f FileCost) float64 { return f.Seconds })
}

// Page adds a page.
func (c *Costs) Page(p PageCost) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pages = keepCostly(c.pages, p, func(p PageCost) float64 { return p.Seconds })
}

// Set adds a set.
func (c *Costs) Set(s SetCost) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sets = keepCostly(c.sets, s, func(s SetCost) float64 { return s.Seconds })
}

func (c *Costs) stage(s StageCost) {
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

// writeCosts writes run.json. failure is the error that ended the run. A run that
// did nothing leaves the file of the run before.
func (w *Workspace) writeCosts(failure error) error {
	c := w.Options.Costs
	if c == nil || w.trial != nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.stages) == 0 {
		return nil
	}
	r := RunCosts{Program: Version(), Began: c.began, Ended: time.Now(), Workers: w.Options.Workers,
		Stages: list(c.stages), Files: list(c.files), Pages: list(c.pages), Sets: list(c.sets)}
	if failure != nil {
		r.Error = failure.Error()
	}
	b, err := marshalIndent(r)
	if err != nil {
		return err
	}
	return disk.WriteFile(w.Path(costsName), func(f *os.File) error {
		_, err := f.Write(b)
		return err
	})
}

// DropCosts removes run.json, which has URIs.
func (w *Workspace) DropCosts() error {
	err := os.Remove(w.Path(costsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
