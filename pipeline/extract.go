package pipeline

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
)

const (
	commitEvery    = 5 * time.Second // an interruption loses at most twice this much work, or twice commitBytes
	damageWarnings = 100             // of a file: some are made of nothing but marks of records

	// Between reader and commit. Both are so much that the workers have enough
	// to do while the reader inflates a large record, or a commit waits for the
	// disk.
	inFlight = 64 << 20 // bytes of records, and of what became of them
	queued   = 1 << 10  // events of a file
)

// storedDocument is a document's row.
type storedDocument struct {
	extract.Document
	TextID    string `json:"text_id"`
	TextBytes int64  `json:"text_bytes"`
	RevisitOf string `json:"revisit_of,omitempty"` // record id of the capture whose text a revisit has
}

func (d storedDocument) textID() (textID, error) { return parseTextID(d.TextID) }

func parseTextID(s string) (t textID, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(t) {
		return t, fmt.Errorf("%w: text id %q", errCorrupt, s)
	}
	return textID(b), nil
}

// job is one event of a file on its way through the workers: a record, or
// damage.
type job struct {
	raw      *container.Raw
	damage   *container.Damage
	position container.Position // behind it
	consumed int64              // bytes of the file since the event before
	weight   int64              // bytes of the record

	doc    extract.Document
	reason extract.Reason
	text   textID // of a document
	row    []byte // of a document
	err    error
	wanted bool // the job is waited for, see limiter
	done   chan struct{}
}

// work is a worker's part: all that needs neither the job's place among the
// others nor the database.
func (j *job) work(x *extract.Extractor, finished *limiter) {
	defer close(j.done)
	if j.raw == nil {
		return
	}
	defer func() { finished.acquire(j.result(), &j.wanted) }()
	j.doc, j.reason = x.Document(j.raw)
	j.raw.Block = nil
	if j.reason == extract.ReasonNone && j.doc.Repeats == nil {
		j.text = extract.TextID(j.doc.Text)
		d := storedDocument{Document: j.doc, TextID: hex.EncodeToString(j.text[:]), TextBytes: int64(len(j.doc.Text))}
		j.row, j.err = json.Marshal(d)
	}
}

// result is about the memory of what became of the record.
func (j *job) result() int64 { return int64(len(j.doc.Text) + len(j.row)) }

