package dataflow_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"neardup/audit"
	"neardup/cluster"
	"neardup/cluster/judged"
	"neardup/cluster/search"
	"neardup/configs"
	"neardup/extract"
	"neardup/extract/container"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/exports"
	"neardup/pipeline/extractors"
	"neardup/pipeline/extsort"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/signature"
	"neardup/verify/pair"
	"neardup/verify/rarity"
)

// plain runs the stages over plain sorted files, one for each kind of row. A row is
// a key and a value, each behind its length; rows are sorted by key.
type plain struct {
	t      *testing.T
	dir    string
	config configs.Config
	judged []judged.Pair // that clusters follow
}

// write writes a file of rows, which put hands over in any order.
func (p plain) write(name string, put func(add func(key, value []byte) error) error) {
	p.t.Helper()
	sorter := extsort.New(p.dir)
	defer func() { _ = sorter.Close() }()
	if err := put(sorter.Add); err != nil {
		p.t.Fatalf("%s: %v", name, err)
	}
	var b bytes.Buffer
	var last []byte
	for e, err := range sorter.Sorted() {
		if err != nil {
			p.t.Fatal(err)
		}
		if bytes.Equal(e.Key, last) {
			continue // a row that was written twice
		}
		last = append(last[:0], e.Key...)
		b.Write(binary.AppendUvarint(nil, uint64(len(e.Key))))
		b.Write(e.Key)
		b.Write(binary.AppendUvarint(nil, uint64(len(e.Value))))
		b.Write(e.Value)
	}
	pipetest.WriteFile(p.t, filepath.Join(p.dir, name), b.Bytes())
}

