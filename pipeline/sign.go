package pipeline

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"slices"

	"golang.org/x/sync/errgroup"

	"neardup/cluster"
	"neardup/configs"
	"neardup/extract/text"
	"neardup/signature"
	"neardup/signature/ring"
)

const signBatch = 64 // texts that a worker signs at a time

// SignCounts sums up the signing.
type SignCounts struct {
	Texts      int64 `json:"texts"`
	Navigation int64 `json:"navigation_texts"` // texts of navigation pages only, with pages: topic: left out
	Unsigned   int64 `json:"unsigned_texts"`   // texts too short for a signature: set aside
	Signatures int64 `json:"signatures"`
}

// signJob is a batch of texts on its way through the workers.
type signJob struct {
	ids   []textID
	texts []string

	postings []byte // keys of postingSize
	counts   []uint32
}

// sign signs every text that is not signed yet. That a text is signed is
// itself a row, which is ingested together with its postings: whatever is
// missing after an interruption, or when crawls were added, is what is signed.
func (w *Workspace) sign(sr *stageRun) error {
	var extracted ExtractCounts
	if err := w.counts("extract", &extracted); err != nil {
		return err
	}
	signed, err := w.store.count(tableSigned)
	if err != nil {
		return err
	}
	w.o.Progress.Total(extracted.Texts-signed, "texts")

	g, ctx := errgroup.WithContext(sr.ctx)
	in, out := make(chan *signJob, w.o.Workers), make(chan *signJob, w.o.Workers)
	g.Go(func() error {
		defer close(in)
		for j, err := range w.unsigned() {
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
	for range w.o.Workers {
		workers.Go(func() error {
			signer := ring.New(w.config.Sign)
			for j := range in {
				w.signTexts(signer, j)
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
		postings := fixedRun{size: postingSize}
		var signed []entry
		flush := func() error {
			err := w.store.ingest(ctx, postings.sorted(), sortEntries(signed))
			postings.clear()
			signed = signed[:0]
			return err
		}
		for j := range out {
			for p := range slices.Chunk(j.postings, postingSize) {
				postings.add(p)
			}
			for i, id := range j.ids { // texts come by id, but batches in any order
				signed = append(signed, entry{signedKey(id), binary.BigEndian.AppendUint32(nil, j.counts[i])})
			}
			w.o.Progress.Add(int64(len(j.ids)))
			if postings.len() >= w.o.runRows {
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
	return w.countSigned(sr, extracted.Texts)
}

// unsigned gives the texts that have no row in tableSigned, in batches.
func (w *Workspace) unsigned() iter.Seq2[*signJob, error] {
	return func(yield func(*signJob, error) bool) {
		next, stop := iter.Pull2(w.store.table(tableSigned))
		defer stop()
		signed, err, more := next()
		j := &signJob{}
		for r, terr := range w.store.table(tableText) {
			if err := errors.Join(terr, err); err != nil {
				yield(nil, err)
				return
			}
			for more && err == nil && bytes.Compare(signed.key()[1:], r.key()[1:]) < 0 {
				signed, err, more = next()
			}
			if more && err == nil && bytes.Equal(signed.key()[1:], r.key()[1:]) {
				continue
			}
			id := textID(r.key()[1:])
			if out, err := w.leftOut(id); err != nil {
				yield(nil, err)
				return
			} else if out {
				continue
			}
			value, verr := r.value()
			if err := errors.Join(verr, err); err != nil {
				yield(nil, err)
				return
			}
			j.ids = append(j.ids, id)
			j.texts = append(j.texts, text.Cut(string(value), w.config.Text.MaxColumns))
			if len(j.ids) == signBatch {
				if !yield(j, nil) {
					return
				}
				j = &signJob{}
			}
		}
		if len(j.ids) > 0 {
			yield(j, nil)
		}
	}
}

// leftOut tells whether the text is not compared because only navigation pages
// have it.
func (w *Workspace) leftOut(t textID) (bool, error) {
	if w.config.Text.Pages != configs.PagesTopic {
		return false, nil
	}
	for r, err := range w.store.rows(prefixBounds(join(tableOccurrence, t[:]))) {
		if err != nil {
			return false, err
		}
		o, err := r.occurrence()
		if err != nil || !o.navigation {
			return false, err
		}
	}
	return true, nil
}

func (w *Workspace) signTexts(signer *ring.Signer, j *signJob) {
	var signatures []signature.Signature
	for i, t := range j.texts {
		signatures = signer.Sign(signatures[:0], text.Sentences(t))
		j.counts = append(j.counts, uint32(len(signatures)))
		key := cluster.NewKey(float32(len(signatures)), j.ids[i])
		j.postings = slices.Grow(j.postings, postingSize*len(signatures))
		for _, s := range signatures {
			j.postings = appendPosting(j.postings, s, key)
		}
	}
	j.texts = nil
}

func (w *Workspace) countSigned(sr *stageRun, texts int64) error {
	var c SignCounts
	for r, err := range w.store.table(tableSigned) {
		if err != nil {
			return err
		}
		n, err := r.uint32()
		if err != nil {
			return err
		}
		c.Texts++
		c.Signatures += int64(n)
		if n == 0 {
			c.Unsigned++
		}
	}
	c.Navigation = texts - c.Texts
	return sr.setCounts(c)
}