// extract reads all pending sources. Each file has one reader, and its events
// are committed in their order with the place to go on from; parsing is done
// by the workers, which all files share.
func (w *Workspace) extract(sr *stageRun) error {
	known, err := w.sources()
	if err != nil {
		return err
	}
	var pending []Source
	total := int64(0)
	for _, s := range known {
		if s.State == sourcePending {
			pending = append(pending, s)
			total += s.Size - s.Position.Offset
		}
	}
	w.o.Progress.Total(total, "bytes")

	g, ctx := errgroup.WithContext(sr.ctx)
	work := make(chan *job, queued)
	files := make(chan Source)
	memory, finished := semaphore.NewWeighted(inFlight), newLimiter(ctx, inFlight)
	readers, rctx := errgroup.WithContext(ctx)
	for range 1 + w.o.Workers/8 { // one reader feeds about eight workers
		readers.Go(func() error {
			for s := range files {
				if err := w.extractFile(rctx, s, work, memory, finished); err != nil {
					return fmt.Errorf("%s: %w", s.Path, err)
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
	for range w.o.Workers {
		g.Go(func() error {
			x := extract.NewExtractor(w.config.Extract)
			for j := range work {
				j.work(x, finished)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	revisits, err := w.resolveRevisits(sr)
	if err != nil {
		return err
	}
	return w.countExtraction(sr, revisits)
}

// extractFile reads one file and commits what the workers make of it.
func (w *Workspace) extractFile(ctx context.Context, s Source, work chan<- *job, memory *semaphore.Weighted, finished *limiter) error {
	queue := make(chan *job, queued)
	g, ctx := errgroup.WithContext(ctx)
	var readErr error
	g.Go(func() error {
		defer close(queue)
		readErr = readFile(ctx, s, w.config.Extract.Limits, func(j *job) error {
			if err := memory.Acquire(ctx, j.weight); err != nil {
				return err
			}
			for _, to := range []chan<- *job{queue, work} {
				select {
				case to <- j:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
		return ctx.Err() // a file that cannot be read further stops nothing else
	})
	g.Go(func() error { return w.commitFile(ctx, &s, queue, memory, finished) })
	if err := g.Wait(); err != nil {
		return err
	}
	s.State, s.Error = sourceDone, ""
	if readErr != nil {
		s.State, s.Error = sourceUnreadable, readErr.Error()
		w.o.Progress.Warn("cannot read file further", "file", s.Path, "offset", s.Position.Offset, "error", readErr)
	}
	b := w.store.batch()
	return errors.Join(b.setJSON(sourceKey(s.Path), s), b.commit())
}

// readFile emits the file's events from its position on. The error is that of
// reading the file.
func readFile(ctx context.Context, s Source, limits container.Limits, emit func(*job) error) error {
	r, closer, err := s.reader(limits)
	if err != nil {
		return err
	}
	defer func() { _ = closer.Close() }()
	before := s.Position.Offset
	for {
		j := &job{done: make(chan struct{})}
		j.raw, err = r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil && !errors.As(err, &j.damage) {
			return err
		}
		j.position, j.weight = r.Position(), 1
		if j.raw != nil {
			j.weight = min(int64(len(j.raw.Block))+4096, inFlight)
		}
		j.consumed, before = r.Consumed()-before, r.Consumed()
		if emit(j) != nil {
			return ctx.Err()
		}
	}
}

// commitFile takes the file's jobs in order and commits their documents with
// the file's position.
func (w *Workspace) commitFile(ctx context.Context, s *Source, queue <-chan *job, memory *semaphore.Weighted, finished *limiter) error {
	b := w.store.largeBatch(w.o.commitBytes)
	saved := time.Now()
	committed := func() error { return nil } // waits for the batch before
	defer func() { _ = committed() }()
	commit := func() error {
		if err := errors.Join(b.setJSON(sourceKey(s.Path), s), committed()); err != nil {
			return err
		}
		full := b
		result := make(chan error, 1)
		go func() { result <- full.commit() }()
		committed = sync.OnceValue(func() error { return <-result })
		b, saved = w.store.largeBatch(w.o.commitBytes), time.Now()
		return nil
	}
	for j := range queue {
		finished.want(&j.wanted)
		select {
		case <-j.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if j.err != nil {
			return j.err
		}
		if err := w.commitJob(b, s, j); err != nil {
			return err
		}
		memory.Release(j.weight)
		if j.raw != nil {
			finished.release(j.result())
		}
		w.o.Progress.Add(j.consumed)
		s.Position = j.position
		if b.Len() >= w.o.commitBytes || time.Since(saved) > commitEvery {
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

func (w *Workspace) commitJob(b batch, s *Source, j *job) error {
	if j.damage != nil {
		s.Counts.Damaged++
		if s.Counts.Damaged <= damageWarnings {
			w.o.Progress.Warn("damaged", "file", s.Path, "offset", j.damage.Offset, "error", j.damage.Err)
		}
		if s.Counts.Damaged == damageWarnings {
			w.o.Progress.Warn("further damage is counted only", "file", s.Path)
		}
		return nil
	}
	s.Counts.Records++
	if j.reason != extract.ReasonNone {
		s.Counts.skip(j.reason, 1)
		return nil
	}
	if j.doc.Repeats != nil {
		s.Counts.Revisits++
		return b.setJSON(revisitKey(j.doc.ID, s.Path, s.Name, j.raw.Offset), storedRevisit{Document: j.doc})
	}
	s.Counts.capture(j.doc)
	return errors.Join(
		b.set(textKey(j.text), []byte(j.doc.Text)),
		b.set(documentKey(j.doc.ID, s.Name, j.raw.Offset), j.row),
		putOccurrence(b, j.doc.ID, j.doc, j.text),
	)
}

// putOccurrence writes that the document of this id has the text.
func putOccurrence(b batch, id extract.ID, d extract.Document, t textID) error {
	o := occurrence{site: hash(d.Site), address: hash(d.Address()), navigation: d.IsNavigation()}
	return b.set(occurrenceKey(t, id), o.append(nil))
}

// ExtractCounts sums up the extraction.
type ExtractCounts struct {
	RecordCounts
	Files      int   `json:"files"`
	Unreadable int   `json:"unreadable_files"`
	Bytes      int64 `json:"bytes"` // of the files
	Documents  int64 `json:"documents"`
	Duplicates int64 `json:"duplicates"`        // captures of a document that was met before
	Resolved   int64 `json:"resolved_revisits"` // captures that are revisits of a document; the others are skipped
	Texts      int64 `json:"texts"`             // distinct visible texts
}

func (w *Workspace) countExtraction(sr *stageRun, revisits revisitCounts) error {
	c := ExtractCounts{Resolved: revisits.resolved}
	known, err := w.sources()
	if err != nil {
		return err
	}
	for _, s := range known {
		c.RecordCounts.add(s.Counts)
		c.Files++
		c.Bytes += s.Size
		if s.State == sourceUnreadable {
			c.Unreadable++
		}
	}
	c.Captures += revisits.resolved
	for reason, n := range revisits.unresolved {
		c.skip(reason, n)
	}
	var last textID
	for r, err := range w.store.table(tableOccurrence) {
		if err != nil {
			return err
		}
		t, _, err := parseOccurrenceKey(r.key())
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
	return sr.setCounts(c)
}
