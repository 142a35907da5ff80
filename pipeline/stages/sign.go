package stages

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"neardup/cluster"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

const signBatch = 64 // texts that a worker signs at a time

// signJob is a batch of texts on its way through the workers.
type signJob struct {
	texts []dataflow.Text

	postings []byte // keys of PostingSize
	signed   []extsort.Entry
}

// runSign signs every text that is not signed yet. That a text is signed is
// itself a row, which is ingested together with its postings: whatever is
// missing after an interruption, or when crawls were added, is what is signed.
func runSign(w *workspace.Workspace, sr *workspace.StageRun) error {
	var extracted results.ExtractCounts
	if err := w.Counts(workspace.StageExtract, &extracted); err != nil {
		return err
	}
	if w.Config.Text.Frames > 0 {
		if err := LearnFrames(w, sr); err != nil {
			return err
		}
	}
	reader, err := results.LoadReader(w)
	if err != nil {
		return err
	}
	signed, err := w.DB.Count(store.TableSigned)
	if err != nil {
		return err
	}
	w.Options.Progress.Total(extracted.Texts-signed, "texts")

	g, ctx := errgroup.WithContext(sr.Ctx)
	in, out := make(chan *signJob, w.Options.Workers), make(chan *signJob, w.Options.Workers)
	g.Go(func() error {
		defer close(in)
		for j, err := range unsigned(w, reader) {
			if err != nil {
				return err
			}
			select {
			case in <- j:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	workers, wctx := errgroup.WithContext(ctx)
	for range w.Options.Workers {
		workers.Go(func() error {
			signer := dataflow.NewSigner(w.Config, reader.Frames)
			for j := range in {
				if err := j.sign(signer, w.Config.Text.Frames > 0); err != nil {
					return err
				}
				select {
				case out <- j:
				case <-wctx.Done():
					return wctx.Err()
				}
			}
			return nil
		})
	}
	g.Go(func() error {
		defer close(out)
		return workers.Wait()
	})
	g.Go(func() error {
		postings := store.FixedRun{Size: store.PostingSize}
		var signed []extsort.Entry
		saved := time.Now()
		flush := func() error {
			err := w.DB.Ingest(ctx, append(postings.Sorted(w.Options.Workers), store.SortEntries(signed))...)
			postings.Clear()
			signed, saved = signed[:0], time.Now()
			return err
		}
		for j := range out {
			for p := range slices.Chunk(j.postings, store.PostingSize) {
				postings.Add(p)
			}
			signed = append(signed, j.signed...) // texts come by id, but batches in any order
			w.Options.Progress.Add(int64(len(j.signed)))
			// Not all schemes have many signatures, or are fast.
			if postings.Len() >= w.Options.RunRows || time.Since(saved) > commitEvery {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return flush()
	})
	if err := g.Wait(); err != nil {
		return err
	}
	return countSigned(w, sr, extracted.Texts)
}

// unsigned returns the texts that have no row in TableSigned, in batches.
func unsigned(w *workspace.Workspace, reader *results.Reader) iter.Seq2[*signJob, error] {
	return func(yield func(*signJob, error) bool) {
		next, stop := iter.Pull2(w.DB.Table(store.TableSigned))
		defer stop()
		signed, err, more := next()
		j := &signJob{}
		for r, terr := range w.DB.Table(store.TableText) {
			if err := errors.Join(terr, err); err != nil {
				yield(nil, err)
				return
			}
			for more && err == nil && bytes.Compare(signed.Key()[1:], r.Key()[1:]) < 0 {
				signed, err, more = next()
			}
			if more && err == nil && bytes.Equal(signed.Key()[1:], r.Key()[1:]) {
				continue
			}
			id := rows.TextID(r.Key()[1:])
			if out, err := results.LeftOut(w, id); err != nil {
				yield(nil, err)
				return
			} else if out {
				continue
			}
			value, verr := r.Value()
			if err := errors.Join(verr, err); err != nil {
				yield(nil, err)
				return
			}
			t := dataflow.Text{ID: id, Text: string(value)}
			if w.Config.Text.Frames > 0 {
				if t, err = reader.Text(id, t.Text); err != nil {
					yield(nil, err)
					return
				}
			}
			if j.texts = append(j.texts, t); len(j.texts) == signBatch {
				if !yield(j, nil) {
					return
				}
				j = &signJob{}
			}
		}
		if len(j.texts) > 0 {
			yield(j, nil)
		}
	}
}

// sign signs the texts.
func (j *signJob) sign(signer *dataflow.Signer, frames bool) error {
	var postings []cluster.Posting
	for _, t := range j.texts {
		row, signed, err := signer.Sign(postings[:0], t)
		if err != nil {
			return err
		}
		j.signed = append(j.signed, extsort.Entry{Key: store.SignedKey(t.ID), Value: store.SignedValue(row, frames)})
		j.postings = slices.Grow(j.postings, store.PostingSize*len(signed))
		for _, p := range signed {
			j.postings = store.AppendPosting(j.postings, p.Signature, p.Key)
		}
		postings = signed
	}
	j.texts = nil
	return nil
}

func countSigned(w *workspace.Workspace, sr *workspace.StageRun, texts int64) error {
	var c rows.SignCounts
	var f rows.FrameCounts
	for r, err := range w.DB.Table(store.TableSigned) {
		if err != nil {
			return err
		}
		s, err := r.Signed()
		if err != nil {
			return err
		}
		c.Texts++
		c.Signatures += int64(s.Signatures)
		if s.Signatures == 0 && w.Config.Signs() {
			c.Unsigned++
		}
		f.Add(s)
	}
	c.Navigation = texts - c.Texts
	if w.Config.Text.Frames > 0 {
		c.Frames = &f
	}
	return sr.SetCounts(c)
}
