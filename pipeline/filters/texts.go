package filters

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/blocks"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/verify/pair"
	"neardup/verify/rarity"
)

// placed is a text with its pages, and with the answers to the questions about its
// sentences.
type placed struct {
	dataflow.Text
	pages      int
	navigation bool           // all pages are navigation pages
	first      []cluster.Page // that have a site
	bySite     dataflow.SitePages
	frames     pagesOf
	common     pagesOf
	members    []uint32   // partitions that compare the text
	units      rows.Units // only for those who ask for them
}

// leftOut reports whether the text is not compared.
func (p *placed) leftOut(c configs.Config) bool {
	return c.Text.Pages == configs.PagesTopic && p.navigation
}

// pagesOf has the number of pages of sentences, as dataflow.Pages.
type pagesOf map[uint64]int

func (p pagesOf) of(sentence uint64) (int, error) { return max(1, p[sentence]), nil }

func (p pagesOf) add(l blocks.Layout, e extsort.Entry) error {
	if len(e.Key) != l.Key || len(e.Value) != l.Value {
		return damaged(l, e)
	}
	p[binary.BigEndian.Uint64(e.Key[16:])] = int(binary.BigEndian.Uint32(e.Value))
	return nil
}

func (p pagesOf) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(p)))
	for _, s := range slices.Sorted(maps.Keys(p)) {
		b = binary.AppendUvarint(binary.BigEndian.AppendUint64(b, s), uint64(p[s]))
	}
	return b
}

// eachText calls each with the texts of the input. A text is valid until each
// returns.
func (t *task) eachText(each func(*placed) error) error {
	return t.eachRow(blocks.Texts, func(p *placed, e extsort.Entry) error {
		p.Text.Text = string(e.Value)
		return each(p)
	})
}

// eachTextWithUnits is eachText with the units of the texts, which extraction wrote.
func (t *task) eachTextWithUnits(each func(*placed) error) error {
	units := newCursor(t.rows(blocks.Units))
	defer units.stop()
	var read rows.Units
	return t.eachText(func(p *placed) error {
		found := false
		err := units.of(p.ID[:], func(e extsort.Entry) error {
			found = true
			return layout.RowOfEntry(blocks.Units.Letter, e).Units(&read)
		})
		if err == nil && !found {
			err = fmt.Errorf("no units of text %x", p.ID)
		}
		if err != nil {
			return err
		}
		p.units = read
		return each(p)
	})
}

// eachUnits is eachTextWithUnits without the texts themselves.
func (t *task) eachUnits(each func(*placed) error) error {
	var read rows.Units
	return t.eachRow(blocks.Units, func(p *placed, e extsort.Entry) error {
		if err := layout.RowOfEntry(blocks.Units.Letter, e).Units(&read); err != nil {
			return err
		}
		p.units = read
		return each(p)
	})
}

// eachRow calls each with the texts that a dataset has rows of, and these.
func (t *task) eachRow(of blocks.Layout, each func(*placed, extsort.Entry) error) error {
	beside := map[byte]*cursor{}
	for _, l := range []blocks.Layout{blocks.Occurrences, blocks.FrameAnswers, blocks.RareAnswers, blocks.Members} {
		c := newCursor(t.rows(l))
		defer c.stop()
		beside[l.Letter] = c
	}
	needs := dataflow.NeedsPlaces(t.Config)
	for e, err := range t.rows(of) {
		if err != nil {
			return err
		}
		id := rows.TextID(e.Key)
		p := &placed{Text: dataflow.Text{ID: id}, navigation: true,
			bySite: dataflow.SitePages{}, frames: pagesOf{}, common: pagesOf{}}
		var places dataflow.Places
		err := beside['x'].of(id[:], func(e extsort.Entry) error {
			o, err := layout.ParseOccurrence(e.Key, e.Value)
			if err != nil {
				return err
			}
			places.Add(o)
			p.bySite.Add(o)
			p.navigation = p.navigation && o.Navigation
			if o.Site != rows.NoSite && p.pages < dataflow.MaxSiteDocs {
				p.first = append(p.first, cluster.Page{Site: o.Site, Address: o.Address})
			}
			p.pages++
			return nil
		})
		if needs {
			p.Sites, p.Names = places.Sites(), places.Names
		}
		err = errors.Join(err,
			beside['N'].of(id[:], func(e extsort.Entry) error { return p.frames.add(blocks.FrameAnswers, e) }),
			beside[blocks.RareAnswers.Letter].of(id[:], func(e extsort.Entry) error { return p.common.add(blocks.RareAnswers, e) }),
			beside['M'].of(id[:], func(e extsort.Entry) error {
				p.members = append(p.members, binary.BigEndian.Uint32(e.Key[16:]))
				return nil
			}))
		if err != nil {
			return err
		}
		if err := each(p, e); err != nil {
			return err
		}
	}
	return nil
}

