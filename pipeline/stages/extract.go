package stages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"neardup/extract"
	"neardup/extract/container"
	"neardup/pipeline/costs"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extractors"
	"neardup/pipeline/inflight"
	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
	"neardup/pipeline/queue"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/withdrawals"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
)

const (
	commitEvery    = 5 * time.Second // an interruption loses at most the work of twice this time, or twice CommitBytes
	DamageWarnings = 100             // per file: damaged files may consist of nothing but marks of records

	// Bounds between reader and commit. They are large enough that the workers stay
	// busy while the reader inflates a large record or a commit waits for the disk.
	InFlight = 64 << 20 // bytes of records and of their results
	Queued   = 1 << 10  // events of a file
)

// Job is one event of a file for the workers: a record, or damage.
type Job struct {
	Raw      *container.Raw
	Damage   *container.Damage
	source   *inputs.Source
	digester *inputs.Digester
	Account  *extract.Account // of the file
	texts    *textsOfFile
	before   container.Position
	position container.Position // position behind the record
	Consumed int64              // bytes of the file since the event before
	Weight   int64              // bytes of the record, and what else reading it holds
	bytes    int64              // bytes of the record's block

	dataflow.Extracted
	row    []byte // row of the document
	around []byte // visible text around the main content, of an HTML page
	units  []byte // units of the text; nil if its rows are there already
	round  []byte // units of what is around it, if there are any
	err    error
	Wanted bool // the consumer waits for this job, see queue.Limiter
	Done   chan struct{}
	took   time.Duration // the worker's time
}

// work does the worker's part of a job: all that needs neither the order of jobs
// nor the database.
func (j *Job) work(x *extract.Extractor, worker int, notes *inflight.Notes, finished *queue.Limiter) {
	defer close(j.Done)
	if j.Raw == nil {
		return
	}
	defer func() { finished.Acquire(j.Result(), &j.Wanted) }()
	if j.source.Skips(j.before) {
		j.Raw.Block, j.Reason = nil, extract.ReasonEndedRun
		return
	}
	if j.err = notes.Begin(worker, j.source.Path, j.before); j.err != nil {
		return
	}
	began := time.Now()
	j.Raw.Room = j.Account.Room(j.Raw)
	there := false
	j.Extracted = dataflow.Extract(x, j.Raw, func(t rows.TextID) bool {
		there = j.texts.has(t)
		return there
	})
	j.took = time.Since(began)
	j.err = notes.End(worker)
	j.Raw.Block = nil
	if j.err == nil && j.Reason == extract.ReasonNone && !j.IsRevisit() {
		j.row, j.err = json.Marshal(j.Document)
		if j.Document.Marks != "" {
			j.around = layout.AroundValue(j.Document.Marks, j.Around)
		}
		if !there {
			j.units = layout.UnitsValue(j.Units)
		}
		if a := j.AroundUnits; len(a.Exact) > 0 {
			j.round = layout.UnitsRoundValue(a.Page.Site, a.Page.Address, a.Exact)
		}
		j.Units, j.AroundUnits = rows.Units{}, dataflow.AroundUnits{}
	}
}

// textsOfFile are texts of earlier pages of a file, whose rows need not be written
// again: they are committed no later than those of the page. Captures of a page that
// did not change have one text.
type textsOfFile struct {
	mu    sync.Mutex
	texts map[rows.TextID]struct{}
}

const maxTextsOfFile = 1 << 16 // 5 MB

func (f *textsOfFile) has(t rows.TextID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, has := f.texts[t]
	return has
}

// add adds a text. It reports whether its rows have to be written.
func (f *textsOfFile) add(t rows.TextID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, has := f.texts[t]; has {
		return false
	}
	if len(f.texts) < maxTextsOfFile {
		f.texts[t] = struct{}{}
	}
	return true
}

// Result returns about how many bytes of memory the job's result takes.
func (j *Job) Result() int64 {
	return int64(len(j.Document.Text) + len(j.Document.Visible) + len(j.row) + len(j.around) + len(j.units) + len(j.round))
}

