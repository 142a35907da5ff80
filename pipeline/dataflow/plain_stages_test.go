package dataflow_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"unicode/utf8"

	"neardup/cluster"
	"neardup/cluster/search"
	"neardup/configs"
	"neardup/pipeline/closing"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/signature"
	"neardup/verify/pair"
	"neardup/verify/rarity"
)

// plainRun is a run of the stages after extract. Each of its methods reads files and
// writes files, or what the next methods look up.
type plainRun struct {
	plain
	workers    int
	on         map[rows.TextID][]rows.Occurrence
	frames     dataflow.Pages
	texts      *dataflow.Texts
	signatures map[rows.TextID]int // number of each text's
	score      map[[2]cluster.Key]rows.Score
	closed     *clusters
}

// run makes the files links, parts and clusters of the files texts and occurrences.
func (p plain) run(workers int) {
	p.t.Helper()
	on := p.occurrences()
	frames := p.common(on, read(p, "around", parseAround), true, max(0, dataflow.FewestFramePages(p.config)-1))
	r := &plainRun{plain: p, workers: workers, on: on, frames: frames, texts: p.ready(on, frames)}
	r.sign()
	r.search()
	r.verify()
	r.part()
	r.close()
	r.contain()
}

// leftOut reports whether a text is only on pages of navigation, which the config
// leaves out.
func (p *plainRun) leftOut(id rows.TextID) bool {
	return p.config.Text.Pages == configs.PagesTopic && !slices.ContainsFunc(p.on[id], func(o rows.Occurrence) bool { return !o.Navigation })
}

// signed yields the texts that are not left out, with their places.
func (p *plainRun) signed() iter.Seq2[dataflow.Text, error] {
	return func(yield func(dataflow.Text, error) bool) {
		for text, err := range read(p.plain, "texts", parseText) {
			if err == nil && p.leftOut(text.ID) {
				continue
			}
			text.Sites, text.Names = places(p.on[text.ID])
			if !yield(text, err) || err != nil {
				return
			}
		}
	}
}

