package browsing

import (
	"context"
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"neardup/pipeline/groups"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/store"
	"neardup/report"
	"neardup/review"
)

// maxExamined limits the rows that are examined for a part of a list of pages. They
// take about 15 ms (BenchmarkBrowse). It is a variable for tests.
var maxExamined = 100_000

// Pages lists pages as PageQuery describes. The query's host is in the spelling of
// SURT, without www. A URI is a prefix of the pages' SURTs, so its host must be
// complete. Dates are compared in digits; if the query has dates, pages without a
// date are left out.
func (r *Review) Pages(ctx context.Context, q review.PageQuery) (list review.PageList, err error) {
	s := newPageScan(q)
	if err := s.run(ctx, r.w.DB, q.After); err != nil {
		return list, err
	}
	list.Next, list.Partial = s.next, s.partial
	documents, err := r.w.DB.Seeker(layout.TableDocument)
	if err != nil {
		return list, err
	}
	defer func() { _ = documents.Close() }()
	for _, p := range s.found {
		if err := ctx.Err(); err != nil {
			return list, err
		}
		stored, err := results.ReadDocument[groups.DocumentView](documents, p.Document)
		if err != nil {
			return list, err
		}
		d := stored.Row
		row := review.PageRow{Document: p.Document.String(), RecordID: d.RecordID, URI: d.TargetURI, Date: d.Date, Title: d.Title}
		if row.Size = int(p.Size); p.Size > 0 {
			row.Cluster = hex.EncodeToString(p.Cluster[:])
		}
		list.Pages = append(list.Pages, row)
	}
	return list, nil
}

// pageScan is a search for a part of a list of pages.
type pageScan struct {
	ranges         []pageRange
	first, last    string // bounds of dates
	least, largest uint32 // bounds of sizes
	limit          int

	found   []layout.BrowsedPage
	next    string
	partial bool
}

func newPageScan(q review.PageQuery) *pageScan {
	s := &pageScan{first: noDate, last: strings.Repeat("9", layout.NameDate), least: clampSize(q.MinSize), largest: math.MaxUint32, limit: clampRows(q.Limit)}
	if q.MaxSize > 0 {
		s.largest = clampSize(q.MaxSize)
	}
	if q.From != "" || q.To != "" {
		from, to := askedDate(q.From), askedDate(q.To)
		if q.From != "" && from == "" || q.To != "" && to == "" {
			return s // no page has such a date
		}
		s.first = max(from+s.first[len(from):], "00000000000001")
		s.last = to + s.last[len(to):]
	}
	uri, host := strings.TrimSuffix(strings.TrimSpace(q.URI), "*"), strings.TrimSpace(q.Host)
	if uri != "" || host != "" {
		s.ranges = surtRanges(uri, host)
	} else {
		_, upper := layout.PrefixBounds(layout.DatesOf(s.last))
		s.ranges = []pageRange{{lower: layout.DatesOf(s.first), upper: upper}}
	}
	return s
}

// askedDate returns the digits of a date or of the beginning of one. It is empty
// without a year.
func askedDate(date string) string {
	digits := results.DateDigits(date)
	if len(digits) < 4 {
		return ""
	}
	return digits[:len(digits)&^1] // half of a two-digit number
}

func (s *pageScan) run(ctx context.Context, from *store.DB, after string) error {
	n := 0
	var looked, shown []byte // keys of the last row examined, and shown
	for _, in := range s.ranges {
		lower, err := behind(in.lower, after)
		if err != nil {
			return err
		}
		if !below(lower, in.upper) {
			continue
		}
		for row, err := range from.Rows(lower, in.upper) {
			if err == nil && n&0x3ff == 0 {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			if n == maxExamined && len(s.found) < s.limit {
				s.next, s.partial = position(looked), true
				return nil
			}
			p, err := row.BrowsedPage()
			if err != nil {
				return err
			}
			n++
			looked = append(looked[:0], row.Key()...)
			wanted := s.wants(p) && in.has(p)
			if len(s.found) == s.limit && (wanted || n > maxExamined) {
				s.next = position(shown) // more may follow
				return nil
			}
			if wanted {
				s.found = append(s.found, p)
				shown = append(shown[:0], looked...)
			}
		}
	}
	return nil
}

func (s *pageScan) wants(p layout.BrowsedPage) bool {
	return s.first <= p.Date && p.Date <= s.last && s.least <= p.Size && p.Size <= s.largest
}

// Page returns the fields of a page and its text.
func (r *Review) Page(ctx context.Context, document string) (p review.Page, err error) {
	d, err := r.document(document)
	if err != nil {
		return p, err
	}
	t, err := layout.ParseTextID(d.TextID)
	if err != nil {
		return p, err
	}
	p.PageRow = review.PageRow{Document: d.Id.String(), RecordID: d.RecordID, URI: d.TargetURI, Date: d.Date, Title: d.Title}
	representative, ok, err := results.ClusterOf(r.w, t)
	if err != nil {
		return p, err
	}
	if ok {
		var b browsedCluster
		if _, err := r.w.DB.GetJSON(layout.BrowsedKey(representative), &b); err != nil {
			return p, err
		}
		p.Cluster, p.Size = hex.EncodeToString(representative[:]), b.Size
	}
	if p.Text, err = results.TextOf(r.w, t); err != nil {
		return p, err
	}
	p.Fields = r.fieldsOf(d)
	return p, ctx.Err()
}

// fieldsOf returns the fields of a document that have a value.
func (r *Review) fieldsOf(d results.Found) (fields []review.Field) {
	path, entry := r.places.Of(d.Source)
	replaced := ""
	if d.Replaced > 0 {
		replaced = report.Score(d.Replaced).String()
	}
	for _, f := range []review.Field{
		{Name: "document", Value: d.Id.String()},
		{Name: "record_id", Value: d.RecordID},
		{Name: "uri", Value: d.TargetURI},
		{Name: "date", Value: d.Date},
		{Name: "title", Value: d.Title},
		{Name: "byline", Value: d.Byline},
		{Name: "site", Value: d.Site},
		{Name: "kind", Value: string(d.Kind)},
		{Name: "status", Value: unlessZero(int64(d.Status))},
		{Name: "type", Value: d.MediaType},
		{Name: "charset", Value: d.Charset},
		{Name: "charset_from", Value: string(d.CharsetFrom)},
		{Name: "digest", Value: d.Digest},
		{Name: "bytes", Value: unlessZero(d.Bytes)},
		{Name: "record_bytes", Value: unlessZero(d.RecordBytes)},
		{Name: "text_bytes", Value: unlessZero(d.TextBytes)},
		{Name: "text_id", Value: d.TextID},
		{Name: "clipped", Value: ifTrue(d.Clipped)},
		{Name: "derived", Value: ifTrue(d.Derived)},
		{Name: "parsed", Value: ifTrue(d.Parsed)},
		{Name: "replaced", Value: replaced},
		{Name: "choices", Value: strings.Join(d.Choices.Names(), ", ")},
		{Name: "revisit_of", Value: d.RevisitOf},
		{Name: "warc", Value: groups.FileOf(d.Source)},
		{Name: "path", Value: path},
		{Name: "entry", Value: entry},
		{Name: "offset", Value: strconv.FormatInt(d.Offset, 10)},
	} {
		if f.Value != "" {
			fields = append(fields, f)
		}
	}
	return fields
}

func unlessZero(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func ifTrue(b bool) string {
	if b {
		return "true"
	}
	return ""
}
