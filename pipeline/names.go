package pipeline

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"neardup/extract"
	"neardup/screen"
)

// Documents are looked up by what people call them: a record id, or a target
// URI and a date. Their keys are digests of the whole record, so this takes an
// index, tableName. A run does without it, but for one that follows judged pairs:
// it is made when first asked for, in one pass over the documents, and again when
// the extraction has changed.

const (
	namesIndex = "index/names" // its place in tableMeta: the generation of the extraction
	mostFound  = 1000          // captures that one name is looked for in
	mostListed = 8             // of these in a message
)

// maxNamedTexts is the number of texts that the pages of one record id may have
// for a judged pair of them to be followed.
const maxNamedTexts = 16

// nameDigest is that of a record id or of an address.
func nameDigest(kind, name string) []byte {
	sum := sha256.Sum256([]byte(kind + "\x00" + name))
	return sum[:16]
}

const (
	byRecordID = "record id"
	byAddress  = "address"
)

// dateDigits are the digits of a date, at most nameDate.
func dateDigits(date string) string {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, date)
	return digits[:min(nameDate, len(digits))]
}

// indexNames makes the index, unless there is one of what was extracted.
func (w *Workspace) indexNames(ctx context.Context) error {
	w.indexing.Lock()
	defer w.indexing.Unlock()
	s, ok, err := w.state(StageExtract)
	if err != nil {
		return err
	}
	if !ok || !s.Done {
		return fmt.Errorf("%w: the extraction is not done; run neardup run", ErrUsage)
	}
	var of string
	if _, err := w.store.getJSON(metaKey(namesIndex), &of); err != nil || of == s.generation() {
		return err
	}
	b := w.store.batch()
	if err := errors.Join(b.clear(tableName), b.Delete(metaKey(namesIndex), nil), b.commit()); err != nil {
		return err
	}
	w.o.Progress.Start("index", string(Missing), "record ids and URIs")
	err = w.writeNames(ctx)
	w.o.Progress.Stop(err)
	if err != nil {
		return err
	}
	b = w.store.batch()
	return errors.Join(b.setJSON(metaKey(namesIndex), s.generation()), b.commit())
}

func (w *Workspace) writeNames(ctx context.Context) error {
	var counts ExtractCounts
	if err := w.counts(StageExtract, &counts); err != nil {
		return err
	}
	w.o.Progress.Total(counts.Documents, "documents")
	rows := fixedRun{size: nameSize}
	flush := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := w.store.ingest(ctx, rows.sorted(w.o.Workers)...)
		rows.clear()
		return err
	}
	n := 0
	for r, err := range w.store.table(tableDocument) {
		if err != nil {
			return err
		}
		var d pageDocument
		if err := r.json(&d); err != nil {
			return err
		}
		id, _, _, err := parseDocumentKey(r.key())
		if err != nil {
			return err
		}
		date := []byte(dateDigits(d.Date))
		for len(date) < nameDate {
			date = append(date, '0')
		}
		rows.add([]byte{tableName}, nameDigest(byRecordID, d.RecordID), date, id[:])
		rows.add([]byte{tableName}, nameDigest(byAddress, extract.Document{TargetURI: d.TargetURI}.Address()), date, id[:])
		if n++; n&0xfff == 0 {
			w.o.Progress.Add(0x1000)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if rows.len() >= w.o.runRows {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// found is a document that was looked up.
type found struct {
	id extract.ID
	storedDocument
	file   string
	offset int64
}

// findPage finds the document that a name stands for: a record id, with angle
// brackets or without, or a target URI; then, behind an @, a date or the
// beginning of one, in the form of WARC-Date or in digits. A URI is also found
// without its scheme, or with another; one that is written just so goes first.
// DIGITS/URI, as replay tools write it, is URI@DIGITS. An error says so where
// there is none, or more than one.
func (w *Workspace) findPage(ctx context.Context, name string) (found, error) {
	if err := w.indexNames(ctx); err != nil {
		return found{}, err
	}
	for _, n := range readings(name) {
		all, more, err := w.lookUp(n.name, n.date)
		if err != nil {
			return found{}, err
		}
		if len(all) == 1 && !more {
			return all[0], nil
		}
		if len(all) > 0 {
			return found{}, ambiguous(name, all, more)
		}
	}
	return found{}, fmt.Errorf("%w: %s: no page has this record id or target URI", ErrUsage, oneLine(name))
}

// reading is one way to read the name of a page.
type reading struct{ name, date string }

func readings(name string) []reading {
	if date, uri, ok := strings.Cut(name, "/"); ok && len(date) == nameDate && strings.Trim(date, "0123456789") == "" {
		return []reading{{uri, date}}
	}
	out := []reading{{name, ""}}
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		if date := name[i+1:]; date != "" && strings.Trim(date, "0123456789-:.TZ") == "" {
			out = append(out, reading{name[:i], dateDigits(date)})
		}
	}
	return out
}

// lookUp gives the documents of a name whose dates begin so; more tells that
// there are others that were not looked at.
func (w *Workspace) lookUp(name, date string) (out []found, more bool, err error) {
	id := "<" + strings.Trim(name, "<>") + ">"
	out, more, err = w.named(byRecordID, id, date, func(d found) bool { return d.RecordID == id })
	if err != nil || len(out) > 0 {
		return out, more, err
	}
	uri := name
	if !strings.Contains(uri, "://") {
		uri = "http://" + uri
	}
	for _, uri := range slices.Compact([]string{name, uri}) {
		address := extract.Document{TargetURI: uri}.Address()
		out, more, err = w.named(byAddress, address, date, func(d found) bool { return d.Address() == address })
		if err != nil || len(out) > 0 {
			break
		}
	}
	just := slices.DeleteFunc(slices.Clone(out), func(d found) bool { return d.TargetURI != name })
	if len(just) > 0 {
		return just, more, err
	}
	return out, more, err
}

// named reads the rows of a digest.
func (w *Workspace) named(kind, name, date string, is func(found) bool) (out []found, more bool, err error) {
	documents, err := w.store.seeker(tableDocument)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = documents.Close() }()
	n := 0
	for r, err := range w.store.rows(prefixBounds(join(tableName, nameDigest(kind, name), []byte(date)))) {
		if err != nil {
			return nil, false, err
		}
		if n++; n > mostFound {
			return out, true, nil
		}
		var d found
		if d.id, err = parseNameKey(r.key()); err != nil {
			return nil, false, err
		}
		if d.file, d.offset, err = readDocument(documents, d.id, &d.storedDocument); err != nil {
			return nil, false, err
		}
		if is(d) {
			out = append(out, d)
		}
	}
	return out, false, nil
}

func ambiguous(name string, all []found, more bool) error {
	var b strings.Builder
	for _, d := range all[:min(mostListed, len(all))] {
		fmt.Fprintf(&b, "\n  %s  %s  %s", oneLine(d.Date), oneLine(d.RecordID), oneLine(d.TargetURI))
	}
	n := fmt.Sprint(len(all))
	if more {
		n = "more than " + n
	}
	if len(all) > mostListed {
		b.WriteString("\n  ...")
	}
	return fmt.Errorf("%w: %s: %s captures have this name; say which by URI@DATE or by its record id%s", ErrUsage, oneLine(name), n, b.String())
}

// oneLine is what others wrote, for a message.
func oneLine(s string) string { return screen.Columns(s, 200) }
