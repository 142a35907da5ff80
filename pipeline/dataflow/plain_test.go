package dataflow_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/internal/pipetest"
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

func parseLink(k, v []byte) (l rows.Link, err error) {
	l.Leader, l.Member = cluster.Key(k[:keySize]), cluster.Key(k[keySize:])
	return l, json.Unmarshal(v, &l.Score)
}

func parseText(k, v []byte) (dataflow.Text, error) {
	return dataflow.Text{ID: rows.TextID(k), Text: string(v)}, nil
}

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

	frames := p.common(on, rarity.ExactUnitOf, max(0, c.Text.Frames-1))

	// Texts to postings. Each worker of a cluster of machines would have some texts.
	p.write("postings", func(add func(key, value []byte) error) error {
		signer := dataflow.NewSigner(c, frames)
		for text, err := range read(p, "texts", parseText) {
			if err != nil {
				return err
			}
			if leftOut(text.ID) {
				continue
			}
			text.Sites = sites(on[text.ID])
			_, postings, err := signer.Sign(nil, text)
			if err != nil {
				return err
			}
			for _, x := range postings {
				if err := add(slices.Concat(x.Signature[:], x.Key[:]), nil); err != nil {
					return err
				}
			}
		}
		return nil
	})

	// Postings to edges.
	p.write("edges", func(add func(key, value []byte) error) error {
		concentrated := func(members []cluster.Key) (bool, error) {
			var sites []uint64
			for _, k := range members {
				for i, o := range on[k.ID()] {
					if o.Site != rows.NoSite && i < 16 {
						sites = append(sites, o.Site)
					}
				}
			}
			return cluster.Concentrated(sites, c.Cluster.SiteShare, c.Cluster.Sites), nil
		}
		_, err := dataflow.Edges(read(p, "postings", parsePosting), c.Cluster, concentrated, dataflow.EdgeSink{
			Edge:  func(e dataflow.Edge) error { return add(slices.Concat(e.Rep[:], e.Member[:], e.Signature[:]), nil) },
			Whole: func(signature.Signature, cluster.ListCounts) error { return nil },
		})
		return err
	})

	// Edges to sets, or to candidate pairs.
	different := func(yield func(cluster.Edge, error) bool) { // one of each pair
		var last cluster.Edge
		for e, err := range read(p, "edges", parseEdge) {
			if err == nil && e == last {
				continue
			}
			last = e
			if !yield(e, err) {
				return
			}
		}
	}
	p.write("sets", func(add func(key, value []byte) error) error {
		if c.Cluster.Pairs() {
			edges := read(p, "edges", parseEdge)
			if c.Cluster.Common <= 1 {
				edges = different
			}
			_, err := dataflow.Tally(edges, max(1, c.Cluster.Common), func(e cluster.Edge) error {
				if e.Rep.Compare(e.Member) > 0 {
					e.Rep, e.Member = e.Member, e.Rep
				}
				return add(slices.Concat(e.Rep[:], e.Member[:]), nil)
			})
			return err
		}
		return dataflow.Sets(different, c.Cluster, extsort.Messages(p.dir), func(m cluster.Membership) error {
			return add(slices.Concat(m.Set[:], m.Member[:]), nil)
		})
	})

	// Sets, or candidates, to links.
	texts := p.texts(on, frames)
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
		if c.Cluster.Pairs() {
			candidates := func(yield func(rows.Candidate, error) bool) {
				for e, err := range read(p, "sets", parseEdge) {
					if !yield(rows.Candidate{A: e.Rep, B: e.Member}, err) {
						return
					}
				}
			}
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
		return dataflow.VerifySets(ctx, sets, texts, c.Verify, workers, func(v dataflow.VerifiedSets) error { return put(v.Links) })
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
		return dataflow.Part(ctx, components, texts, c.Verify, workers, func(v dataflow.Parted) error {
			for _, l := range v.Checked {
				pair := [2]cluster.Key{l.Leader, l.Member}
				if _, ok := score[pair]; !ok && l.Score.Relation != "" {
					score[pair] = l.Score
				}
			}
			for _, l := range v.Parts {
				if err := addLink(add, l); err != nil {
					return err
				}
			}
			return nil
		})
	})

	// Links and parts to clusters.
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
		return dataflow.Close(verdicts{links(), read(p, "parts", parseLink), shared, scoreOf}, c.Verify, extsort.Messages(p.dir),
			&clusters{add: add, of: map[rows.TextID]rows.TextID{}})
	})
}

