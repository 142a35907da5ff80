package textjoin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"neardup/extract"
	"neardup/extract/container"
	"neardup/pipeline/queue"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// Text is a document's text in memory.
type Text struct {
	ID   string // of a line of a text collection as it stands there, else the WARC-Record-ID
	Text string
}

// ErrTooMuchText is the error of texts that are more than may be held.
var ErrTooMuchText = errors.New("too much text to hold in memory")

// ReadTexts reads sources without a workspace: the texts of their documents by
// id, and of one id by text. Records of one id with one text count once, the
// others as duplicates. A revisit record has no text of its own, and no
// workspace to look for it in: it is skipped. Source by source its texts are
// those of the extract stage.
//
// It holds at most most bytes of ids and texts, else the error is
// ErrTooMuchText. Where some source cannot be read, or not to its end, the
// error wraps ErrInputFailure, and the texts are those of the others.
func Read(ctx context.Context, sources []workspace.Source, config extract.Options, most int64, workers int, p workspace.Progress) ([]Text, results.ExtractCounts, error) {
	c := textReader{config: config, most: most, progress: p}
	c.counts.Skipped = map[string]int64{}
	total := int64(0)
	for _, s := range sources {
		total += s.Size
	}
	p.Start("read", "inputs", "")
	p.Total(total, "bytes")
	err := c.read(ctx, sources, max(1, workers))
	p.Stop(err)
	if err != nil && !errors.Is(err, workspace.ErrInputFailure) {
		return nil, c.counts, err
	}
	slices.SortFunc(c.texts, func(a, b Text) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Text, b.Text)) })
	c.texts = slices.Compact(c.texts)
	c.counts.Documents = int64(len(c.texts))
	c.counts.Duplicates = c.counts.Captures - c.counts.Documents
	return c.texts, c.counts, err
}

// textReader collects texts.
type textReader struct {
	config   extract.Options
	most     int64
	progress workspace.Progress
	texts    []Text
	bytes    int64
	counts   results.ExtractCounts
	unread   *workspace.Source // the first
}

// read reads the sources one after the other; workers parse the records.
func (c *textReader) read(ctx context.Context, sources []workspace.Source, workers int) error {
	g, ctx := errgroup.WithContext(ctx)
	work, finished := make(chan *stages.Job, stages.Queued), queue.NewLimiter(ctx, stages.InFlight)
	for range workers {
		g.Go(func() error {
			x := extract.NewExtractor(c.config)
			for j := range work {
				parse(j, x, finished)
			}
			return nil
		})
	}
	g.Go(func() error {
		defer close(work)
		for _, s := range sources {
			c.counts.Files++
			c.counts.Bytes += s.Size
			if s.State != workspace.SourceUnreadable {
				err := c.readSource(ctx, s, work, finished)
				if ctx.Err() != nil || errors.Is(err, ErrTooMuchText) {
					return cmp.Or(err, ctx.Err())
				}
				if err == nil {
					continue
				}
				s.Error = err.Error()
			}
			if c.counts.Unreadable++; c.unread == nil {
				c.unread = &s
			}
			c.progress.Warn("cannot read file", "file", workspace.ShowName(s.Path), "error", s.Error)
		}
		return nil
	})
	if err := g.Wait(); err != nil || c.unread == nil {
		return err
	}
	return fmt.Errorf("%w: %d of %d files; the first is %s: %s", workspace.ErrInputFailure, c.counts.Unreadable, c.counts.Files, c.unread.Path, c.unread.Error)
}

// parse makes a document of the job's record. That of a line has the line's id.
func parse(j *stages.Job, x *extract.Extractor, finished *queue.Limiter) {
	defer close(j.Done)
	if j.Raw == nil {
		return
	}
	defer func() { finished.Acquire(j.Result(), &j.Wanted) }()
	id := lineID(j.Raw)
	j.Doc, j.Reason = x.Document(j.Raw)
	if id != "" {
		j.Doc.RecordID = id
	}
	j.Raw.Block = nil
}

// lineID returns the id of a line of a text collection, if it has one.
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

// readSource takes in a source's texts. The error is that of reading it, that
// there are too many, or the context's.
func (c *textReader) readSource(ctx context.Context, s workspace.Source, work chan<- *stages.Job, finished *queue.Limiter) error {
	var readErr error
	memory := semaphore.NewWeighted(stages.InFlight)
	jobs := make(chan *stages.Job, stages.Queued)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(jobs)
		readErr = stages.ReadFile(ctx, s, c.config.Limits, func(j *stages.Job) error {
			if err := memory.Acquire(ctx, j.Weight); err != nil {
				return err
			}
			return queue.Send(ctx, j, jobs, work)
		})
		return ctx.Err() // what was read before it counts
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
			c.progress.Add(j.Consumed)
			if err := c.take(s, j); err != nil {
				return err
			}
		}
		return nil
	})
	return cmp.Or(g.Wait(), readErr)
}

func (c *textReader) take(s workspace.Source, j *stages.Job) error {
	if j.Damage != nil {
		c.counts.Damaged++
		if c.counts.Damaged <= stages.DamageWarnings {
			c.progress.Warn("damaged", "file", workspace.ShowName(s.Path), "offset", j.Damage.Offset, "error", j.Damage.Err)
		}
		return nil
	}
	c.counts.Records++
	switch {
	case j.Reason != extract.ReasonNone:
		c.counts.Skip(j.Reason, 1)
		return nil
	case j.Doc.Repeats != nil:
		c.counts.Revisits++
		c.counts.Skip(extract.ReasonUnresolved, 1)
		return nil
	}
	c.counts.Capture(j.Doc)
	t := Text{ID: j.Doc.RecordID, Text: j.Doc.Text}
	if c.bytes += int64(len(t.ID) + len(t.Text)); c.bytes > c.most {
		return fmt.Errorf("%w: over %d bytes", ErrTooMuchText, c.most)
	}
	c.texts = append(c.texts, t)
	return nil
}
