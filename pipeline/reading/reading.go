// Package reading reads the documents of sources without a workspace.
package reading

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"neardup/extract"
	"neardup/extract/container"
	"neardup/pipeline/extractors"
	"neardup/pipeline/inputs"
	"neardup/pipeline/queue"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// Options are the options of reading sources.
type Options struct {
	Extract  extract.Options
	Workers  int // 0 means 1
	Progress workspace.Progress
	LineIDs  bool // RecordID is the ID of the line in a text collection, not a made-up record ID

	// PageURI returns the URI of a source that is no archive and may be a single
	// page. If it is nil, such a source is unreadable.
	PageURI func(inputs.Source) string
}

// Each passes the documents of the sources to take, source by source and in the
// order of their records, whatever the number of workers. They are those of the
// extract stage, without revisits: a revisit has no text of its own, and without a
// workspace its capture cannot be looked up, so Each skips and counts them. An
// error of take ends the reading.
//
// If some source cannot be read, or not to its end, Each reads all others and
// returns an error that wraps workspace.ErrInputFailure.
func Each(ctx context.Context, sources []inputs.Source, o Options, take func(extract.Document) error) (results.ExtractCounts, error) {
	r := reader{Options: o, take: take}
	r.counts.Skipped = map[string]int64{}
	total := int64(0)
	for _, s := range sources {
		total += s.Size
	}
	o.Progress.Start("read", "inputs", "")
	o.Progress.Total(total, "bytes")
	err := r.read(ctx, sources, max(1, o.Workers))
	o.Progress.Stop(err)
	return r.counts, err
}

type reader struct {
	Options
	take   func(extract.Document) error
	counts results.ExtractCounts
	unread *inputs.Source // the first unreadable source
}

// read reads the sources in succession; workers parse the records.
func (r *reader) read(ctx context.Context, sources []inputs.Source, workers int) error {
	g, ctx := errgroup.WithContext(ctx)
	work, finished := make(chan *stages.Job, stages.Queued), queue.NewLimiter(ctx, stages.InFlight)
	for range workers {
		g.Go(func() error {
			x := extractors.New(r.Extract)
			for j := range work {
				r.parse(j, x, finished)
			}
			return nil
		})
	}
	g.Go(func() error {
		defer close(work)
		for _, s := range sources {
			r.counts.Files++
			r.counts.Bytes += s.Size
			unread, err := errors.New(s.Error), error(nil)
			switch {
			case s.NotArchive && r.PageURI != nil:
				unread, err = r.readPage(s)
			case s.State != inputs.Unreadable:
				unread, err = r.readSource(ctx, s, work, finished)
			}
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return err
			}
			if unread == nil {
				continue
			}
			s.Error = unread.Error()
			if r.counts.Unreadable++; r.unread == nil {
				r.unread = &s
			}
			r.Progress.Warn("cannot read file", "file", s.Shown(), "error", s.Error)
		}
		return nil
	})
	if err := g.Wait(); err != nil || r.unread == nil {
		return err
	}
	return fmt.Errorf("%w: %d of %d files; the first is %s: %s", workspace.ErrInputFailure, r.counts.Unreadable, r.counts.Files, r.unread.Shown(), r.unread.Error)
}

// parse makes a document from the job's record.
func (r *reader) parse(j *stages.Job, x *extract.Extractor, finished *queue.Limiter) {
	defer close(j.Done)
	if j.Raw == nil {
		return
	}
	defer func() { finished.Acquire(j.Result(), &j.Wanted) }()
	id := ""
	if r.LineIDs {
		id = lineID(j.Raw)
	}
	j.Raw.Room = j.Account.Room(j.Raw)
	j.Document.Document, j.Reason = x.Document(j.Raw)
	if id != "" {
		j.Document.RecordID = id
	}
	j.Raw.Block = nil
}

// lineID returns the ID of a line of a text collection, or "".
func lineID(raw *container.Raw) string {
	switch raw.Format {
	case container.FormatTSV:
		id, _, _ := bytes.Cut(raw.Block, []byte{'\t'})
		return string(id)
	case container.FormatJSONL:
		var line struct {
			ID json.RawMessage `json:"id"`
		}
		if json.Unmarshal(raw.Block, &line) != nil {
			return ""
		}
		var s string
		if json.Unmarshal(line.ID, &s) != nil {
			return string(line.ID) // a number
		}
		return s
	}
	return ""
}

// errTaken marks an error of take.
type errTaken struct{ error }

func (e errTaken) Unwrap() error { return e.error }

// readSource passes a source's documents to take. unread is why the source could
// not be read to its end. err is an error of take, or the context's.
func (r *reader) readSource(ctx context.Context, s inputs.Source, work chan<- *stages.Job, finished *queue.Limiter) (unread, err error) {
	memory := semaphore.NewWeighted(stages.InFlight)
	jobs := make(chan *stages.Job, stages.Queued)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(jobs)
		_, unread = stages.ReadFile(ctx, s, r.Extract.Limits, func(j *stages.Job) error {
			if err := memory.Acquire(ctx, j.Weight); err != nil {
				return err
			}
			return queue.Send(ctx, j, jobs, work)
		})
		return ctx.Err() // what was read before counts
	})
	g.Go(func() error {
		for j := range jobs {
			finished.Want(&j.Wanted)
			select {
			case <-j.Done:
			case <-ctx.Done():
				return ctx.Err()
			}
			memory.Release(j.Weight)
			if j.Raw != nil {
				finished.Release(j.Result())
			}
			r.Progress.Add(j.Consumed)
			if err := r.count(s, j); err != nil {
				return errTaken{err}
			}
		}
		return nil
	})
	err = g.Wait()
	if taken := (errTaken{}); errors.As(err, &taken) {
		err = taken.error
	}
	return unread, err
}

// count counts the result of a record and passes its document to take.
func (r *reader) count(s inputs.Source, j *stages.Job) error {
	if j.Damage != nil {
		r.counts.Damaged++
		if r.counts.Damaged <= stages.DamageWarnings {
			r.Progress.Warn("damaged", "file", s.Shown(), "offset", j.Damage.Offset, "error", j.Damage.Err)
		}
		return nil
	}
	r.counts.Records++
	j.Reason = j.Account.Take(j.Raw, j.Reason)
	switch {
	case j.Reason != extract.ReasonNone:
		r.counts.Skip(j.Reason, 1)
		return nil
	case j.IsRevisit():
		r.counts.Revisits++
		r.counts.Skip(extract.ReasonUnresolved, 1)
		return nil
	}
	r.counts.Capture(j.Document.Document)
	return r.take(j.Document.Document)
}