// read reads a file of rows.
func read[T any](p plain, name string, parse func(key, value []byte) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		f, err := os.Open(filepath.Join(p.dir, name))
		if err != nil {
			yield(none, err)
			return
		}
		defer func() { _ = f.Close() }()
		r := bufio.NewReader(f)
		part := func() ([]byte, error) {
			n, err := binary.ReadUvarint(r)
			if err != nil {
				return nil, err
			}
			b := make([]byte, n)
			_, err = io.ReadFull(r, b)
			return b, err
		}
		for {
			key, err := part()
			if err == io.EOF {
				return
			}
			value, err := part()
			var v T
			if err == nil {
				v, err = parse(key, value)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

const keySize = cluster.KeySize

func parsePosting(k, _ []byte) (cluster.Posting, error) {
	return cluster.Posting{Signature: signature.Signature(k[:16]), Key: cluster.Key(k[16:])}, nil
}

func parseEdge(k, _ []byte) (cluster.Edge, error) {
	return cluster.Edge{Rep: cluster.Key(k[:keySize]), Member: cluster.Key(k[keySize : 2*keySize])}, nil
}

func parseCandidate(k, v []byte) (rows.Candidate, error) {
	return rows.Candidate{A: cluster.Key(k[:keySize]), B: cluster.Key(k[keySize:]), Score: math.Float64frombits(binary.BigEndian.Uint64(v))}, nil
}

func parseLink(k, v []byte) (l rows.Link, err error) {
	l.Leader, l.Member = cluster.Key(k[:keySize]), cluster.Key(k[keySize:])
	return l, json.Unmarshal(v, &l.Score)
}

func parseText(k, v []byte) (dataflow.Text, error) {
	return dataflow.Text{ID: rows.TextID(k), Text: string(v)}, nil
}

func parseAround(_, v []byte) (t dataflow.AroundUnits, err error) { return t, json.Unmarshal(v, &t) }

// occurrence is a page with a text: the file is sorted by text, then by document.
type occurrence struct {
	text rows.TextID
	rows.Occurrence
}

func parseOccurrence(k, v []byte) (o occurrence, err error) {
	o.text = rows.TextID(k[:16])
	return o, json.Unmarshal(v, &o.Occurrence)
}

func addLink(add func(key, value []byte) error, l rows.Link) error {
	value, err := json.Marshal(l.Score)
	if err != nil {
		return err
	}
	return add(slices.Concat(l.Leader[:], l.Member[:]), value)
}

// occurrences gives those of each text.
func (p plain) occurrences() map[rows.TextID][]rows.Occurrence {
	out := map[rows.TextID][]rows.Occurrence{}
	for o, err := range read(p, "occurrences", parseOccurrence) {
		if err != nil {
			p.t.Fatal(err)
		}
		out[o.text] = append(out[o.text], o.Occurrence)
	}
	return out
}

// run makes the files links, parts and clusters of the files texts and occurrences.
func (p plain) run(workers int) {
	t, c := p.t, p.config
	t.Helper()
	ctx := context.Background()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	on := p.occurrences()
	leftOut := func(id rows.TextID) bool {
		return c.Text.Pages == configs.PagesTopic && !slices.ContainsFunc(on[id], func(o rows.Occurrence) bool { return !o.Navigation })
	}

	frames := p.common(on, read(p, "around", parseAround), true, max(0, dataflow.FewestFramePages(c)-1))

	// Texts to postings. Each worker of a cluster of machines would have some texts.
	signatures := map[rows.TextID]int{}
	p.write("postings", func(add func(key, value []byte) error) error {
		signer := dataflow.NewSigner(c, frames)
		for text, err := range read(p, "texts", parseText) {
			if err != nil {
				return err
			}
			if leftOut(text.ID) {
				continue
			}
			text.Sites, text.Names = places(on[text.ID])
			signed, postings, err := signer.Sign(nil, text)
			if err != nil {
				return err
			}
			signatures[text.ID] = int(signed.Signatures)
			for _, x := range postings {
				if err := add(slices.Concat(x.Signature[:], x.Key[:]), nil); err != nil {
					return err
				}
			}
		}
		return nil
	})

	// Postings to rows of the search.
	texts := p.texts(on, frames)
	in := search.Input{
		Postings: read(p, "postings", parsePosting),
		Different: func() (int64, error) {
			different := map[signature.Signature]bool{}
			for x, err := range read(p, "postings", parsePosting) {
				check(err)
				different[x.Signature] = true
			}
			return int64(len(different)), nil
		},
		Members: func(s signature.Signature) (members []cluster.Key, err error) {
			for x, err := range read(p, "postings", parsePosting) {
				check(err)
				if x.Signature == s {
					members = append(members, x.Key)
				}
			}
			return members, nil
		},
		Concentrated: func(members []cluster.Key) (bool, error) {
			var sites []uint64
			for _, k := range members {
				for i, o := range on[k.ID()] {
					if o.Site != rows.NoSite && i < 16 {
						sites = append(sites, o.Site)
					}
				}
			}
			return cluster.Concentrated(sites, c.Cluster.SiteShare, c.Cluster.Sites), nil
		},
		Texts: func(yield func(search.Text, error) bool) {
			for text, err := range read(p, "texts", parseText) {
				if err == nil && leftOut(text.ID) {
					continue
				}
				text.Sites, text.Names = places(on[text.ID])
				r, err := dataflow.Read(c, text, frames)
				if !yield(search.Text{Key: cluster.NewKey(float32(utf8.RuneCountInString(r.Own)), text.ID), Text: r.Own}, err) {
					return
				}
			}
		},
		Rows:    read(p, "rows", func(k, _ []byte) ([]byte, error) { return k, nil }),
		Memory:  extsort.Messages(p.dir),
		Workers: workers,
	}
	var counts search.Counts
	find := c.NewSearch()
	if mapper, ok := find.(search.Mapper); ok {
		p.write("rows", func(add func(key, value []byte) error) error {
			return mapper.Map(in, search.RowSink{
				Row:   func(row []byte) error { return add(row, nil) },
				Whole: func(signature.Signature) error { return nil },
			}, &counts)
		})
	}

	// These, or texts, to sets or to candidate pairs.
	p.write("sets", func(add func(key, value []byte) error) error {
		return find.Find(ctx, in, search.Sink{
			Member: func(m cluster.Membership) error { return add(slices.Concat(m.Set[:], m.Member[:]), nil) },
			Pair: func(a, b cluster.Key, score float64) error {
				if a.Compare(b) > 0 {
					a, b = b, a
				}
				return add(slices.Concat(a[:], b[:]), binary.BigEndian.AppendUint64(nil, math.Float64bits(score)))
			},
		}, &counts)
	})

	// Sets, or candidates, to links.
	links := func() iter.Seq2[rows.Link, error] { return read(p, "links", parseLink) }
	p.write("links", func(add func(key, value []byte) error) error {
		put := func(links []rows.Link) error {
			for _, l := range links {
				if err := addLink(add, l); err != nil {
					return err
				}
			}
			return nil
		}
		if c.Pairs() {
			candidates := read(p, "sets", parseCandidate)
			none := func(func(rows.Link, error) bool) {}
			return dataflow.VerifyPairs(ctx, candidates, none, texts, c.Verify, workers, func(v dataflow.VerifiedPairs) error { return put(v.Links) })
		}
		sets := func(yield func([]cluster.Key, error) bool) {
			var set []cluster.Key
			var of cluster.Key
			for e, err := range read(p, "sets", parseEdge) {
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
		return dataflow.VerifySets(ctx, sets, texts, c.Verify, workers, nil, nil, func(v dataflow.VerifiedSets) error {
			for _, r := range v.Sets {
				if err := put(r.Links); err != nil {
					return err
				}
			}
			return nil
		})
	})

	// Links to parts.
	score := map[[2]cluster.Key]rows.Score{}
	for l, err := range links() {
		check(err)
		score[[2]cluster.Key{l.Leader, l.Member}] = l.Score
	}
	scoreOf := func(leader, member cluster.Key) (rows.Score, error) {
		s, ok := score[[2]cluster.Key{leader, member}]
		if !ok {
			return s, fmt.Errorf("no score of %x and %x", leader, member)
		}
		return s, nil
	}
	p.write("parts", func(add func(key, value []byte) error) error {
		if c.Verify.Closing != configs.ClosingPartition {
			return nil
		}
		components := dataflow.Components(dataflow.Links(links(), c.Verify, nil), scoreOf)
		return dataflow.Part(ctx, components, texts, c.Verify, workers, nil, func(v dataflow.Parted) error {
			var checked, parts []rows.Link
			for _, r := range v.Components {
				checked, parts = append(checked, r.Checked...), append(parts, r.Parts...)
			}
			for _, l := range checked {
				pair := [2]cluster.Key{l.Leader, l.Member}
				if _, ok := score[pair]; !ok && l.Score.Relation != "" {
					score[pair] = l.Score
				}
			}
			for _, l := range parts {
				if err := addLink(add, l); err != nil {
					return err
				}
			}
			return nil
		})
	})

	// Links and parts to clusters, and near pairs and clusters to contained texts.
	var closed *clusters
	p.write("clusters", func(add func(key, value []byte) error) error {
		shared := func(yield func(rows.TextID, error) bool) {
			for text, err := range read(p, "texts", parseText) {
				if err == nil && (len(on[text.ID]) < 2 || leftOut(text.ID)) {
					continue
				}
				if !yield(text.ID, err) {
					return
				}
			}
		}
		closed = &clusters{of: map[rows.TextID]rows.TextID{}, rows: map[[2]rows.TextID]rows.Cluster{}}
		if err := dataflow.Close(verdicts{links(), read(p, "parts", parseLink), shared, scoreOf}, c.Verify, extsort.Messages(p.dir), closed); err != nil {
			return err
		}
		own := map[rows.TextID]string{}
		for text, err := range read(p, "texts", parseText) {
			check(err)
			text.Sites, text.Names = places(on[text.ID])
			r, err := dataflow.Read(c, text, frames)
			check(err)
			own[text.ID] = r.Own
		}
		from := enforced{closed, func(t rows.TextID) cluster.Key {
			return cluster.NewKey(dataflow.Weight(c, own[t], signatures[t]), t)
		}, on, func(a, b rows.TextID, larger, smaller cluster.Key) (rows.Score, error) {
			if s, ok := score[[2]cluster.Key{larger, smaller}]; ok {
				return s, nil
			}
			resemblance, containment, _, err := stages.Scores(c, own[a], own[b])
			return rows.Score{Resemblance: resemblance, Containment: containment}, err
		}}
		if _, err := dataflow.Enforce(p.judged, from, closed); err != nil {
			return err
		}
		for _, row := range closed.rows {
			value, err := json.Marshal(row)
			if err := errors.Join(err, add(slices.Concat(row.Cluster[:], row.Member[:]), value)); err != nil {
				return err
			}
		}
		return nil
	})
	p.write("contained", func(add func(key, value []byte) error) error {
		if c.Verify.Contained != configs.ContainedApart {
			return nil
		}
		near := func(yield func(rows.Link, error) bool) {
			for pair, s := range score { // in any order
				if !yield(rows.Link{Leader: pair[0], Member: pair[1], Score: s}, nil) {
					return
				}
			}
		}
		return dataflow.Apart(near, closed.Of, func(c rows.Contained) error {
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
			see(dataflow.Sightings(dataflow.UnitsOf(text.Text), dataflow.SitePage{Site: site, Address: address}, exact))
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

// texts gives the texts ready for comparison.
func (p plain) texts(on map[rows.TextID][]rows.Occurrence, frames dataflow.Pages) *dataflow.Texts {
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

// verdicts implements dataflow.Verdicts.
type verdicts struct {
	links, parts iter.Seq2[rows.Link, error]
	shared       iter.Seq2[rows.TextID, error]
	score        func(leader, member cluster.Key) (rows.Score, error)
}

func (v verdicts) Links() iter.Seq2[rows.Link, error] { return v.links }

func (v verdicts) Parts() iter.Seq2[rows.Link, error] { return v.parts }

func (v verdicts) Shared() iter.Seq2[rows.TextID, error] { return v.shared }

func (v verdicts) Score(leader, member cluster.Key) (rows.Score, error) {
	return v.score(leader, member)
}

// enforced implements dataflow.Enforced.
type enforced struct {
	*clusters
	key   func(rows.TextID) cluster.Key
	on    map[rows.TextID][]rows.Occurrence
	score func(a, b rows.TextID, larger, smaller cluster.Key) (rows.Score, error)
}

func (e enforced) Members(representative rows.TextID) iter.Seq2[rows.Cluster, error] {
	return func(yield func(rows.Cluster, error) bool) {
		for _, row := range e.rows {
			if row.Cluster == representative && !yield(row, nil) {
				return
			}
		}
	}
}

func (e enforced) Key(t rows.TextID) (cluster.Key, error) { return e.key(t), nil }

func (e enforced) Shared(t rows.TextID) (bool, error) { return len(e.on[t]) > 1, nil }

func (e enforced) Score(a, b rows.TextID) (rows.Score, error) {
	larger, smaller := e.key(a), e.key(b)
	if larger.Compare(smaller) > 0 {
		larger, smaller = smaller, larger
	}
	return e.score(a, b, larger, smaller)
}

// clusters implements dataflow.Moved. What was changed shows only when it is flushed.
type clusters struct {
	of      map[rows.TextID]rows.TextID
	rows    map[[2]rows.TextID]rows.Cluster
	pending []func()
}

func (c *clusters) Assign(row rows.Cluster) error {
	c.pending = append(c.pending, func() {
		c.of[row.Member] = row.Cluster
		c.rows[[2]rows.TextID{row.Cluster, row.Member}] = row
	})
	return nil
}

func (c *clusters) Remove(row rows.Cluster) error {
	c.pending = append(c.pending, func() {
		delete(c.of, row.Member)
		delete(c.rows, [2]rows.TextID{row.Cluster, row.Member})
	})
	return nil
}

// Former does nothing: the stages do not read it again.
func (c *clusters) Former(rows.TextID, *rows.TextID) error { return nil }

func (c *clusters) Flush() error {
	for _, change := range c.pending {
		change()
	}
	c.pending = nil
	return nil
}

func (c *clusters) Of(t rows.TextID) (rows.TextID, bool, error) {
	representative, ok := c.of[t]
	return representative, ok, nil
}

// extract makes the files texts, around, occurrences and documents of an archive, or of
// lines of texts.
func (p plain) extract(input string) {
	p.t.Helper()
	limits := p.config.Extract.Limits
	sources, _, err := inputs.Find(p.t.Context(), p.dir, []string{input}, nil, limits)
	if err != nil {
		p.t.Fatal(err)
	}
	x := extractors.New(p.config.Extract)
	files := map[string]*extsort.Sorter{}
	for _, name := range []string{"texts", "around", "occurrences", "documents", "revisits"} {
		files[name] = extsort.New(p.dir)
		defer func() { _ = files[name].Close() }()
	}
	add := func(name string, key []byte, row any) {
		value, err := json.Marshal(row)
		if err := errors.Join(err, files[name].Add(key, value)); err != nil {
			p.t.Fatal(err)
		}
	}
	for _, s := range sources {
		r, _, closer, err := s.Reader(p.t.Context(), limits)
		if err != nil {
			p.t.Fatal(err)
		}
		for raw, err := r.Next(); err != io.EOF; raw, err = r.Next() {
			if damage := (*container.Damage)(nil); errors.As(err, &damage) {
				continue
			}
			if err != nil {
				p.t.Fatal(err)
			}
			e := dataflow.Extract(x, raw)
			d := e.Document.Document
			switch place := layout.DocumentKey(d.ID, s.ID(), raw.Offset)[1:]; {
			case e.Reason != extract.ReasonNone:
			case e.IsRevisit():
				add("revisits", layout.RevisitKey(d.ID, s.Path, s.ID(), raw.Offset)[1:], d)
			default:
				if err := files["texts"].Add(e.Text[:], []byte(d.Text)); err != nil {
					p.t.Fatal(err)
				}
				add("documents", place, e.Document)
				o := rows.OccurrenceOf(d)
				add("occurrences", slices.Concat(e.Text[:], d.ID[:]), o)
				if len(e.AroundUnits.Exact) > 0 {
					add("around", d.ID[:], e.AroundUnits)
				}
			}
		}
		if err := closer.Close(); err != nil {
			p.t.Fatal(err)
		}
	}
	for name, rows := range files {
		p.write(name, func(add func(key, value []byte) error) error {
			for e, err := range rows.Sorted() {
				if err := errors.Join(err, add(e.Key, e.Value)); err != nil {
					return err
				}
			}
			return nil
		})
	}

	// Revisits and documents to more documents.
	captures := read(p, "documents", func(k, v []byte) (dataflow.Capture, error) {
		return dataflow.Capture{ID: extract.ID(k[:16]), Row: func() (d rows.Document, err error) { return d, json.Unmarshal(v, &d) }}, nil
	})
	revisits := read(p, "revisits", func(k, v []byte) (r dataflow.Revisit, err error) {
		err = json.Unmarshal(v, &r.Document)
		r.Place, r.Document.ID = k, extract.ID(k[:16])
		return r, err
	})
	sorter := func() *extsort.Sorter { return extsort.New(p.dir) }
	err = dataflow.Resolve(p.t.Context(), revisits, captures, sorter, func(r dataflow.Revisit, t rows.TextID, page rows.Document) error {
		at, err := layout.ParseRevisitPlace(r.Place)
		add("documents", at.Document()[1:], page)
		add("occurrences", slices.Concat(t[:], page.ID[:]), rows.OccurrenceOf(page.Document))
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range []string{"documents", "occurrences"} {
		p.write(name, func(add func(key, value []byte) error) error {
			for e, err := range files[name].Sorted() {
				if err := errors.Join(err, add(e.Key, e.Value)); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// row is a row of a file or a table, as text.
type row struct{ key, value string }

func parseRow(k, v []byte) (row, error) { return row{string(k), string(v)}, nil }

// extracted compares the files that extract makes with what the workspace has, and
// returns the number of documents.
func (p plain) extracted(w *workspace.Workspace) (documents int) {
	p.t.Helper()
	table := func(table byte, value func(r layout.Row) ([]byte, error)) iter.Seq2[row, error] {
		return func(yield func(row, error) bool) {
			for r, err := range w.DB.Table(table) {
				var v []byte
				if err == nil {
					v, err = value(r)
				}
				if !yield(row{string(r.Key()[1:]), string(v)}, err) || err != nil {
					return
				}
			}
		}
	}
	same(p.t, "texts", read(p, "texts", parseRow), table(layout.TableText, layout.Row.Value))
	same(p.t, "occurrences", read(p, "occurrences", parseRow), table(layout.TableOccurrence, func(r layout.Row) ([]byte, error) {
		o, err := r.Occurrence()
		b, jsonErr := json.Marshal(o)
		return b, errors.Join(err, jsonErr)
	}))
	same(p.t, "around", read(p, "around", func(_, v []byte) (string, error) { return string(v), nil }), func(yield func(string, error) bool) {
		for t, err := range results.Around(w) {
			b, jsonErr := json.Marshal(t)
			if !yield(string(b), errors.Join(err, jsonErr)) {
				return
			}
		}
	})
	return same(p.t, "documents", read(p, "documents", parseRow), table(layout.TableDocument, layout.Row.Value))
}

// same compares what a file has with what the workspace has.
func same[T comparable](t *testing.T, name string, got, want iter.Seq2[T, error]) (n int) {
	t.Helper()
	next, stop := iter.Pull2(got)
	defer stop()
	for want, err := range want {
		if err != nil {
			t.Fatal(err)
		}
		x, err, ok := next()
		if err != nil || !ok || x != want {
			t.Fatalf("%s: row %d is %+v (%v), want %+v", name, n, x, err, want)
		}
		n++
	}
	if x, err, ok := next(); ok {
		t.Fatalf("%s: beyond the %d rows of the workspace %+v (%v)", name, n, x, err)
	}
	return n
}

// The stages run over plain sorted files, without a database, and give what a
// workspace gives: links, parts and clusters, row by row.
func TestPlainFiles(t *testing.T) {
	pipetest.Spill(t)
	random := rand.New(rand.NewPCG(71, 72))
	planted, _ := pipetest.Planted(random, 12)
	files := map[string]string{"crawl": pipetest.Crawl(t), "texts": pipetest.WriteTexts(t, 0, planted)}
	for _, method := range [][]string{
		{"default"},
		{"default", "verify.rare_pages=1", "verify.rare_resemblance=0.9"}, // rarity decides about many pairs
		{"paper"},
		{"minhash-lsh"},
		{"shingling", "cluster.common=3"}, // an edge for each common signature
		{"simhash"},
		{"ppjoin"},
	} {
		for name, input := range files {
			t.Run(fmt.Sprint(method, "/", name), func(t *testing.T) {
				c := pipetest.MustLoadPreset(t, method[0], method[1:]...)
				dir := filepath.Join(t.TempDir(), "ws")
				pipetest.RunAll(t, dir, c, workspace.Options{Workers: 2}, input)
				w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := w.Close(); err != nil {
						t.Error(err)
					}
				}()
				for _, workers := range []int{1, 3} {
					p := plain{t: t, dir: t.TempDir(), config: c}
					p.extract(input)
					p.extracted(w)
					p.run(workers)
					links := same(t, "links", read(p, "links", parseLink), results.NearPairs(w))
					parts := same(t, "parts", read(p, "parts", parseLink), results.ScoredPairs(w, layout.TablePart))
					clustered := same(t, "clusters", read(p, "clusters", func(_, value []byte) (row rows.Cluster, err error) {
						return row, json.Unmarshal(value, &row)
					}), storedClusters(w))
					apart := same(t, "contained", read(p, "contained", func(_, value []byte) (row rows.Contained, err error) {
						return row, json.Unmarshal(value, &row)
					}), storedContained(w))
					if method[0] == "default" && len(method) == 1 && name == "crawl" && apart == 0 {
						t.Error("no contained text")
					}
					if links == 0 || clustered == 0 || (c.Verify.Closing == configs.ClosingPartition) != (parts > 0) {
						t.Errorf("%d links, %d parts, %d texts in clusters", links, parts, clustered)
					}
				}
			})
		}
	}
}

// Clusters follow judged pairs, too.
func TestPlainJudgedPairs(t *testing.T) {
	input := pipetest.WriteTexts(t, 0, pipetest.Copies())
	for _, method := range []string{"default", "shingling", "lcs"} {
		t.Run(method, func(t *testing.T) {
			c := pipetest.MustLoadPreset(t, method)
			dir := filepath.Join(t.TempDir(), "ws")
			before := pipetest.RunAll(t, dir, c, workspace.Options{}, input)
			w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			}()
			p := plain{t: t, dir: t.TempDir(), config: c}
			p.extract(input)
			texts := map[string]rows.TextID{}
			for d, err := range read(p, "documents", func(_, v []byte) (d rows.Document, err error) { return d, json.Unmarshal(v, &d) }) {
				if err != nil {
					t.Fatal(err)
				}
				if texts[strings.Trim(d.RecordID, "<>")], err = rows.ParseTextID(d.TextID); err != nil {
					t.Fatal(err)
				}
			}
			for _, j := range pipetest.Judgements(t, "0=6", "5=6", "1|2", "1|0", "4=5") {
				a, b := texts[strings.Trim(j.A, "<>")], texts[strings.Trim(j.B, "<>")]
				if a == b {
					t.Fatalf("%+v: no texts", j.Pair)
				}
				p.judged = append(p.judged, judged.Pair{A: []rows.TextID{a}, B: []rows.TextID{b}, Join: j.Verdict == audit.True})
				if err := w.WriteJudgements(func(b store.Batch) error { return workspace.PutJudgement(b, j) }, j.Pair); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Run(t.Context(), "extract", "verify", nil); err != nil {
				t.Fatal(err)
			}
			p.run(2)
			n := same(t, "clusters", read(p, "clusters", func(_, value []byte) (row rows.Cluster, err error) {
				return row, json.Unmarshal(value, &row)
			}), storedClusters(w))
			if after := pipetest.ExportOf(t, w, exports.Options{Format: "jsonl"}); n < 5 || bytes.Equal(before, after) {
				t.Errorf("%d texts in clusters; before %s", n, before)
			}
		})
	}
}

func storedContained(w *workspace.Workspace) iter.Seq2[rows.Contained, error] {
	return func(yield func(rows.Contained, error) bool) {
		for r, err := range w.DB.Table(layout.TableContained) {
			var row rows.Contained
			if err == nil {
				row, err = r.Contained()
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

func storedClusters(w *workspace.Workspace) iter.Seq2[rows.Cluster, error] {
	return func(yield func(rows.Cluster, error) bool) {
		for r, err := range w.DB.Table(layout.TableCluster) {
			var row rows.Cluster
			if err == nil {
				row, err = r.Cluster()
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// Revisits, too: of captures in any file, of each other, of nothing.
func TestPlainRevisits(t *testing.T) {
	pipetest.Spill(t)
	records, want := pipetest.Revisits()
	input := pipetest.WriteRecords(t, records...)
	c := pipetest.MustLoad(t)
	dir := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, dir, c, workspace.Options{}, input)
	w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	p := plain{t: t, dir: t.TempDir(), config: c}
	p.extract(input)
	documents := len(records) - len(want)
	for _, of := range want {
		if of != "" {
			documents++
		}
	}
	if n := p.extracted(w); n != documents {
		t.Errorf("%d documents, want %d", n, documents)
	}
	for d, err := range read(p, "documents", func(_, v []byte) (d rows.Document, err error) { return d, json.Unmarshal(v, &d) }) {
		if err != nil {
			t.Fatal(err)
		}
		of, known := want[strings.TrimSuffix(strings.TrimPrefix(d.RecordID, "<urn:test:"), ">")]
		if known && (of == "" || d.RevisitOf != "<urn:test:"+of+">") {
			t.Errorf("%s is a revisit of %s, want %q", d.RecordID, d.RevisitOf, of)
		}
	}
}