// runExtract reads all pending sources, and resolves the revisits among their
// records.
func runExtract(w *workspace.Workspace, sr *workspace.StageRun) error {
	if err := inflight.TryEnded(sr.Ctx, w); err != nil {
		return err
	}
	withdrawn, err := w.Withdrawn()
	if err != nil {
		return err
	}
	x := &extraction{w: w, withdrawn: withdrawn.Patterns()}
	if err := x.readPending(sr); err != nil {
		return err
	}
	revisits, err := x.resolveRevisits(sr)
	if err != nil {
		return err
	}
	x.around.Tell(sr, layout.TableAround)
	x.rounds.Tell(sr, layout.TableUnitsRound)
	x.documents.Tell(sr, layout.TableDocument)
	if err := withdrawals.DropTexts(sr.Ctx, w); err != nil {
		return err
	}
	return countExtraction(w, sr, revisits)
}

// extraction is what the files have in common that a run reads.
type extraction struct {
	w         *workspace.Workspace
	withdrawn *withdrawn.Patterns
	work      chan *Job
	memory    *semaphore.Weighted
	finished  *queue.Limiter
	around    *workspace.RowCount
	rounds    *workspace.RowCount // units of what is around texts
	documents *workspace.RowCount
}

// readPending reads all pending sources. Each file has one reader, and its events
// are committed in their order, together with the position to resume from. The
// workers, which all files share, parse the records. queue.Ordered does not fit,
// because it has its own workers for one sequence of jobs.
func (x *extraction) readPending(sr *workspace.StageRun) (err error) {
	w := x.w
	known, err := w.Sources()
	if err != nil {
		return err
	}
	var pending []inputs.Source
	total := int64(0)
	for _, s := range known {
		if s.State == inputs.Pending {
			pending = append(pending, s)
			total += s.Size - s.Position.Offset
		}
	}
	added := func(table byte) *workspace.RowCount { return workspace.CountAdded(sr, known, table) }
	x.around, x.rounds, x.documents = added(layout.TableAround), added(layout.TableUnitsRound), added(layout.TableDocument)
	inputs.ShareFiles(pending, w.Config.Extract.Limits, 1)
	w.Options.Progress.Total(total, "bytes")

	notes, err := inflight.Open(w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, notes.Close()) }()
	g, ctx := errgroup.WithContext(sr.Ctx)
	files := make(chan inputs.Source)
	x.work, x.memory, x.finished = make(chan *Job, Queued), semaphore.NewWeighted(InFlight), queue.NewLimiter(ctx, InFlight)
	readers, rctx := errgroup.WithContext(ctx)
	for range 1 + w.Options.Workers/8 { // one reader feeds about eight workers
		readers.Go(func() error {
			for s := range files {
				if err := x.extractFile(rctx, s); err != nil {
					return fmt.Errorf("%s: %w", s.Shown(), err)
				}
			}
			return nil
		})
	}
	g.Go(func() error {
		defer close(files)
		for _, s := range pending {
			select {
			case files <- s:
			case <-rctx.Done():
				return nil // the reader returns the error that counts
			}
		}
		return nil
	})
	g.Go(func() error {
		defer close(x.work)
		return readers.Wait()
	})
	for worker := range w.Options.Workers {
		g.Go(func() error {
			e := extractors.New(w.Config.Extract)
			for j := range x.work {
				j.work(e, worker, notes, x.finished)
			}
			return nil
		})
	}
	return g.Wait()
}

