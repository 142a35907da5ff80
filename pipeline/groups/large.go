package groups

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"neardup/extract"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/report"
)

// pile holds pages of one group or text: in memory, or in files if they are many.
type pile struct {
	dir   string
	held  []gathered
	large *large // in place of held
}

func (p *pile) empty() bool { return len(p.held) == 0 && p.large == nil }

func (p *pile) add(g gathered) (err error) {
	if p.large != nil {
		return p.large.add(g)
	}
	if p.held = append(p.held, g); len(p.held) > PartPages {
		p.large = newLarge(p.dir)
		err = p.large.add(p.held...)
		p.held = p.held[:0]
	}
	return err
}

// clear drops the pages.
func (p *pile) clear() {
	p.large.close()
	p.held, p.large = p.held[:0], nil
}

// large has the pages of a group that has many, and sorts them in files.
type large struct {
	byText *extsort.Sorter // text[16], then in the order of ComparePagesOfText → docID[16], the document
	dir    string
}

func newLarge(dir string) *large { return &large{extsort.New(dir), dir} }

// close drops the files. large may be nil.
func (x *large) close() {
	if x != nil {
		_ = x.byText.Close()
	}
}

func (x *large) add(pages ...gathered) error {
	for _, p := range pages {
		key := appendPageOfTextKey(slices.Clone(p.Wanted.Text[:]), &p.Member)
		if err := x.byText.Add(key, append(p.id[:len(p.id):len(p.id)], p.document...)); err != nil {
			return err
		}
	}
	return nil
}

// pages yields the pages of a text in parts.
func (x *large) pages(t TextPages, yield func(TextPages) bool) error {
	for e, err := range x.byText.Sorted() {
		var m report.Member
		if err == nil {
			m, err = parseMember(extract.ID(e.Value), string(e.Value[16:]))
		}
		if err != nil {
			return err
		}
		if len(t.Pages) == PartPages {
			if t.More = true; !yield(t) {
				return errEnough
			}
			t.From, t.Pages = t.From+len(t.Pages), nil // yield may keep them
		}
		t.Pages = append(t.Pages, m)
	}
	t.More = false
	return end(yield(t))
}

// write yields the group in parts.
func (x *large) write(ctx context.Context, g *grouping, yield func(report.Cluster) bool) (err error) {
	members := map[rows.TextID]rows.Cluster{}
	heads := map[rows.TextID]*head{} // of texts that are referred to
	for _, r := range g.texts {
		members[r.Member] = r
		heads[r.Against] = &head{}
	}
	if len(g.texts) > 0 {
		heads[g.group] = &head{}
	}
	for _, r := range g.contained {
		heads[r.Text], heads[r.Host] = &head{}, &head{}
	}
	byPage := extsort.New(x.dir) // false for the representative[1], in the order of ComparePages → text[16], false for its first page[1], docID[16], the document
	defer func() { err = errors.Join(err, byPage.Close()) }()
	c := report.Cluster{ID: hex.EncodeToString(g.group[:]), EstimatedBy: g.EstimatedBy}
	if c.Size, err = x.sortByPage(ctx, g, members, heads, byPage); err != nil {
		return err
	}
	for _, r := range g.texts {
		if h, ok := heads[r.Against]; !ok || h.pages == 0 {
			return fmt.Errorf("verified against a text that is not in the cluster: %w", layout.Corrupt(r.Against[:]))
		}
	}
	contained, err := g.containedPages(func(t rows.TextID) (report.Member, int) { return heads[t].first, heads[t].pages })
	if err != nil {
		return err
	}
	if c.Size == 0 {
		c.EstimatedBy, c.Contained = "", contained
		return end(yield(c))
	}
	if c.Representative = heads[g.group].first.RecordID; heads[g.group].pages == 0 {
		return fmt.Errorf("a cluster without representative: %w", layout.Corrupt(g.group[:]))
	}
	for e, err := range byPage.Sorted() {
		if err != nil {
			return err
		}
		r := members[rows.TextID(e.Value)]
		m, err := parseMember(extract.ID(e.Value[17:]), string(e.Value[33:]))
		if err != nil {
			return err
		}
		if len(c.Members) == PartPages {
			g.Places.Fill(c.Members)
			if c.More = true; !yield(c) {
				return errEnough
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.From, c.Members = c.From+len(c.Members), nil // yield may keep them
		}
		c.Members = append(c.Members, memberOf(m, r, heads[r.Against].first, int(e.Value[16])))
	}
	g.Places.Fill(c.Members)
	c.More, c.Contained = false, contained
	return end(yield(c))
}

func end(more bool) error {
	if !more {
		return errEnough
	}
	return nil
}

// head is the first page of a text, and the number of them.
type head struct {
	first report.Member
	pages int
}

// sortByPage sorts the pages of members in the order in which a cluster has them, and
// returns their number. It sets the heads.
func (x *large) sortByPage(ctx context.Context, g *grouping, members map[rows.TextID]rows.Cluster, heads map[rows.TextID]*head, to *extsort.Sorter) (size int, err error) {
	var last rows.TextID
	texts, n, of := 0, 0, 0 // texts of members, pages, pages of the present text
	for e, err := range x.byText.Sorted() {
		if n++; err == nil && n&0xfff == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return 0, err
		}
		text, pageKey := rows.TextID(e.Key), e.Key[17:]
		if of++; n == 1 || text != last {
			last, of = text, 1
		}
		if h := heads[text]; h != nil {
			if h.pages++; h.pages == 1 {
				if h.first, err = parseMember(extract.ID(e.Value), string(e.Value[16:])); err != nil {
					return 0, err
				}
			}
		}
		if _, ok := members[text]; !ok {
			continue
		}
		size++
		if of == 1 {
			texts++
		}
		first := falseFirst(of > 1)
		key := append([]byte{falseFirst(text != g.group || of > 1)}, pageKey...)
		if err := to.Add(append(append(key, text[:]...), first), slices.Concat(text[:], []byte{first}, e.Value)); err != nil {
			return 0, err
		}
	}
	if texts < len(members) {
		return 0, fmt.Errorf("a text without pages: %w", layout.Corrupt(g.group[:]))
	}
	return size, nil
}

func falseFirst(is bool) byte {
	if is {
		return 1
	}
	return 0
}

// appendPageOfTextKey appends what sorts as ComparePagesOfText.
func appendPageOfTextKey(b []byte, m *report.Member) []byte {
	return appendPageKey(append(b, falseFirst(m.RevisitOf != "")), m)
}

// appendPageKey appends what sorts as ComparePages.
func appendPageKey(b []byte, m *report.Member) []byte {
	for _, s := range []string{m.Date, m.RecordID, m.URI, m.Digest, m.WARC} {
		b = appendOrdered(b, s)
	}
	b = binary.BigEndian.AppendUint64(b, uint64(m.Offset)^1<<63)
	return appendOrdered(b, m.Document)
}

// appendOrdered appends a string so that what follows does not change the order of
// strings: it ends with a zero and a one, and in it a zero is followed by 255.
func appendOrdered(b []byte, s string) []byte {
	for i := range len(s) {
		if b = append(b, s[i]); s[i] == 0 {
			b = append(b, 0xff)
		}
	}
	return append(b, 0, 1)
}