// see writes sightings.
func (t *task) see(sightings iter.Seq[rarity.Sighting]) error {
	for x := range sightings {
		key := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, x.Sentence), x.Page)
		if err := t.out.Put(blocks.Sightings, key, nil); err != nil {
			return err
		}
	}
	return nil
}

// seeText writes the sightings of a text on each of its sites.
func (t *task) seeText(p *placed, exact bool) error {
	for _, site := range slices.Sorted(maps.Keys(p.bySite)) {
		if err := t.see(dataflow.Sightings(p.units, rows.SitePage{Site: site, Address: p.bySite[site]}, exact)); err != nil {
			return err
		}
	}
	return nil
}

// questions records what is asked about the sentences of a text.
type questions map[uint64]bool

func (q questions) ask(sentence uint64) (int, error) {
	q[sentence] = true
	return 1, nil
}

// put writes the questions of a text.
func (q questions) put(t *task, id rows.TextID) error {
	for _, sentence := range slices.Sorted(maps.Keys(q)) {
		if err := t.out.Put(blocks.Questions, slices.Concat(binary.BigEndian.AppendUint64(nil, sentence), id[:]), nil); err != nil {
			return err
		}
	}
	return nil
}

func (t *task) frameSightings() error {
	err := t.eachUnits(func(p *placed) error {
		if err := t.seeText(p, true); err != nil {
			return err
		}
		q := questions{}
		_, err := dataflow.Framed(t.Config, p.units, p.Sites, q.ask)
		return errors.Join(err, q.put(t, p.ID))
	})
	if err != nil {
		return err
	}
	for e, err := range t.rows(blocks.Round) {
		var a dataflow.AroundUnits
		if err == nil {
			a.Page.Site, a.Page.Address, a.Exact, err = layout.ParseUnitsRound(e.Key, e.Value, nil)
		}
		if err == nil {
			err = t.see(a.Sightings())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *task) raritySightings() error {
	return t.eachTextWithUnits(func(p *placed) error {
		if err := t.seeText(p, false); err != nil {
			return err
		}
		if len(p.members) == 0 {
			return nil // it is not compared
		}
		q := questions{}
		err := dataflow.AskCommon(t.Config, p.Text, p.frames.of, q.ask)
		return errors.Join(err, q.put(t, p.ID))
	})
}

func (t *task) frames() error {
	return t.answer(dataflow.FewestFramePages(t.Config)-1, blocks.Frames, blocks.FrameAnswers)
}

func (t *task) rarity() error {
	return t.answer(t.Config.Verify.RarePages, blocks.Commons, blocks.RareAnswers)
}

// answer counts the pages of sentences. It writes those that more than beyond pages
// have, as rows of a table, and as answers to the texts that asked.
func (t *task) answer(beyond int, table, answers blocks.Layout) error {
	asked := newCursor(t.rows(blocks.Questions))
	defer asked.stop()
	sightings := func(yield func(rarity.Sighting, error) bool) {
		for e, err := range t.rows(blocks.Sightings) {
			var s rarity.Sighting
			if err == nil {
				s = rarity.Sighting{Sentence: binary.BigEndian.Uint64(e.Key), Page: binary.BigEndian.Uint64(e.Key[8:])}
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
	return rarity.Count(sightings, beyond, func(c rarity.Common) error {
		sentence := binary.BigEndian.AppendUint64(nil, c.Sentence)
		pages := binary.BigEndian.AppendUint32(nil, uint32(c.Pages))
		if err := t.out.Put(table, sentence, pages); err != nil {
			return err
		}
		return asked.of(sentence, func(e extsort.Entry) error {
			return t.out.Put(answers, slices.Concat(e.Key[8:], sentence), pages)
		})
	})
}

func (t *task) sign() error {
	signer := dataflow.NewSigner(t.Config, nil)
	return t.eachTextWithUnits(func(p *placed) error {
		if p.leftOut(t.Config) {
			return nil
		}
		var framed []byte
		if t.Config.Text.Frames > 0 {
			var err error
			if framed, err = dataflow.Framed(t.Config, p.units, p.Sites, p.frames.of); err != nil {
				return err
			}
		}
		signed, postings := signer.SignFramed(nil, p.Text, p.units, framed)
		if err := t.out.Put(blocks.Signed, p.ID[:], layout.SignedValue(signed)); err != nil {
			return err
		}
		if p.pages > 1 {
			if err := t.out.PutTo(blocks.Shared, 0, p.ID[:], nil); err != nil {
				return err
			}
		}
		var pages []byte
		if t.Config.Cluster.SiteList > 0 {
			for _, page := range p.first {
				pages = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(pages, page.Site), page.Address)
			}
		}
		for _, x := range postings {
			if err := t.out.Put(blocks.Postings, slices.Concat(x.Signature[:], x.Key[:]), pages); err != nil {
				return err
			}
		}
		return nil
	})
}

// gather sends texts to the partitions that compare them, with what the measure said of
// them before.
func (t *task) gather() error {
	before := newCursor(t.rows(blocks.Measured))
	defer before.stop()
	return t.eachText(func(p *placed) error {
		if len(p.members) == 0 {
			return nil
		}
		value := appendCompared(p)
		for _, partition := range p.members {
			if err := t.out.PutTo(blocks.Compared, partition, p.ID[:], value); err != nil {
				return err
			}
		}
		return before.of(p.ID[:], func(e extsort.Entry) error {
			for _, partition := range p.members {
				if err := t.out.PutTo(blocks.Measured, partition, e.Key, e.Value); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// appendCompared returns a value of blocks.Compared.
func appendCompared(p *placed) []byte {
	b := binary.AppendUvarint(nil, uint64(len(p.Text.Text)))
	b = append(b, p.Text.Text...)
	b = binary.AppendUvarint(b, uint64(len(p.Sites)))
	for _, site := range p.Sites {
		b = binary.BigEndian.AppendUint64(b, site)
	}
	return p.common.append(p.frames.append(p.Names.Append(b)))
}

// parseCompared parses what appendCompared wrote.
func parseCompared(id rows.TextID, b []byte) (p placed, ok bool) {
	n, used := binary.Uvarint(b)
	if used <= 0 || n > uint64(len(b)-used) {
		return p, false
	}
	p.Text = dataflow.Text{ID: id, Text: string(b[used : used+int(n)])}
	b = b[used+int(n):]
	if n, used = binary.Uvarint(b); used <= 0 || n > uint64(len(b)-used)/8 {
		return p, false
	}
	for b = b[used:]; n > 0; n-- {
		p.Sites, b = append(p.Sites, binary.BigEndian.Uint64(b)), b[8:]
	}
	if p.Names, b, ok = pair.ParseNames(b); !ok {
		return p, false
	}
	for _, pages := range []*pagesOf{&p.frames, &p.common} {
		if *pages, b, ok = parsePages(b); !ok {
			return p, false
		}
	}
	return p, len(b) == 0
}

func parsePages(b []byte) (p pagesOf, rest []byte, ok bool) {
	n, used := binary.Uvarint(b)
	if used <= 0 || n > uint64(len(b)) {
		return nil, nil, false
	}
	p = pagesOf{}
	for b = b[used:]; n > 0; n-- {
		if len(b) < 8 {
			return nil, nil, false
		}
		pages, used := binary.Uvarint(b[8:])
		if used <= 0 {
			return nil, nil, false
		}
		p[binary.BigEndian.Uint64(b)], b = int(pages), b[8+used:]
	}
	return p, b, true
}
