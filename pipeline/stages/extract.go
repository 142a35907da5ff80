package stages

import (
	"context"
	"encoding/hex"
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
	"neardup/pipeline/queue"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

const (
	commitEvery    = 5 * time.Second // an interruption loses at most twice this much work, or twice CommitBytes
	DamageWarnings = 100             // of a file: some are made of nothing but marks of records

	// Between reader and commit. Both are so much that the workers have enough
	// to do while the reader inflates a large record, or a commit waits for the
	// disk.
	InFlight = 64 << 20 // bytes of records, and of what became of them
	Queued   = 1 << 10  // events of a file
)

// Job is one event of a file on its way through the workers: a record, or
// damage.
type Job struct {
	Raw      *container.Raw
	Damage   *container.Damage
	source   *workspace.Source
	digester *workspace.Digester
	before   container.Position
	position container.Position // behind it
	Consumed int64              // bytes of the file since the event before
	Weight   int64              // bytes of the record

	Doc    extract.Document
	Reason extract.Reason
	text   rows.TextID // of a document
	row    []byte      // of a document
	err    error
	Wanted bool // the job is waited for, see limiter
	Done   chan struct{}
}

// work is a worker's part: all that needs neither the job's place among the
// others nor the database.
func (j *Job) work(x *extract.Extractor, worker int, notes *workspace.InFlight, finished *queue.Limiter) {
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
	j.Doc, j.Reason = x.Document(j.Raw)
	j.err = notes.End(worker)
	j.Raw.Block = nil
	if j.err == nil && j.Reason == extract.ReasonNone && j.Doc.Repeats == nil {
		j.text = extract.TextID(j.Doc.Text)
		d := results.Document{Document: j.Doc, TextID: hex.EncodeToString(j.text[:]), TextBytes: int64(len(j.Doc.Text))}
		j.row, j.err = json.Marshal(d)
	}
}

// Result is about the memory of what became of the record.
func (j *Job) Result() int64 { return int64(len(j.Doc.Text) + len(j.Doc.Visible) + len(j.row)) }

// runExtract reads all pending sources. Each file has one reader, and its events
// are committed in their order with the place to go on from; parsing is done
// by the workers, which all files share.
func runExtract(w *workspace.Workspace, sr *workspace.StageRun) (err error) {
	if err := w.TryEnded(sr.Ctx); err != nil {
		return err
	}
	known, err := w.Sources()
	if err != nil {
		return err
	}
	var pending []workspace.Source
	total := int64(0)
	for _, s := range known {
		if s.State == workspace.SourcePending {
			pending = append(pending, s)
			total += s.Size - s.Position.Offset
		}
	}
	workspace.ShareFiles(pending, w.Config.Extract.Limits)
	w.Options.Progress.Total(total, "bytes")

	notes, err := w.NoteInFlight()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, notes.Close()) }()
	g, ctx := errgroup.WithContext(sr.Ctx)
	work := make(chan *Job, Queued)
	files := make(chan workspace.Source)
	memory, finished := semaphore.NewWeighted(InFlight), queue.NewLimiter(ctx, InFlight)
	readers, rctx := errgroup.WithContext(ctx)
	for range 1 + w.Options.Workers/8 { // one reader feeds about eight workers
		readers.Go(func() error {
			for s := range files {
				if err := extractFile(rctx, w, s, work, memory, finished); err != nil {
					return fmt.Errorf("%s: %w", workspace.ShowName(s.Path), err)
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
				return nil // the reader's error is the one that counts
			}
		}
		return nil
	})
	g.Go(func() error {
		defer close(work)
		return readers.Wait()
	})
	for worker := range w.Options.Workers {
		g.Go(func() error {
			x := extract.NewExtractor(w.Config.Extract)
			for j := range work {
				j.work(x, worker, notes, finished)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	revisits, err := resolveRevisits(w, sr)
	if err != nil {
		return err
	}
	return countExtraction(w, sr, revisits)
}

// extractFile reads one file and commits what the workers make of it.
func extractFile(ctx context.Context, w *workspace.Workspace, s workspace.Source, work chan<- *Job, memory *semaphore.Weighted, finished *queue.Limiter) error {
	jobs := make(chan *Job, Queued)
	g, ctx := errgroup.WithContext(ctx)
	var readErr error
	var digester *workspace.Digester
	g.Go(func() error {
		defer close(jobs)
		digester, readErr = ReadFile(ctx, s, w.Config.Extract.Limits, func(j *Job) error {
			if err := memory.Acquire(ctx, j.Weight); err != nil {
				return err
			}
			return queue.Send(ctx, j, jobs, work)
		})
		return ctx.Err() // a file that cannot be read further stops nothing else
	})
	g.Go(func() error { return commitFile(ctx, w, &s, jobs, memory, finished) })
	if err := g.Wait(); err != nil {
		return err
	}
	if readErr == nil {
		readErr = s.Finish(digester, w.Config.Extract.Limits)
	}
	s.State, s.Error = workspace.SourceDone, ""
	if readErr != nil {
		s.State, s.Error = workspace.SourceUnreadable, readErr.Error()
		w.Options.Progress.Warn("cannot read file further", "file", workspace.ShowName(s.Path), "offset", s.Position.Offset, "error", readErr)
	}
	b := w.DB.Batch()
	return errors.Join(b.SetJSON(store.SourceKey(s.Path), s), b.Commit())
}

// ReadFile emits the file's events from its position on. The error is that of
// reading the file, of which it returns what was digested.
func ReadFile(ctx context.Context, s workspace.Source, limits container.Limits, emit func(*Job) error) (*workspace.Digester, error) {
	r, digester, closer, err := s.Reader(limits)
	if err != nil {
		return nil, err
	}
	defer func() { _ = closer.Close() }()
	consumed, at := s.Position.Offset, s.Position
	for {
		j := &Job{source: &s, digester: digester, before: at, Done: make(chan struct{})}
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
			j.Weight = min(int64(len(j.Raw.Block))+4096, InFlight)
		}
		j.Consumed, consumed = r.Consumed()-consumed, r.Consumed()
		if emit(j) != nil {
			return digester, ctx.Err()
		}
	}
}

// commitFile takes the file's jobs in order and commits their documents with
// the file's position.
func commitFile(ctx context.Context, w *workspace.Workspace, s *workspace.Source, jobs <-chan *Job, memory *semaphore.Weighted, finished *queue.Limiter) (err error) {
	batch := func() store.Batch { // a small file needs little, and there may be thousands
		return w.DB.LargeBatch(int(min(int64(w.Options.CommitBytes), 64<<10+8*max(0, s.Size-s.Position.Offset))))
	}
	b, saved := batch(), time.Now()
	committed := func() error { return nil } // waits for the batch before
	defer func() { _ = committed() }()
	commit := func() error {
		if err := errors.Join(b.SetJSON(store.SourceKey(s.Path), s), committed()); err != nil {
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
		finished.Want(&j.Wanted)
		select {
		case <-j.Done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if j.err != nil {
			return j.err
		}
		if err := commitJob(w, b, s, j); err != nil {
			return err
		}
		memory.Release(j.Weight)
		if j.Raw != nil {
			finished.Release(j.Result())
		}
		w.Options.Progress.Add(j.Consumed)
		s.Position = j.position
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

func commitJob(w *workspace.Workspace, b store.Batch, s *workspace.Source, j *Job) error {
	if j.Damage != nil {
		s.Counts.Damaged++
		if s.Counts.Damaged <= DamageWarnings {
			w.Options.Progress.Warn("damaged", "file", workspace.ShowName(s.Path), "offset", j.Damage.Offset, "error", j.Damage.Err)
		}
		if s.Counts.Damaged == DamageWarnings {
			w.Options.Progress.Warn("further damage is counted only", "file", workspace.ShowName(s.Path))
		}
		return nil
	}
	s.Counts.Records++
	if j.Reason != extract.ReasonNone {
		s.Counts.Skip(j.Reason, 1)
		return nil
	}
	if j.Doc.Repeats != nil {
		s.Counts.Revisits++
		return b.SetJSON(store.RevisitKey(j.Doc.ID, s.Path, s.ID(), j.Raw.Offset), storedRevisit{Document: j.Doc})
	}
	s.Counts.Capture(j.Doc)
	return errors.Join(
		b.Set(store.TextKey(j.text), []byte(j.Doc.Text)),
		b.Set(store.DocumentKey(j.Doc.ID, s.ID(), j.Raw.Offset), j.row),
		putOccurrence(b, j.Doc.ID, j.Doc, j.text),
	)
}

// putOccurrence writes that the document of this id has the text.
func putOccurrence(b store.Batch, id extract.ID, d extract.Document, t rows.TextID) error {
	o := rows.Occurrence{Site: rows.Hash(d.Site), Address: rows.Hash(d.Address()), Navigation: d.IsNavigation()}
	return b.Set(store.OccurrenceKey(t, id), store.OccurrenceValue(o))
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
		if s.State == workspace.SourceUnreadable {
			c.Unreadable++
		}
	}
	c.Captures += revisits.resolved
	for reason, n := range revisits.unresolved {
		c.Skip(reason, n)
	}
	var last rows.TextID
	for r, err := range w.DB.Table(store.TableOccurrence) {
		if err != nil {
			return err
		}
		t, _, err := store.ParseOccurrenceKey(r.Key())
		if err != nil {
			return err
		}
		if c.Documents == 0 || t != last {
			c.Texts++
		}
		last = t
		c.Documents++
	}
	c.Duplicates = c.Captures - c.Documents
	return sr.SetCounts(c)
}