// extractFile reads one file and commits the workers' results.
func (x *extraction) extractFile(ctx context.Context, s inputs.Source) error {
	w := x.w
	jobs := make(chan *Job, Queued)
	g, both := errgroup.WithContext(ctx)
	began, cost := time.Now(), costs.File{File: inputs.ShowName(s.Path)}
	var readErr error
	var digester *inputs.Digester
	g.Go(func() error {
		defer close(jobs)
		// Members of one WACZ file share what the first of them opened, so it is not
		// opened for the time that this source takes.
		digester, readErr = ReadFile(ctx, s, w.Config.Extract.Limits, func(j *Job) error {
			if err := x.memory.Acquire(both, j.Weight); err != nil {
				return err
			}
			return queue.Send(both, j, jobs, x.work)
		})
		return both.Err() // a file that cannot be read further does not stop the others
	})
	g.Go(func() error { return x.commitFile(both, &s, jobs, &cost) })
	if err := g.Wait(); err != nil {
		return err
	}
	cost.Elapsed = time.Since(began).Seconds()
	w.Options.Costs.File(cost)
	if readErr == nil {
		readErr = s.Finish(ctx, digester, w.Config.Extract.Limits)
	}
	s.State, s.Error, s.Again = inputs.Done, "", s.Again && readErr != nil
	if readErr != nil {
		s.State, s.Error = inputs.Unreadable, readErr.Error()
		w.Options.Progress.Warn("cannot read file further", "file", s.Shown(), "offset", s.Position.Offset, "error", readErr)
	}
	b := w.DB.Batch()
	return errors.Join(b.SetJSON(layout.SourceKey(s.Path), s), b.Commit())
}

// ReadFile emits the events of a file from the source's position on. It returns the
// digester of what it read. The error is a read error of the file.
func ReadFile(ctx context.Context, s inputs.Source, limits container.Limits, emit func(*Job) error) (*inputs.Digester, error) {
	r, digester, closer, err := s.Reader(ctx, limits)
	if err != nil {
		return nil, err
	}
	defer func() { _ = closer.Close() }()
	consumed, at := s.Position.Offset, s.Position
	account := extract.NewAccount(s.Decoded)
	texts := &textsOfFile{texts: map[rows.TextID]struct{}{}}
	for {
		j := &Job{source: &s, digester: digester, texts: texts, Account: account, before: at, Done: make(chan struct{})}
		j.Raw, err = r.Next()
		if err == io.EOF {
			return digester, nil
		}
		if err != nil && !errors.As(err, &j.Damage) {
			return digester, err
		}
		at = r.Position()
		j.position, j.Weight = at, 1
		if j.Raw != nil {
			j.bytes = int64(len(j.Raw.Block))
			j.Weight = min(j.bytes+4096, InFlight)
		}
		j.Consumed, consumed = r.Consumed()-consumed, r.Consumed()
		if emit(j) != nil {
			return digester, ctx.Err()
		}
	}
}

