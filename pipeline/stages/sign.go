package stages

import (
	"errors"
	"iter"
	"slices"
	"time"

	"neardup/cluster"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/queue"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

const signBatch = 64 // texts that a worker signs at a time

// signJob is a batch of texts for the workers.
type signJob struct {
	texts []dataflow.Text

	postings []byte // keys of PostingSize bytes
	signed   []extsort.Entry
}

// runSign signs every text that is not signed yet. A text's row in TableSigned is
// ingested together with its postings. So after an interruption, or when crawls
// were added, exactly the texts without that row are left to sign.
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
	reader, err := results.LoadFrames(w)
	if err != nil {
		return err
	}
	signed, err := w.DB.Count(store.TableSigned)
	if err != nil {
		return err
	}
	w.Options.Progress.Total(extracted.Texts-signed, "texts")

	postings := store.FixedRun{Size: store.PostingSize}
	var entries []extsort.Entry
	saved := time.Now()
	flush := func() error {
		err := w.DB.Ingest(sr.Ctx, append(postings.Sorted(w.Options.Workers), store.SortEntries(entries))...)
		postings.Clear()
		entries, saved = entries[:0], time.Now()
		return err
	}
	worker := func() func(*signJob) error {
		signer := dataflow.NewSigner(w.Config, reader.Frames)
		return func(j *signJob) error { return j.sign(signer, w.Config.Text.Frames > 0) }
	}
	err = queue.Unordered(sr.Ctx, w.Options.Workers, unsigned(w, reader), worker, func(j *signJob) error {
		for p := range slices.Chunk(j.postings, store.PostingSize) {
			postings.Add(p)
		}
		entries = append(entries, j.signed...) // texts come in order of ID, but batches in any order
		w.Options.Progress.Add(int64(len(j.signed)))
		// Saving by time, too: some schemes give few signatures, and some are slow.
		if postings.Len() >= w.Options.RunRows || time.Since(saved) > commitEvery {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return err
	}
	return countSigned(w, sr, extracted.Texts)
}

// unsigned yields the texts that have no row in TableSigned, in batches.
func unsigned(w *workspace.Workspace, reader *results.Reader) iter.Seq2[*signJob, error] {
	return func(yield func(*signJob, error) bool) {
		next, stop := iter.Pull2(signedTexts(w))
		defer stop()
		signed, err, more := next()
		j := &signJob{}
		for r, terr := range w.DB.Table(store.TableText) {
			if err := errors.Join(terr, err); err != nil {
				yield(nil, err)
				return
			}
			id, kerr := r.TextID()
			if kerr != nil {
				yield(nil, kerr)
				return
			}
			for more && err == nil && rows.CompareTexts(signed, id) < 0 {
				signed, err, more = next()
			}
			if more && err == nil && signed == id {
				continue
			}
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
			t, err := reader.Text(id, string(value))
			if err != nil {
				yield(nil, err)
				return
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

// signedTexts yields the signed texts, in order.
func signedTexts(w *workspace.Workspace) iter.Seq2[rows.TextID, error] {
	return func(yield func(rows.TextID, error) bool) {
		for r, err := range w.DB.Table(store.TableSigned) {
			var id rows.TextID
			if err == nil {
				id, err = r.TextID()
			}
			if !yield(id, err) || err != nil {
				return
			}
		}
	}
}

// sign signs the texts of the job.
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
