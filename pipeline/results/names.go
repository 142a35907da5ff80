package results

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"neardup/extract"
	"neardup/pipeline/groups"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/screen"
)

// People name documents by a record ID, or by a target URI and a date. The keys of
// documents are digests of the whole record, so looking up a name needs an index,
// TableName. It is made when it is first needed, in one pass over the documents,
// and again after the extraction changed. A run needs it only if it follows judged
// pairs.

const (
	NamesIndex = "index/names" // key in tableMeta whose value is the generation of the indexed extraction
	maxFound   = 1000          // captures of one name that are examined
	maxListed  = 8             // captures that a message lists
)

// MaxNamedTexts limits the texts of the pages with one record ID. A judged pair is
// not followed if the pages with one of its record IDs have more texts.
const MaxNamedTexts = 16

// nameDigest returns the digest of a record ID or an address; kind tells which.
func nameDigest(kind, name string) []byte {
	sum := sha256.Sum256([]byte(kind + "\x00" + name))
	return sum[:16]
}

const (
	ByRecordID = "record id"
	byAddress  = "address"
)

// DateDigits returns the digits of a date, at most NameDate of them.
func DateDigits(date string) string {
	digits := extract.Digits(date)
	return digits[:min(layout.NameDate, len(digits))]
}

// IndexNames makes the index of names, unless it is up to date with the extraction.
func IndexNames(ctx context.Context, w *workspace.Workspace) error {
	w.Indexing.Lock()
	defer w.Indexing.Unlock()
	s, ok, err := w.State(workspace.StageExtract)
	if err != nil {
		return err
	}
	if !ok || !s.Done {
		return fmt.Errorf("%w: the extraction is not done; run neardup run", workspace.ErrUsage)
	}
	var of string
	if _, err := w.DB.GetJSON(layout.MetaKey(NamesIndex), &of); err != nil || of == s.Generation() {
		return err
	}
	b := w.DB.Batch()
	if err := errors.Join(b.Clear(layout.TableName), b.Delete(layout.MetaKey(NamesIndex)), b.Commit()); err != nil {
		return err
	}
	w.Options.Progress.Start("index", string(workspace.Missing), "record ids and URIs")
	err = writeNames(ctx, w)
	w.Options.Progress.Stop(err)
	if err != nil {
		return err
	}
	b = w.DB.Batch()
	return errors.Join(b.SetJSON(layout.MetaKey(NamesIndex), s.Generation()), b.Commit())
}

