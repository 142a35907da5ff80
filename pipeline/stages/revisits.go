package stages

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"

	"neardup/extract"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

// maxRevisitChain bounds the revisits of revisits of revisits that are
// followed. A crawler refers to the capture itself (WARC 1.1, section 6.7), so
// more than one is a mistake, and a long chain or a circle hostile.
const maxRevisitChain = 16

// storedRevisit is a revisit record's row.
type storedRevisit struct {
	extract.Document
	Resolved string `json:"resolved,omitempty"` // id of the text that it has, in hexadecimal
}

// capture is what a reference leads to: a row of TableWanted has the best that
// was found so far, or nothing.
type capture struct {
	chain byte // revisits in between
	doc   extract.ID
	text  rows.TextID
	date  string
}

func (c capture) append(b []byte) []byte {
	return append(append(append(append(b, c.chain), c.doc[:]...), c.text[:]...), c.date...)
}

func parseCapture(b []byte) (capture, error) {
	if len(b) < 1+16+16 {
		return capture{}, store.Corrupt(b)
	}
	return capture{b[0], extract.ID(b[1:17]), rows.TextID(b[17:33]), string(b[33:])}, nil
}

// compare orders the captures under one key: the first is the one that counts.
func (c capture) compare(o capture) int {
	return cmp.Or(cmp.Compare(c.chain, o.chain), cmp.Compare(c.date, o.date), bytes.Compare(c.doc[:], o.doc[:]))
}

// revisitCounts says what became of the revisits.
type revisitCounts struct {
	resolved   int64
	unresolved map[extract.Reason]int64
}

// resolveRevisits finds the documents that revisit records refer to, in all
// the files that the workspace has read, and makes each revisit a document
// with the same text. It starts over whenever files were read, because a
// better document may have come, and so that the outcome does not depend on
// the order in which they came.
func resolveRevisits(w *workspace.Workspace, sr *workspace.StageRun) (c revisitCounts, err error) {
	total, err := w.DB.Count(store.TableRevisit)
	if total == 0 || err != nil {
		return c, err
	}
	w.Options.Progress.Total(total, "revisits")
	if err := wantCaptures(w, sr); err != nil {
		return c, err
	}
	if err := findCaptures(w, sr); err != nil {
		return c, err
	}
	for chain := byte(0); chain < maxRevisitChain; chain++ {
		n, err := linkRevisits(w, sr, chain)
		if err != nil {
			return c, err
		}
		if n == 0 {
			break
		}
	}
	c.unresolved = map[extract.Reason]int64{}
	for r, err := range w.DB.Table(store.TableRevisit) {
		var v storedRevisit
		if err == nil {
			err = r.JSON(&v)
		}
		switch {
		case err != nil:
			return c, err
		case v.Resolved != "":
			c.resolved++
		default:
			c.unresolved[v.Repeats.Unresolved]++
		}
	}
	return c, nil
}

// wantCaptures takes back what revisits were resolved to, and notes the keys
// under which captures are looked for.
func wantCaptures(w *workspace.Workspace, sr *workspace.StageRun) error {
	u := newUpdate(w, sr)
	if err := u.b.Clear(store.TableWanted); err != nil {
		return err
	}
	for r, err := range w.DB.Table(store.TableRevisit) {
		var v storedRevisit
		if err == nil {
			err = r.JSON(&v)
		}
		if err != nil {
			return err
		}
		id, file, offset, err := store.ParseRevisitKey(r.Key())
		if err != nil {
			return err
		}
		if v.Resolved != "" {
			t, err := results.ParseTextID(v.Resolved)
			if err != nil {
				return err
			}
			v.Resolved = ""
			if err := errors.Join(u.b.SetJSON(r.Key(), v),
				u.b.Delete(store.DocumentKey(id, file, offset)), u.b.Delete(store.OccurrenceKey(t, id))); err != nil {
				return err
			}
		}
		for _, k := range v.Repeats.Keys(v.TargetURI) {
			if err := u.b.Set(store.WantedKey(k), nil); err != nil {
				return err
			}
		}
		if err := u.commitIfFull(); err != nil {
			return err
		}
	}
	return u.commit()
}

// findCaptures offers every document to the references.
func findCaptures(w *workspace.Workspace, sr *workspace.StageRun) error {
	u := newUpdate(w, sr)
	for d, err := range results.DocumentRows[results.Document](w) {
		if err != nil {
			return err
		}
		t, err := d.Row.ParsedTextID()
		if err != nil {
			return err
		}
		if err := u.offer(d.Row.Keys(), capture{0, d.ID, t, d.Row.Date}); err != nil {
			return err
		}
	}
	return u.commit()
}