// sign makes postings of texts. Each worker of a cluster of machines would have some
// texts.
func (p *plainRun) sign() {
	p.signatures = map[rows.TextID]int{}
	p.write("postings", func(add func(key, value []byte) error) error {
		signer := dataflow.NewSigner(p.config, p.frames)
		for text, err := range p.signed() {
			if err != nil {
				return err
			}
			signed, postings, err := signer.Sign(nil, text)
			if err != nil {
				return err
			}
			p.signatures[text.ID] = int(signed.Signatures)
			for _, x := range postings {
				if err := add(slices.Concat(x.Signature[:], x.Key[:]), nil); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// searched returns what the search reads.
func (p *plainRun) searched() search.Input {
	return search.Input{
		Postings: read(p.plain, "postings", parsePosting),
		Different: func() (int64, error) {
			different := map[signature.Signature]bool{}
			for x, err := range read(p.plain, "postings", parsePosting) {
				p.check(err)
				different[x.Signature] = true
			}
			return int64(len(different)), nil
		},
		Members: func(s signature.Signature) (members []cluster.Key, err error) {
			for x, err := range read(p.plain, "postings", parsePosting) {
				p.check(err)
				if x.Signature == s {
					members = append(members, x.Key)
				}
			}
			return members, nil
		},
		Concentrated: func(members []cluster.Key) (bool, error) {
			var pages []cluster.Page
			for _, k := range members {
				for i, o := range p.on[k.ID()] {
					if o.Site != rows.NoSite && i < 16 {
						pages = append(pages, cluster.Page{Site: o.Site, Address: o.Address})
					}
				}
			}
			k := p.config.Cluster
			return cluster.Concentrated(pages, k.SiteList, k.SiteShare, k.Sites), nil
		},
		Texts: func(yield func(search.Text, error) bool) {
			for text, err := range p.signed() {
				p.check(err)
				r, err := dataflow.Read(p.config, text, p.frames)
				if !yield(search.Text{Key: cluster.NewKey(float32(utf8.RuneCountInString(r.Own)), text.ID), Text: r.Own}, err) {
					return
				}
			}
		},
		Rows:    read(p.plain, "rows", func(k, _ []byte) ([]byte, error) { return k, nil }),
		Memory:  extsort.Messages(p.dir),
		Workers: p.workers,
	}
}

// search makes rows of postings, and of these, or of texts, sets or candidate pairs.
func (p *plainRun) search() {
	in := p.searched()
	var counts search.Counts
	find := p.config.NewSearch()
	if mapper, ok := find.(search.Mapper); ok {
		p.write("rows", func(add func(key, value []byte) error) error {
			return mapper.Map(in, search.RowSink{
				Row:   func(row []byte) error { return add(row, nil) },
				Whole: func(signature.Signature) error { return nil },
			}, &counts)
		})
	}
	p.write("sets", func(add func(key, value []byte) error) error {
		return find.Find(p.t.Context(), in, search.Sink{
			Member: func(m cluster.Membership) error { return add(slices.Concat(m.Set[:], m.Member[:]), nil) },
			Pair: func(a, b cluster.Key, score float64) error {
				if a.Compare(b) > 0 {
					a, b = b, a
				}
				return add(slices.Concat(a[:], b[:]), binary.BigEndian.AppendUint64(nil, math.Float64bits(score)))
			},
		}, &counts)
	})
}

// sets yields the perhaps-similar sets.
func (p *plainRun) sets() iter.Seq2[[]cluster.Key, error] {
	return func(yield func([]cluster.Key, error) bool) {
		var set []cluster.Key
		var of cluster.Key
		for e, err := range read(p.plain, "sets", parseEdge) {
			if err != nil {
				yield(nil, err)
				return
			}
			if len(set) > 0 && e.Rep != of {
				if !yield(set, nil) {
					return
				}
				set = nil
			}
			of, set = e.Rep, append(set, e.Member)
		}
		if len(set) > 0 {
			yield(set, nil)
		}
	}
}

// verify makes links of sets, or of candidates.
func (p *plainRun) verify() {
	p.write("links", func(add func(key, value []byte) error) error {
		if p.config.Pairs() {
			candidates := read(p.plain, "sets", parseCandidate)
			none := func(func(rows.Link, error) bool) {}
			return dataflow.VerifyPairs(p.t.Context(), candidates, none, p.texts, p.config.Verify, p.workers, func(v dataflow.VerifiedPairs) error { return addLinks(add, v.Links) })
		}
		return dataflow.VerifySets(p.t.Context(), p.sets(), p.texts, p.config.Verify, p.workers, nil, nil, nil, func(v dataflow.VerifiedSets) error {
			for _, r := range v.Sets {
				if err := addLinks(add, r.Links); err != nil {
					return err
				}
			}
			return nil
		})
	})
	p.score = map[[2]cluster.Key]rows.Score{}
	for l, err := range p.links() {
		p.check(err)
		p.score[[2]cluster.Key{l.Leader, l.Member}] = l.Score
	}
}

func (p *plainRun) links() iter.Seq2[rows.Link, error] { return read(p.plain, "links", parseLink) }

func (p *plainRun) scoreOf(leader, member cluster.Key) (rows.Score, error) {
	s, ok := p.score[[2]cluster.Key{leader, member}]
	if !ok {
		return s, fmt.Errorf("no score of %x and %x", leader, member)
	}
	return s, nil
}

// part makes parts of links.
func (p *plainRun) part() {
	p.write("parts", func(add func(key, value []byte) error) error {
		if p.config.Verify.Closing != configs.ClosingPartition {
			return nil
		}
		large := dataflow.NewLarge(p.dir)
		defer func() { p.check(large.Close()) }()
		components := dataflow.Components(p.dir, p.links(), p.config.Verify, large)
		err := dataflow.Part(p.t.Context(), components, p.texts, p.config.Verify, p.workers, nil, func(v dataflow.Parted) error {
			var checked, parts []rows.Link
			for _, r := range v.Components {
				checked, parts = append(checked, r.Checked()...), append(parts, r.Parts...)
			}
			for _, l := range checked {
				pair := [2]cluster.Key{l.Leader, l.Member}
				if _, ok := p.score[pair]; !ok && l.Score.Relation != "" {
					p.score[pair] = l.Score
				}
			}
			return addLinks(add, parts)
		})
		if err != nil {
			return err
		}
		return large.Stars(p.t.Context(), extsort.Messages(p.dir), &rows.PartitionCounts{}, func(parts []rows.Link) error { return addLinks(add, parts) })
	})
}

// own returns the text of each text that is not part of a frame.
func (p *plainRun) own() map[rows.TextID]string {
	own := map[rows.TextID]string{}
	for text, err := range read(p.plain, "texts", parseText) {
		p.check(err)
		text.Sites, text.Names = places(p.on[text.ID])
		r, err := dataflow.Read(p.config, text, p.frames)
		p.check(err)
		own[text.ID] = r.Own
	}
	return own
}

// close makes clusters of links and parts.
func (p *plainRun) close() {
	p.write("clusters", func(add func(key, value []byte) error) error {
		shared := func(yield func(rows.TextID, error) bool) {
			for text, err := range read(p.plain, "texts", parseText) {
				if err == nil && (len(p.on[text.ID]) < 2 || p.leftOut(text.ID)) {
					continue
				}
				if !yield(text.ID, err) {
					return
				}
			}
		}
		p.closed = &clusters{of: map[rows.TextID]rows.TextID{}, rows: map[[2]rows.TextID]rows.Cluster{}}
		if err := closing.Close(verdicts{p.links(), read(p.plain, "parts", parseLink), shared, p.scoreOf}, p.config.Verify, p.dir, p.closed); err != nil {
			return err
		}
		own := p.own()
		from := enforced{p.closed, func(t rows.TextID) cluster.Key {
			return cluster.NewKey(dataflow.Weight(p.config, own[t], p.signatures[t]), t)
		}, p.on, func(a, b rows.TextID, larger, smaller cluster.Key) (rows.Score, error) {
			if s, ok := p.score[[2]cluster.Key{larger, smaller}]; ok {
				return s, nil
			}
			resemblance, containment, _, err := stages.Scores(p.config, own[a], own[b])
			return rows.Score{Resemblance: resemblance, Containment: containment}, err
		}}
		if _, err := closing.Enforce(p.judged, from, p.closed); err != nil {
			return err
		}
		for _, row := range p.closed.rows {
			value, err := json.Marshal(row)
			if err := errors.Join(err, add(slices.Concat(row.Cluster[:], row.Member[:]), value)); err != nil {
				return err
			}
		}
		return nil
	})
}

// contain makes contained texts of near pairs and clusters.
func (p *plainRun) contain() {
	p.write("contained", func(add func(key, value []byte) error) error {
		if p.config.Verify.Contained != configs.ContainedApart {
			return nil
		}
		near := func(yield func(rows.Link, error) bool) {
			for pair, s := range p.score { // in any order
				if !yield(rows.Link{Leader: pair[0], Member: pair[1], Score: s}, nil) {
					return
				}
			}
		}
		return closing.Apart(p.dir, near, p.closed.Of, func(c rows.Contained) error {
			value, err := json.Marshal(c)
			return errors.Join(err, add(slices.Concat(c.Group[:], c.Host[:], c.Text[:]), value))
		})
	})
}

// common counts the pages of a site that have a sentence, of those that more than so
// many have. The sentences around texts count too, if there are any.
func (p plain) common(on map[rows.TextID][]rows.Occurrence, around iter.Seq2[dataflow.AroundUnits, error], exact bool, beyond int) dataflow.Pages {
	sightings := extsort.NewPairs(p.dir, 1000)
	defer func() { _ = sightings.Close() }()
	see := func(all iter.Seq[rarity.Sighting]) {
		for s := range all {
			if err := sightings.Add(extsort.Pair{s.Sentence, s.Page}); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	if around != nil {
		for t, err := range around {
			if err != nil {
				p.t.Fatal(err)
			}
			see(t.Sightings())
		}
	}
	for text, err := range read(p, "texts", parseText) {
		if err != nil {
			p.t.Fatal(err)
		}
		smallest := map[uint64]uint64{}
		for _, o := range on[text.ID] {
			if old, ok := smallest[o.Site]; o.Site != rows.NoSite && (!ok || o.Address < old) {
				smallest[o.Site] = o.Address
			}
		}
		for site, address := range smallest {
			see(dataflow.Sightings(dataflow.UnitsOf(text.Text), rows.SitePage{Site: site, Address: address}, exact))
		}
	}
	pages := map[uint64]int{}
	if beyond > 0 {
		sorted := func(yield func(rarity.Sighting, error) bool) {
			for s, err := range sightings.Sorted() {
				if !yield(rarity.Sighting{Sentence: s[0], Page: s[1]}, err) {
					return
				}
			}
		}
		err := rarity.Count(sorted, beyond, func(c rarity.Common) error {
			pages[c.Sentence] = c.Pages
			return nil
		})
		if err != nil {
			p.t.Fatal(err)
		}
	}
	return func(sentence uint64) (int, error) { return max(1, pages[sentence]), nil }
}

// places gives the sites of a text, sorted, and the names of its pages.
func places(on []rows.Occurrence) (sites []uint64, names pair.Names) {
	for _, o := range on {
		names.Add(o.Address, o.Title)
		if o.Site != rows.NoSite && !slices.Contains(sites, o.Site) {
			sites = append(sites, o.Site)
		}
	}
	slices.Sort(sites)
	return sites, names
}

// ready returns the texts ready for comparison.
func (p plain) ready(on map[rows.TextID][]rows.Occurrence, frames dataflow.Pages) *dataflow.Texts {
	all := map[rows.TextID]dataflow.Text{}
	for text, err := range read(p, "texts", parseText) {
		if err != nil {
			p.t.Fatal(err)
		}
		text.Sites, text.Names = places(on[text.ID])
		all[text.ID] = text
	}
	common := p.common(on, nil, false, p.config.Verify.RarePages)
	j := dataflow.Judge(p.config)
	return dataflow.NewTexts(j, func(id rows.TextID) (*pair.Text, error) {
		return dataflow.Prepare(p.config, j, all[id], frames, common)
	})
}
