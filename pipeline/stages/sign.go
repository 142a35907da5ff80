package stages

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"neardup/cluster"
	"neardup/configs"
	"neardup/extract/text"
	"neardup/pipeline/extsort"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/signature"
)

const signBatch = 64 // texts that a worker signs at a time

// signJob is a batch of texts on its way through the workers.
type signJob struct {
	ids       []rows.TextID
	texts     []string
	templates [][]uint32 // of each text, the numbers of the sentences that are left out

	postings []byte   // keys of PostingSize
	signed   [][]byte // rows of the texts
}

// runSign signs every text that is not signed yet. That a text is signed is
// itself a row, which is ingested together with its postings: whatever is
// missing after an interruption, or when crawls were added, is what is signed.
func runSign(w *workspace.Workspace, sr *workspace.StageRun) error {
	var extracted results.ExtractCounts
	if err := w.Counts(workspace.StageExtract, &extracted); err != nil {
		return err
	}
	templates := int64(0)
	if w.Config.Text.Templates > 0 {
		var err error
		if templates, err = LearnTemplates(w, sr, extracted.Texts); err != nil {
			return err
		}
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
		for j, err := range unsigned(w) {
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
			scheme := w.Config.NewScheme()
			for j := range in {
				signTexts(w, scheme, j)
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
			for i, id := range j.ids { // texts come by id, but batches in any order
				signed = append(signed, extsort.Entry{Key: store.SignedKey(id), Value: j.signed[i]})
			}
			w.Options.Progress.Add(int64(len(j.ids)))
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
	return countSigned(w, sr, extracted.Texts, templates)
}

// unsigned returns the texts that have no row in TableSigned, in batches.
func unsigned(w *workspace.Workspace) iter.Seq2[*signJob, error] {
	return func(yield func(*signJob, error) bool) {
		next, stop := iter.Pull2(w.DB.Table(store.TableSigned))
		defer stop()
		templates, err := w.DB.Seeker(store.TableTemplate)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = templates.Close() }()
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
			j.ids = append(j.ids, id)
			j.texts = append(j.texts, string(value))
			if w.Config.Text.Templates > 0 {
				numbers, err := results.SeekTemplates(templates, id)
				if err != nil {
					yield(nil, err)
					return
				}
				j.templates = append(j.templates, numbers)
			}
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

func signTexts(w *workspace.Workspace, scheme signature.Scheme, j *signJob) {
	var signatures []signature.Signature
	for i, t := range j.texts {
		var row rows.Signed
		if j.templates != nil {
			left := results.WithoutSentences(t, j.templates[i])
			row.Characters = uint32(utf8.RuneCountInString(t))
			row.LeftOut = row.Characters - min(row.Characters, uint32(utf8.RuneCountInString(left)))
			t = left
		}
		t = text.Cut(t, w.Config.Text.MaxColumns)
		signatures = scheme.Sign(signatures[:0], t)
		row.Signatures = uint32(len(signatures))
		j.signed = append(j.signed, store.SignedValue(row, j.templates != nil))
		key := cluster.NewKey(Weight(w, t, len(signatures)), j.ids[i])
		j.postings = slices.Grow(j.postings, store.PostingSize*len(signatures))
		for _, s := range signatures {
			j.postings = store.AppendPosting(j.postings, s, key)
		}
	}
	j.texts = nil
}

// Weight is W of a text's key: the number of its signatures (TLCS paper, section
// 3.1), or its length in code points with schemes that give long texts no more
// signatures than short ones.
func Weight(w *workspace.Workspace, text string, signatures int) float32 {
	if w.Config.Sign.Scheme == configs.SchemeRing {
		return float32(signatures)
	}
	return float32(utf8.RuneCountInString(text))
}

func countSigned(w *workspace.Workspace, sr *workspace.StageRun, texts, templates int64) error {
	var c rows.SignCounts
	var t rows.TemplateCounts
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
		if s.Signatures == 0 && w.Config.Sign.Scheme != configs.SchemeNone {
			c.Unsigned++
		}
		t.Add(s)
	}
	c.Navigation = texts - c.Texts
	if t.Sentences = templates; w.Config.Text.Templates > 0 {
		c.Templates = &t
	}
	return sr.SetCounts(c)
}
