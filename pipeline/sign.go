package pipeline

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
	"neardup/signature"
)

const signBatch = 64 // texts that a worker signs at a time

// SignCounts sums up the signing.
type SignCounts struct {
	Texts      int64 `json:"texts"`
	Navigation int64 `json:"navigation_texts"` // texts of navigation pages only, with pages: topic: left out
	Unsigned   int64 `json:"unsigned_texts"`   // texts too short for a signature: set aside
	Signatures int64 `json:"signatures"`

	Templates *TemplateCounts `json:"templates,omitempty"` // with text.templates
}

// TemplateCounts sum up what the learned templates take from the texts that are
// signed.
type TemplateCounts struct {
	Sentences  int64 `json:"sentences"`     // pairs of a site and a sentence
	Texts      int64 `json:"texts"`         // that have some
	Emptied    int64 `json:"emptied_texts"` // of which nothing is left
	Characters int64 `json:"characters"`    // of all texts
	LeftOut    int64 `json:"characters_left_out"`
}

// signJob is a batch of texts on its way through the workers.
type signJob struct {
	ids       []textID
	texts     []string
	templates [][]uint32 // of each text, the numbers of the sentences that are left out

	postings []byte   // keys of postingSize
	signed   [][]byte // rows of the texts
}

// sign signs every text that is not signed yet. That a text is signed is
// itself a row, which is ingested together with its postings: whatever is
// missing after an interruption, or when crawls were added, is what is signed.
func (w *Workspace) sign(sr *stageRun) error {
	var extracted ExtractCounts
	if err := w.counts(StageExtract, &extracted); err != nil {
		return err
	}
	templates := int64(0)
	if w.config.Text.Templates > 0 {
		var err error
		if templates, err = w.learnTemplates(sr, extracted.Texts); err != nil {
			return err
		}
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
			scheme := w.config.NewScheme()
			for j := range in {
				w.signTexts(scheme, j)
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
		saved := time.Now()
		flush := func() error {
			err := w.store.ingest(ctx, append(postings.sorted(w.o.Workers), sortEntries(signed))...)
			postings.clear()
			signed, saved = signed[:0], time.Now()
			return err
		}
		for j := range out {
			for p := range slices.Chunk(j.postings, postingSize) {
				postings.add(p)
			}
			for i, id := range j.ids { // texts come by id, but batches in any order
				signed = append(signed, entry{signedKey(id), j.signed[i]})
			}
			w.o.Progress.Add(int64(len(j.ids)))
			// Not all schemes have many signatures, or are fast.
			if postings.len() >= w.o.runRows || time.Since(saved) > commitEvery {
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
	return w.countSigned(sr, extracted.Texts, templates)
}

// unsigned gives the texts that have no row in tableSigned, in batches.
func (w *Workspace) unsigned() iter.Seq2[*signJob, error] {
	return func(yield func(*signJob, error) bool) {
		next, stop := iter.Pull2(w.store.table(tableSigned))
		defer stop()
		templates, err := w.store.seeker(tableTemplate)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = templates.Close() }()
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
			j.texts = append(j.texts, string(value))
			if w.config.Text.Templates > 0 {
				numbers, err := templates.templatesIn(id)
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

func (w *Workspace) signTexts(scheme signature.Scheme, j *signJob) {
	var signatures []signature.Signature
	for i, t := range j.texts {
		var row signedRow
		if j.templates != nil {
			left := withoutSentences(t, j.templates[i])
			row.characters = uint32(utf8.RuneCountInString(t))
			row.leftOut = row.characters - min(row.characters, uint32(utf8.RuneCountInString(left)))
			t = left
		}
		t = text.Cut(t, w.config.Text.MaxColumns)
		signatures = scheme.Sign(signatures[:0], t)
		row.signatures = uint32(len(signatures))
		j.signed = append(j.signed, row.append(nil, j.templates != nil))
		key := cluster.NewKey(w.weight(t, len(signatures)), j.ids[i])
		j.postings = slices.Grow(j.postings, postingSize*len(signatures))
		for _, s := range signatures {
			j.postings = appendPosting(j.postings, s, key)
		}
	}
	j.texts = nil
}

// weight is W of a text's key: the number of its signatures (TLCS paper, section
// 3.1), or its length in code points with schemes that give long texts no more
// signatures than short ones.
func (w *Workspace) weight(text string, signatures int) float32 {
	if w.config.Sign.Scheme == configs.SchemeRing {
		return float32(signatures)
	}
	return float32(utf8.RuneCountInString(text))
}

func (w *Workspace) countSigned(sr *stageRun, texts, templates int64) error {
	var c SignCounts
	var t TemplateCounts
	for r, err := range w.store.table(tableSigned) {
		if err != nil {
			return err
		}
		s, err := r.signed()
		if err != nil {
			return err
		}
		c.Texts++
		c.Signatures += int64(s.signatures)
		if s.signatures == 0 && w.config.Sign.Scheme != configs.SchemeNone {
			c.Unsigned++
		}
		t.add(s)
	}
	c.Navigation = texts - c.Texts
	if t.Sentences = templates; w.config.Text.Templates > 0 {
		c.Templates = &t
	}
	return sr.setCounts(c)
}

func (c *TemplateCounts) add(s signedRow) {
	c.Characters += int64(s.characters)
	c.LeftOut += int64(s.leftOut)
	if s.leftOut > 0 {
		c.Texts++
		if s.leftOut == s.characters {
			c.Emptied++
		}
	}
}
