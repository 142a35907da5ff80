package stages

import (
	"bytes"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"neardup/cluster"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/learning"
	"neardup/pipeline/queue"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/withdrawals"
	"neardup/pipeline/workspace"
)

const signBatch = 64 // texts that a worker signs at a time

// signJob is a batch of texts for the workers.
type signJob struct {
	texts []toSign

	postings []byte   // keys of PostingSize bytes
	gone     [][]byte // likewise: of texts that are signed again, those that they have no more
	changed  []byte   // keys of ChangedSize bytes: postings added and removed; only if they are recorded
	signed   []extsort.Entry
}

// toSign is a text that is not signed, or is signed with other sentences in frames.
type toSign struct {
	id     rows.TextID
	units  rows.Units // only of a text that is not signed
	framed []byte
	out    bool         // the text is not compared any more
	before *rows.Signed // nil: it is not signed
}

// runSign signs every text that is not signed yet, or was signed when its sites had
// other frames. A text's row in TableSigned is ingested together with its postings.
// So after an interruption, or when crawls were added, exactly the texts without
// that row are left to sign, and those whose row has other sentences in frames.
func runSign(w *workspace.Workspace, sr *workspace.StageRun) error {
	var extracted results.ExtractCounts
	if err := w.Counts(workspace.StageExtract, &extracted); err != nil {
		return err
	}
	var changed map[rows.TextID]bool // nil: any
	if w.Config.Text.Frames > 0 {
		var err error
		if changed, err = learning.Frames(w, sr); err != nil {
			return err
		}
	}
	if w.Config.CountsTerms() {
		if err := learning.Terms(w, sr); err != nil {
			return err
		}
	}
	changes, err := recordChanges(w, sr)
	if err != nil {
		return err
	}
	if err = dropVanished(w, sr, changes); err == nil {
		err = signTexts(w, sr, changed, changes)
	}
	if errors.Is(err, errStartOver) {
		changes = nil // cluster reads all
		b := w.DB.Batch()
		err = errors.Join(b.Clear(layout.TableSigned, layout.TablePosting, layout.TableChanged), b.Delete(layout.MetaKey(withdrawals.NoteOfVanished)))
		if err == nil {
			err = b.Commit()
		}
		if err == nil {
			err = signTexts(w, sr, nil, nil)
		}
	}
	if err == nil {
		err = changes.note(w, sr)
	}
	if err != nil {
		return err
	}
	return countSigned(w, sr, extracted.Texts)
}