func writeNames(ctx context.Context, w *workspace.Workspace) error {
	var counts ExtractCounts
	if err := w.Counts(workspace.StageExtract, &counts); err != nil {
		return err
	}
	w.Options.Progress.Total(counts.Documents, "documents")
	rows := layout.NewNameRun()
	flush := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := w.DB.Ingest(ctx, rows.Sorted(w.Options.Workers)...)
		rows.Clear()
		return err
	}
	n := 0
	for s, err := range DocumentRows[groups.DocumentView](w) {
		if err != nil {
			return err
		}
		d := s.Row
		date := []byte(DateDigits(d.Date))
		for len(date) < layout.NameDate {
			date = append(date, '0')
		}
		rows.AddName(nameDigest(ByRecordID, d.RecordID), date, s.ID)
		rows.AddName(nameDigest(byAddress, extract.Document{TargetURI: d.TargetURI}.Address()), date, s.ID)
		if n++; n&0xfff == 0 {
			w.Options.Progress.Add(0x1000)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if rows.Len() >= w.Options.RunRows {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// Found is a document that was looked up.
type Found struct {
	Id extract.ID
	rows.Document
	Source string // the workspace's name of the file
	Offset int64
}

// FindPage returns the document with the given name. A name is a record ID, with or
// without angle brackets, or a target URI. After it, an @ and a date may follow, or
// the beginning of a date, in the form of WARC-Date or in digits. A URI is also
// found without its scheme, or with another scheme, if there is no exact match.
// DIGITS/URI, as replay tools write it, means URI@DIGITS. FindPage returns an error
// if no document, or more than one, has the name.
func FindPage(ctx context.Context, w *workspace.Workspace, name string) (Found, error) {
	if err := IndexNames(ctx, w); err != nil {
		return Found{}, err
	}
	for _, n := range readings(name) {
		all, more, err := lookUp(w, n.name, n.date)
		if err != nil {
			return Found{}, err
		}
		if len(all) == 1 && !more {
			return all[0], nil
		}
		if len(all) > 0 {
			return Found{}, ambiguous(name, all, more)
		}
	}
	return Found{}, fmt.Errorf("%w: %s: no page has this record id or target URI", workspace.ErrUsage, OneLine(name))
}

// reading is one way to read the name of a page.
type reading struct{ name, date string }

func readings(name string) []reading {
	if date, uri, ok := strings.Cut(name, "/"); ok && len(date) == layout.NameDate && strings.Trim(date, "0123456789") == "" {
		return []reading{{uri, date}}
	}
	out := []reading{{name, ""}}
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		if date := name[i+1:]; date != "" && strings.Trim(date, "0123456789-:.TZ") == "" {
			out = append(out, reading{name[:i], DateDigits(date)})
		}
	}
	return out
}

// lookUp returns the documents of a name whose dates begin with date. more reports
// that there are others that it did not examine.
func lookUp(w *workspace.Workspace, name, date string) (out []Found, more bool, err error) {
	id := "<" + strings.Trim(name, "<>") + ">"
	out, more, err = Named(w, ByRecordID, id, date, func(d Found) bool { return d.RecordID == id })
	if err != nil || len(out) > 0 {
		return out, more, err
	}
	uri := name
	if !strings.Contains(uri, "://") {
		uri = "http://" + uri
	}
	for _, uri := range slices.Compact([]string{name, uri}) {
		address := extract.Document{TargetURI: uri}.Address()
		out, more, err = Named(w, byAddress, address, date, func(d Found) bool { return d.Address() == address })
		if err != nil || len(out) > 0 {
			break
		}
	}
	just := slices.DeleteFunc(slices.Clone(out), func(d Found) bool { return d.TargetURI != name })
	if len(just) > 0 {
		return just, more, err
	}
	return out, more, err
}

// Named returns the documents with a name of a kind for which is returns true. more
// reports that there are others that it did not examine.
func Named(w *workspace.Workspace, kind, name, date string, is func(Found) bool) (out []Found, more bool, err error) {
	documents, err := w.DB.Seeker(layout.TableDocument)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = documents.Close() }()
	n := 0
	for r, err := range w.DB.Rows(layout.PrefixBounds(layout.NamesOf(nameDigest(kind, name), date))) {
		if err != nil {
			return nil, false, err
		}
		if n++; n > maxFound {
			return out, true, nil
		}
		id, err := layout.ParseNameKey(r.Key())
		if err != nil {
			return nil, false, err
		}
		s, err := ReadDocument[rows.Document](documents, id)
		if err != nil {
			return nil, false, err
		}
		if d := (Found{s.ID, s.Row, s.Source, s.Offset}); is(d) {
			out = append(out, d)
		}
	}
	return out, false, nil
}

func ambiguous(name string, all []Found, more bool) error {
	var b strings.Builder
	for _, d := range all[:min(maxListed, len(all))] {
		fmt.Fprintf(&b, "\n  %s  %s  %s", OneLine(d.Date), OneLine(d.RecordID), OneLine(d.TargetURI))
	}
	n := fmt.Sprint(len(all))
	if more {
		n = "more than " + n
	}
	if len(all) > maxListed {
		b.WriteString("\n  ...")
	}
	return fmt.Errorf("%w: %s: %s captures have this name; say which by URI@DATE or by its record id%s", workspace.ErrUsage, OneLine(name), n, b.String())
}

// OneLine returns crawled text as one line, for a message.
func OneLine(s string) string { return screen.Columns(s, 200) }

// TextsNamed returns the texts of the pages with a record ID. more reports that
// there are too many.
func TextsNamed(w *workspace.Workspace, recordID string) (texts []rows.TextID, more bool, err error) {
	pages, more, err := Named(w, ByRecordID, recordID, "", func(d Found) bool { return d.RecordID == recordID })
	for _, d := range pages {
		t, err := layout.ParseTextID(d.TextID)
		if err != nil {
			return nil, false, err
		}
		texts = append(texts, t)
	}
	slices.SortFunc(texts, rows.CompareTexts)
	texts = slices.Compact(texts)
	return texts, more || len(texts) > MaxNamedTexts, err
}