// commitFile takes the jobs of a file in order and commits their documents together
// with the file's position.
func (x *extraction) commitFile(ctx context.Context, s *inputs.Source, jobs <-chan *Job, cost *costs.File) (err error) {
	w := x.w
	batch := func() store.Batch { // small: there may be thousands of small files
		return w.DB.LargeBatch(int(min(int64(w.Options.CommitBytes), 64<<10+8*max(0, s.Size-s.Position.Offset))))
	}
	b, saved := batch(), time.Now()
	committed := func() error { return nil } // waits for the commit of the previous batch
	defer func() { _ = committed() }()
	commit := func() error {
		if err := errors.Join(b.SetJSON(layout.SourceKey(s.Path), s), committed()); err != nil {
			return err
		}
		full := b
		result := make(chan error, 1)
		go func() { result <- full.Commit() }()
		committed = sync.OnceValue(func() error { return <-result })
		b, saved = batch(), time.Now()
		return nil
	}
	for j := range jobs {
		x.finished.Want(&j.Wanted)
		select {
		case <-j.Done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if j.err != nil {
			return j.err
		}
		if j.Raw != nil {
			j.Reason = j.Account.Take(j.Raw, j.Reason)
		}
		if err := x.commitJob(b, s, j); err != nil {
			return err
		}
		j.cost(w, x.withdrawn, cost)
		x.memory.Release(j.Weight)
		if j.Raw != nil {
			x.finished.Release(j.Result())
		}
		w.Options.Progress.Add(j.Consumed)
		s.Position, s.Decoded = j.position, j.Account.Spent()
		if b.Len() >= w.Options.CommitBytes || time.Since(saved) > commitEvery {
			if s.Digested, err = j.digester.Digested(); err != nil {
				return err
			}
			if err := commit(); err != nil {
				return err
			}
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := commit(); err != nil {
		return err
	}
	return committed()
}

// cost adds what the job cost to the costs of its file and of the run.
func (j *Job) cost(w *workspace.Workspace, withdrawn *withdrawn.Patterns, file *costs.File) {
	if j.Raw == nil {
		return
	}
	file.Records++
	file.Seconds += j.took.Seconds()
	page := costs.Page{URI: j.Document.TargetURI, File: file.File, Offset: j.Raw.Offset, Bytes: j.bytes,
		Skipped: string(j.Reason), Seconds: j.took.Seconds()}
	if withdrawn.Has(page.URI) { // nothing in the workspace names it
		page.URI, page.Skipped = "", string(extract.ReasonWithdrawn)
	}
	w.Options.Costs.Page(page)
}

func (x *extraction) commitJob(b store.Batch, s *inputs.Source, j *Job) error {
	if j.Damage != nil {
		s.Counts.Damaged++
		if s.Counts.Damaged <= DamageWarnings {
			x.w.Options.Progress.Warn("damaged", "file", s.Shown(), "offset", j.Damage.Offset, "error", j.Damage.Err)
		}
		if s.Counts.Damaged == DamageWarnings {
			x.w.Options.Progress.Warn("further damage is counted only", "file", s.Shown())
		}
		return nil
	}
	d := j.Document.Document
	if j.Reason == extract.ReasonNone && x.withdrawn.Has(d.TargetURI) {
		j.Reason = extract.ReasonWithdrawn
		s.Withdrawn = x.withdrawn.Generation
	}
	s.Counts.Record(d, j.Reason)
	if j.Reason != extract.ReasonNone {
		return nil
	}
	if j.IsRevisit() {
		return b.SetJSON(layout.RevisitKey(d.ID, s.Path, s.ID(), j.Raw.Offset), rows.Revisit{Document: d})
	}
	var err error
	if j.around != nil {
		key := layout.AroundKey(d.ID, s.ID(), j.Raw.Offset)
		x.around.Add(key)
		err = b.Set(key, j.around)
	}
	if j.round != nil {
		key := layout.UnitsRoundKey(d.ID, s.ID(), j.Raw.Offset)
		x.rounds.Add(key)
		err = errors.Join(err, b.Set(key, j.round))
	}
	if j.texts.add(j.Text) {
		err = errors.Join(err, b.Set(layout.TextKey(j.Text), []byte(d.Text)), b.Set(layout.UnitsKey(j.Text), j.units))
	}
	key := layout.DocumentKey(d.ID, s.ID(), j.Raw.Offset)
	x.documents.Add(key)
	return errors.Join(err, b.Set(key, j.row),
		b.Set(layout.OccurrenceKey(j.Text, d.ID), layout.OccurrenceValue(j.Occurrence)),
	)
}

func countExtraction(w *workspace.Workspace, sr *workspace.StageRun, revisits revisitCounts) error {
	c := results.ExtractCounts{Resolved: revisits.resolved}
	known, err := w.Sources()
	if err != nil {
		return err
	}
	for _, s := range known {
		c.RecordCounts.Add(s.Counts)
		c.Files++
		c.Bytes += s.Size
		if s.State == inputs.Unreadable {
			c.Unreadable++
		}
	}
	c.Captures += revisits.resolved
	for reason, n := range revisits.unresolved {
		c.Skip(reason, n)
	}
	var last rows.TextID
	var occurrences, units, texts store.Tally // each text has an occurrence
	for r, err := range w.DB.Table(layout.TableOccurrence) {
		if err != nil {
			return err
		}
		occurrences.Add(r.Key())
		t, _, err := layout.ParseOccurrenceKey(r.Key())
		if err != nil {
			return err
		}
		if c.Documents == 0 || t != last {
			c.Texts++
			units.Add(layout.UnitsKey(t))
			texts.Add(layout.TextKey(t))
		}
		last = t
		c.Documents++
	}
	c.Duplicates = c.Captures - c.Documents
	sr.Known(layout.TableOccurrence, occurrences.Contents())
	sr.Known(layout.TableUnits, units.Contents())
	sr.Known(layout.TableText, texts.Contents())
	return sr.SetCounts(c)
}