// signTexts signs the texts that are to be signed. changed has the texts of which other
// sentences may be in frames, as learning.Frames returns them.
func signTexts(w *workspace.Workspace, sr *workspace.StageRun, changed map[rows.TextID]bool, changes *changes) error {
	config, err := w.Method()
	if err != nil {
		return err
	}
	reader, err := results.LoadFrames(w)
	if err != nil {
		return err
	}
	var extracted results.ExtractCounts
	if err := w.Counts(workspace.StageExtract, &extracted); err != nil {
		return err
	}
	w.Options.Progress.Total(extracted.Texts, "texts")
	postings := layout.FixedRun{Size: layout.PostingSize}
	var entries []extsort.Entry
	gone := w.DB.Batch()
	saved := time.Now()
	flush := func() error {
		// If this ends between the two, the texts of the first are not signed.
		runs := append(postings.Sorted(w.Options.Workers), store.SortEntries(entries))
		err := errors.Join(gone.Commit(), w.DB.Ingest(sr.Ctx, append(runs, changes.sorted(w.Options.Workers)...)...))
		postings.Clear()
		gone, entries, saved = w.DB.Batch(), entries[:0], time.Now()
		return err
	}
	worker := func() func(*signJob) error {
		signer := dataflow.NewSigner(config, reader.Frames)
		return func(j *signJob) error { return j.sign(w, signer, changes != nil) }
	}
	err = queue.Unordered(sr.Ctx, w.Options.Workers, unsigned(w, sr, reader, changed), worker, func(j *signJob) error {
		for p := range slices.Chunk(j.postings, layout.PostingSize) {
			postings.Add(p)
		}
		for _, key := range j.gone {
			if err := gone.Delete(key); err != nil {
				return err
			}
		}
		changes.add(j.changed)
		entries = append(entries, j.signed...) // texts come in order of ID, but batches in any order
		// Saving by time, too: some schemes give few signatures, and some are slow.
		if postings.Len()+int(gone.Count()) >= w.Options.RunRows || time.Since(saved) > commitEvery {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	return err
}

// maxGone is the share of the signed texts up to which those that have gone are dropped
// one by one. Beyond it, the texts that are left are signed again (docs/benchmarks/speed.md).
const maxGone = 0.4

// dropVanished drops what texts that have gone were signed with. It returns errStartOver
// if they are too many.
func dropVanished(w *workspace.Workspace, sr *workspace.StageRun, changes *changes) error {
	if _, ok, err := w.DB.Get(layout.MetaKey(withdrawals.NoteOfVanished)); err != nil || !ok {
		return err
	}
	for more := true; more; {
		vanished := map[rows.TextID]bool{} // as many as memory holds
		signed, gone := 0, 0
		for s, err := range results.SignedTexts(w) {
			if err := errors.Join(err, sr.Ctx.Err()); err != nil {
				return err
			}
			signed++
			if _, ok, err := w.DB.Get(layout.TextKey(s.ID)); err != nil {
				return err
			} else if ok {
				continue
			}
			if gone++; gone <= w.Options.RunRows {
				vanished[s.ID] = true
			}
		}
		if float64(gone) > maxGone*float64(signed) {
			return errStartOver
		}
		if err := dropSigned(w, sr, changes, vanished); err != nil {
			return err
		}
		more = gone > len(vanished)
	}
	b := w.DB.Batch()
	return errors.Join(b.Delete(layout.MetaKey(withdrawals.NoteOfVanished)), b.Commit())
}

// dropSigned drops what texts were signed with.
func dropSigned(w *workspace.Workspace, sr *workspace.StageRun, changes *changes, vanished map[rows.TextID]bool) error {
	if len(vanished) == 0 {
		return nil
	}
	b := w.DB.Batch()
	commit := func() error {
		err := errors.Join(b.Commit(), w.DB.Ingest(sr.Ctx, changes.sorted(w.Options.Workers)...))
		b = w.DB.Batch()
		return err
	}
	n := 0
	for r, err := range w.DB.Table(layout.TablePosting) {
		var p cluster.Posting
		if err == nil {
			p, err = layout.ParsePostingKey(r.Key())
		}
		if n++; err == nil && n&0xffff == 0 {
			err = sr.Ctx.Err()
		}
		if err != nil {
			return err
		}
		if !vanished[p.Key.ID()] {
			continue
		}
		if err := b.Delete(r.Key()); err != nil {
			return err
		}
		changes.add(layout.AppendChanged(nil, r.Key(), true))
		if int(b.Count()) >= w.Options.RunRows {
			if err := commit(); err != nil {
				return err
			}
		}
	}
	// Last of all, since the rows of the texts tell after an interruption which have gone.
	for id := range vanished {
		if err := b.Delete(layout.SignedKey(id)); err != nil {
			return err
		}
	}
	return commit()
}

// maxAgain is the share of the signed texts up to which they are signed again one by
// one. Beyond it, all texts are: one posting costs more to delete than to write.
const maxAgain = 0.2

// heldAgain limits the texts to be signed again that are held in memory, at about 300
// bytes each. Where there are more, they are looked for once more.
func heldAgain(w *workspace.Workspace) int { return w.Options.RunRows / 16 }

// errStartOver says that the frames of too many texts have changed, or too many have gone.
var errStartOver = errors.New("too many texts to sign again or to drop")

// unsigned yields the texts to sign, in batches: first those that are not signed. It
// ends with errStartOver if too many are to be signed again.
func unsigned(w *workspace.Workspace, sr *workspace.StageRun, reader *results.Reader, changed map[rows.TextID]bool) iter.Seq2[*signJob, error] {
	return func(yield func(*signJob, error) bool) {
		signed, err := w.DB.Count(layout.TableSigned)
		if err != nil {
			yield(nil, err)
			return
		}
		j := &signJob{}
		send := func(t toSign) bool {
			if j.texts = append(j.texts, t); len(j.texts) < signBatch {
				return true
			}
			full := j
			j = &signJob{}
			return yield(full, nil)
		}
		look := func(each func(*toSign) bool) bool {
			n := 0
			for t, err := range textsToSign(w, reader, changed) {
				if err := errors.Join(err, sr.Ctx.Err()); err != nil {
					yield(nil, err)
					return false
				}
				if n++; n%signBatch == 0 {
					w.Options.Progress.Add(signBatch)
				}
				if t != nil && !each(t) {
					return false
				}
			}
			w.Options.Progress.Add(int64(n % signBatch))
			return true
		}
		var again []toSign
		n := 0 // texts to be signed again
		ok := look(func(t *toSign) bool {
			if t.before == nil {
				return send(*t)
			}
			if n++; w.Config.Text.Frames > 0 && float64(n) > maxAgain*float64(signed) {
				yield(nil, errStartOver)
				return false
			}
			if n <= heldAgain(w) {
				again = append(again, *t)
			}
			return true
		})
		switch {
		case !ok:
			return
		case n > heldAgain(w):
			if !look(func(t *toSign) bool { return t.before == nil || send(*t) }) {
				return
			}
		default:
			for _, t := range again {
				if !send(t) {
					return
				}
			}
		}
		if len(j.texts) > 0 {
			yield(j, nil)
		}
	}
}

// textsToSign yields the texts to sign, and nil for each other text that it looks at.
func textsToSign(w *workspace.Workspace, reader *results.Reader, changed map[rows.TextID]bool) iter.Seq2[*toSign, error] {
	texts := results.TextsWithUnits(w)
	if changed != nil {
		texts = changedTexts(w, changed)
	}
	return func(yield func(*toSign, error) bool) {
		next, stop := iter.Pull2(results.SignedTexts(w))
		defer stop()
		signed, err, more := next()
		for t, terr := range texts {
			if err := errors.Join(terr, err); err != nil {
				yield(nil, err)
				return
			}
			for more && err == nil && rows.CompareTexts(signed.ID, t.ID) < 0 {
				signed, err, more = next()
			}
			var x *toSign
			if err == nil {
				var before *rows.Signed
				if more && signed.ID == t.ID {
					before = &signed.Signed
				}
				x, err = signAgain(w, reader, t, before)
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// changedTexts yields the texts of which other sentences may be in frames now, in order:
// those that changed, and those that had sentences in frames.
func changedTexts(w *workspace.Workspace, changed map[rows.TextID]bool) iter.Seq2[*results.TextUnits, error] {
	return func(yield func(*results.TextUnits, error) bool) {
		units, err := results.NewUnitsFinder(w.DB)
		if err != nil {
			yield(nil, err)
			return
		}
		defer units.Close()
		send := func(id rows.TextID) bool {
			t, err := units.Text(id)
			return yield(t, err) && err == nil
		}
		ids := slices.SortedFunc(maps.Keys(changed), rows.CompareTexts)
		for s, err := range results.SignedTexts(w) {
			if err != nil {
				yield(nil, err)
				return
			}
			for ; len(ids) > 0 && rows.CompareTexts(ids[0], s.ID) < 0; ids = ids[1:] {
				if !send(ids[0]) {
					return
				}
			}
			if len(s.Framed) > 0 && !changed[s.ID] && !send(s.ID) {
				return
			}
		}
		for _, id := range ids {
			if !send(id) {
				return
			}
		}
	}
}

// signAgain returns the text if it is to be signed, or nil.
func signAgain(w *workspace.Workspace, reader *results.Reader, t *results.TextUnits, before *rows.Signed) (*toSign, error) {
	out, err := results.LeftOut(w, t.ID)
	if err != nil || out && before == nil {
		return nil, err
	}
	x := &toSign{id: t.ID, out: out}
	if w.Config.Text.Frames > 0 {
		framed, err := dataflow.Framed(w.Config, t.Units, t.Sites(), reader.Frames)
		if err != nil {
			return nil, err
		}
		x.framed = framed
	}
	if before != nil {
		if bytes.Equal(before.Framed, x.framed) && !out {
			return nil, nil
		}
		kept := *before
		x.before = &kept
		return x, nil
	}
	x.units = rows.Units{Both: slices.Clone(t.Units.Both), Exact: slices.Clone(t.Units.Exact)}
	return x, nil
}

// sign signs the texts of the job.
func (j *signJob) sign(w *workspace.Workspace, signer *dataflow.Signer, record bool) error {
	units, err := results.NewUnitsFinder(w.DB)
	if err != nil {
		return err
	}
	defer units.Close()
	var now, before []cluster.Posting
	gone := map[cluster.Posting]bool{} // those of before that are not among those of now
	for _, x := range j.texts {
		stored, err := results.TextOf(w, x.id)
		if err != nil {
			return err
		}
		if x.before != nil {
			of, err := units.Text(x.id)
			if err != nil {
				return err
			}
			x.units = of.Units
		}
		t := dataflow.Text{ID: x.id, Text: stored}
		now, before = now[:0], before[:0]
		if !x.out {
			var row rows.Signed
			row, now = signer.SignFramed(now, t, x.units, x.framed)
			j.signed = append(j.signed, extsort.Entry{Key: layout.SignedKey(x.id), Value: layout.SignedValue(row)})
		}
		if x.before != nil {
			_, before = signer.SignFramed(before, t, x.units, x.before.Framed)
			j.gone = append(j.gone, layout.SignedKey(x.id))
		}
		if j.postings == nil { // most texts have about as many
			n := min(len(j.texts)*len(now), 1<<14)
			j.postings = make([]byte, 0, n*layout.PostingSize)
			if record {
				j.changed = make([]byte, 0, n*layout.ChangedSize)
			}
		}
		clear(gone)
		for _, p := range before {
			gone[p] = true
		}
		for _, p := range now {
			at := len(j.postings)
			j.postings = layout.AppendPosting(j.postings, p.Signature, p.Key)
			if gone[p] {
				delete(gone, p)
			} else if record {
				j.changed = layout.AppendChanged(j.changed, j.postings[at:], false)
			}
		}
		for _, p := range before {
			if !gone[p] {
				continue
			}
			key := layout.AppendPosting(nil, p.Signature, p.Key)
			j.gone = append(j.gone, key)
			if record {
				j.changed = layout.AppendChanged(j.changed, key, true)
			}
		}
	}
	j.texts = nil
	return nil
}

func countSigned(w *workspace.Workspace, sr *workspace.StageRun, texts int64) error {
	var c rows.SignCounts
	var f rows.FrameCounts
	var signed store.Tally
	for r, err := range w.DB.Table(layout.TableSigned) {
		if err != nil {
			return err
		}
		signed.Add(r.Key())
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
	sr.Known(layout.TableSigned, signed.Contents())
	return sr.SetCounts(c)
}