// linkRevisits makes documents of the revisits that are left and refer to a
// capture found so far, and offers them to those that refer to revisits.
func linkRevisits(w *workspace.Workspace, sr *workspace.StageRun, chain byte) (linked int64, err error) {
	documents, err := w.DB.Seeker(store.TableDocument) // none that is looked up changes meanwhile
	if err != nil {
		return 0, err
	}
	defer func() { _ = documents.Close() }()
	u := newUpdate(w, sr)
	for r, err := range w.DB.Table(store.TableRevisit) {
		var v storedRevisit
		if err == nil {
			err = r.JSON(&v)
		}
		if err != nil {
			return 0, err
		}
		if chain == 0 {
			w.Options.Progress.Add(1)
		}
		if v.Resolved != "" {
			continue
		}
		id, file, offset, err := store.ParseRevisitKey(r.Key())
		if err != nil {
			return 0, err
		}
		c, ok, err := captureOf(w, v, id, chain)
		if err != nil {
			return 0, err
		}
		if !ok {
			continue
		}
		linked++
		original, err := results.ReadDocument[results.Document](documents, c.doc)
		if err != nil {
			return 0, err
		}
		v.Resolved = hex.EncodeToString(c.text[:])
		d := v.like(original.Row)
		if err := errors.Join(u.b.SetJSON(r.Key(), v), u.b.SetJSON(store.DocumentKey(id, file, offset), d), putOccurrence(u.b, id, d.Document, c.text),
			u.offer(v.Keys(), capture{chain + 1, c.doc, c.text, v.Date})); err != nil {
			return 0, err
		}
	}
	return linked, u.commit()
}

// captureOf returns the capture that the revisit refers to.
func captureOf(w *workspace.Workspace, v storedRevisit, id extract.ID, chain byte) (c capture, ok bool, err error) {
	for _, k := range v.Repeats.Keys(v.TargetURI) {
		value, _, err := w.DB.Get(store.WantedKey(k))
		if err != nil {
			return c, false, err
		}
		if len(value) == 0 {
			continue
		}
		if c, err = parseCapture(value); err != nil || c.chain <= chain {
			return c, err == nil, err
		}
	}
	return c, false, nil
}

// like returns the revisit as a document: what it does not say is as in the original.
func (v storedRevisit) like(original results.Document) results.Document {
	d := original
	d.Document.ID, d.RecordID, d.TargetURI, d.Date, d.Site = v.ID, v.RecordID, v.TargetURI, v.Date, v.Site
	if v.Digest != "" {
		d.Digest = v.Digest
	}
	d.Bytes, d.Clipped, d.Choices = 0, false, 0 // those of the record, which has no payload
	d.Status, d.RecordBytes = v.Status, v.RecordBytes
	d.Repeats = v.Repeats
	d.RevisitOf = original.RecordID
	return d
}

// update collects changes and commits them from time to time.
type update struct {
	w       *workspace.Workspace
	sr      *workspace.StageRun
	b       store.Batch
	pending map[extract.Key]capture // in b
}

func newUpdate(w *workspace.Workspace, sr *workspace.StageRun) *update {
	return &update{w: w, sr: sr, b: w.DB.Batch(), pending: map[extract.Key]capture{}}
}

// offer notes the capture under those keys that are looked for, where it is
// the best.
func (u *update) offer(keys []extract.Key, c capture) error {
	for _, k := range keys {
		best, ok := u.pending[k]
		if !ok {
			value, wanted, err := u.w.DB.Get(store.WantedKey(k))
			if err != nil {
				return err
			}
			if !wanted {
				continue
			}
			if len(value) > 0 {
				if best, err = parseCapture(value); err != nil {
					return err
				}
				ok = true
			}
		}
		if ok && best.compare(c) <= 0 {
			continue
		}
		u.pending[k] = c
		if err := u.b.Set(store.WantedKey(k), c.append(nil)); err != nil {
			return err
		}
	}
	return u.commitIfFull()
}

func (u *update) commitIfFull() error {
	if u.b.Len() < u.w.Options.CommitBytes {
		return nil
	}
	return u.commit()
}

func (u *update) commit() error {
	if err := errors.Join(u.b.Commit(), u.sr.Ctx.Err()); err != nil {
		return err
	}
	u.b = u.w.DB.Batch()
	clear(u.pending)
	return nil
}