// common counts the pages of a site that have a sentence, of those that more than so
// many have.
func (p plain) common(on map[rows.TextID][]rows.Occurrence, unit func(sentence string) rarity.Unit, beyond int) dataflow.Pages {
	sightings := extsort.NewPairs(p.dir, 1000)
	defer func() { _ = sightings.Close() }()
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
		of := dataflow.SiteText{ID: text.ID, Text: text.Text}
		for site, address := range smallest {
			of.Pages = append(of.Pages, dataflow.SitePage{Site: site, Address: address})
		}
		for _, s := range dataflow.Sightings(nil, of, unit) {
			if err := sightings.Add(extsort.Pair{s.Sentence, s.Page}); err != nil {
				p.t.Fatal(err)
			}
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

// sites gives those of a text, sorted.
func sites(on []rows.Occurrence) (sites []uint64) {
	for _, o := range on {
		if o.Site != rows.NoSite && !slices.Contains(sites, o.Site) {
			sites = append(sites, o.Site)
		}
	}
	slices.Sort(sites)
	return sites
}

// texts gives the texts ready for comparison.
func (p plain) texts(on map[rows.TextID][]rows.Occurrence, frames dataflow.Pages) *dataflow.Texts {
	all := map[rows.TextID]dataflow.Text{}
	for text, err := range read(p, "texts", parseText) {
		if err != nil {
			p.t.Fatal(err)
		}
		text.Sites = sites(on[text.ID])
		all[text.ID] = text
	}
	common := p.common(on, rarity.UnitOf, p.config.Verify.RarePages)
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

// clusters implements dataflow.Clusters. What was assigned shows only when it is
// flushed.
type clusters struct {
	add     func(key, value []byte) error
	of      map[rows.TextID]rows.TextID
	pending []rows.Cluster
}

func (c *clusters) Assign(row rows.Cluster) error {
	c.pending = append(c.pending, row)
	value, err := json.Marshal(row)
	if err != nil {
		return err
	}
	return c.add(slices.Concat(row.Cluster[:], row.Member[:]), value)
}

func (c *clusters) Flush() error {
	for _, row := range c.pending {
		c.of[row.Member] = row.Cluster
	}
	c.pending = nil
	return nil
}

func (c *clusters) Of(t rows.TextID) (rows.TextID, bool, error) {
	representative, ok := c.of[t]
	return representative, ok, nil
}

// export writes the texts of a workspace and the pages that have them as plain files.
func (p plain) export(w *workspace.Workspace) {
	p.t.Helper()
	p.write("texts", func(add func(key, value []byte) error) error {
		for r, err := range w.DB.Table(store.TableText) {
			if err != nil {
				return err
			}
			value, err := r.Value()
			if err != nil {
				return err
			}
			if err := add(r.Key()[1:], value); err != nil {
				return err
			}
		}
		return nil
	})
	p.write("occurrences", func(add func(key, value []byte) error) error {
		for r, err := range w.DB.Table(store.TableOccurrence) {
			if err != nil {
				return err
			}
			o, err := r.Occurrence()
			if err != nil {
				return err
			}
			value, err := json.Marshal(o)
			if err != nil {
				return err
			}
			if err := add(r.Key()[1:], value); err != nil {
				return err
			}
		}
		return nil
	})
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
	inputs := map[string]string{"crawl": pipetest.Crawl(t), "texts": pipetest.WriteTexts(t, 0, planted)}
	for _, method := range [][]string{
		{"default"},
		{"default", "verify.rare_pages=1", "verify.rare_resemblance=0.9"}, // rarity decides about many pairs
		{"paper"},
		{"minhash-lsh"},
		{"shingling", "cluster.common=3"}, // an edge for each common signature
	} {
		for name, input := range inputs {
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
					p := plain{t, t.TempDir(), c}
					p.export(w)
					p.run(workers)
					links := same(t, "links", read(p, "links", parseLink), results.NearPairs(w))
					parts := same(t, "parts", read(p, "parts", parseLink), results.ScoredPairs(w, store.TablePart))
					clustered := same(t, "clusters", read(p, "clusters", func(_, value []byte) (row rows.Cluster, err error) {
						return row, json.Unmarshal(value, &row)
					}), storedClusters(w))
					if links == 0 || clustered == 0 || (c.Verify.Closing == configs.ClosingPartition) != (parts > 0) {
						t.Errorf("%d links, %d parts, %d texts in clusters", links, parts, clustered)
					}
				}
			})
		}
	}
}

func storedClusters(w *workspace.Workspace) iter.Seq2[rows.Cluster, error] {
	return func(yield func(rows.Cluster, error) bool) {
		for r, err := range w.DB.Table(store.TableCluster) {
			var row rows.Cluster
			if err == nil {
				row, err = results.ParseClusterRow(r)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}
