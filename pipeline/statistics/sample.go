package statistics

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"sort"

	"golang.org/x/sync/errgroup"

	"neardup/explain"
	"neardup/extract"
	"neardup/pipeline/browsing"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/report"
	"neardup/report/static"
	"neardup/screen"
)

const (
	scoreBands    = 10 // bands of resemblance from which pairs are drawn
	excerptsShown = 3  // excerpts of a pair
)

// pair is a pair of texts of one cluster that were verified against each other,
// with a page of each. The second is the member.
type pair struct {
	name      string // why it is shown
	cluster   string
	documents [2]string
	texts     [2]string // textIDs, hexadecimal
	member    report.Member
	rank      [16]byte // random rank; the pairs with the smallest ranks are taken
}

// pair adds a pair of the present cluster whose texts differ to the samples. If several
// pages have the member's text, the first one is the member.
func (g *statistics) pair(p pair) {
	p.rank = rank(g.o.Seed, p.texts)
	band := &g.bands[bucket(p.member.Resemblance, scoreBands)]
	band.all++
	if band.wants(p) {
		band.add(p.clipped())
	}
	if k := g.present.shown; k != nil {
		k.pair(p)
	}
}

// pair keeps the pair if the cluster's page shows its differences.
func (k *shownCluster) pair(p pair) {
	if k.least == nil || cmp.Or(cmp.Compare(p.member.Resemblance, k.least.member.Resemblance), bytes.Compare(p.rank[:], k.least.rank[:])) < 0 {
		least := p.clipped()
		k.least = &least
	}
	if k.drawn == nil || bytes.Compare(p.rank[:], k.drawn.rank[:]) < 0 {
		drawn := p.clipped()
		k.drawn = &drawn
	}
}

// rank returns a random number for a pair. It depends only on the seed and the
// pair.
func rank(seed uint64, texts [2]string) [16]byte {
	h := sha256.Sum256(append(binary.BigEndian.AppendUint64(nil, seed), texts[0]+texts[1]...))
	return [16]byte(h[:16])
}

// clipped returns the pair with what is shown of its member, cut in length.
func (p pair) clipped() pair {
	page := shownPage(p.member)
	p.member = report.Member{RecordID: page.RecordID, URI: page.URI, Date: page.Date, Relation: p.member.Relation,
		Resemblance: p.member.Resemblance, Containment: p.member.Containment}
	return p
}

// sample holds the pairs of a band with the smallest ranks.
type sample struct {
	limit int
	all   int64
	pairs []pair
}

func (s *sample) place(p pair) int {
	at, _ := slices.BinarySearchFunc(s.pairs, p, func(a, b pair) int { return bytes.Compare(a.rank[:], b.rank[:]) })
	return at
}

func (s *sample) wants(p pair) bool { return s.place(p) < s.limit }

func (s *sample) add(p pair) {
	s.pairs = slices.Insert(s.pairs, s.place(p), p)
	s.pairs = s.pairs[:min(len(s.pairs), s.limit)]
}

// drawn returns the pairs of the sample: equally many of each band, as far as
// possible, from the lowest resemblance up.
func (g *statistics) drawn() (out []pair) {
	for i := 0; len(out) < g.o.Samples; i++ {
		none := true
		for _, band := range g.bands {
			if i < len(band.pairs) && len(out) < g.o.Samples {
				out, none = append(out, band.pairs[i]), false
			}
		}
		if none {
			break
		}
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		return cmp.Or(cmp.Compare(a.member.Resemblance, b.member.Resemblance), bytes.Compare(a.rank[:], b.rank[:])) < 0
	})
	return out
}

// report looks up what was kept and aligns the texts of the pairs that are shown.
func (g *statistics) report(ctx context.Context) (static.Report, error) {
	r := static.Report{Title: g.o.Title}
	var err error
	if g.Audits, err = g.audits(ctx); err != nil {
		return r, err
	}
	var kept []*keptCluster
	for i, l := range g.largest {
		for _, k := range l.of {
			if !slices.Contains(kept, k) {
				kept = append(kept, k)
			}
			switch i {
			case 1:
				g.Within.Largest = append(g.Within.Largest, k.ID)
			case 2:
				g.Across.Largest = append(g.Across.Largest, k.ID)
			}
		}
	}
	sort.Slice(kept, func(i, j int) bool {
		a, b := kept[i], kept[j]
		return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.ID, b.ID)) < 0
	})
	pairs := g.drawn()
	samples := len(pairs)
	for _, k := range kept {
		pairs = append(pairs, k.pairs...)
	}
	differences, err := g.differences(ctx, pairs)
	if err != nil {
		return r, err
	}
	r.Samples, differences = differences[:samples], differences[samples:]
	for _, k := range kept {
		if k.Title, err = g.title(k.document); err != nil {
			return r, err
		}
		k.Differences, differences = differences[:len(k.pairs)], differences[len(k.pairs):]
		r.Clusters = append(r.Clusters, k.Cluster)
	}
	if err := g.contained(ctx, &r); err != nil {
		return r, err
	}
	r.Statistics = g.Statistics
	return r, nil
}

// shownContained limits the contained pages that are listed.
const shownContained = 100

// contained lists the first pages that are contained in others, and counts the
// rest.
func (g *statistics) contained(ctx context.Context, r *static.Report) error {
	if g.Summary.Contained.Texts == 0 {
		return nil
	}
	return results.WriteGroups(ctx, g.w, func(p report.ContainedPage) error {
		if len(r.Contained) == shownContained {
			r.ContainedLeft++
			return nil
		}
		for _, s := range []*string{&p.URI, &p.InURI} {
			*s = screen.Characters(*s, shownText)
		}
		r.Contained = append(r.Contained, p)
		return nil
	})
}

func (g *statistics) title(document string) (string, error) {
	d, err := g.stored(document)
	return screen.Text(d.Title, shownText), err
}

func (g *statistics) stored(document string) (d rows.Document, err error) {
	id, err := hex.DecodeString(document)
	if err != nil || len(id) != len(extract.ID{}) {
		return d, layout.Corrupt([]byte(document))
	}
	documents, err := g.w.DB.Seeker(layout.TableDocument)
	if err != nil {
		return d, err
	}
	defer func() { _ = documents.Close() }()
	s, err := results.ReadDocument[rows.Document](documents, extract.ID(id))
	return s.Row, err
}

// differences aligns the texts of pairs, several concurrently.
func (g *statistics) differences(ctx context.Context, pairs []pair) ([]static.Difference, error) {
	out := make([]static.Difference, len(pairs))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(g.w.Options.Workers)
	for i, p := range pairs {
		group.Go(func() (err error) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			out[i], err = g.difference(p)
			return err
		})
	}
	return out, group.Wait()
}

func (g *statistics) difference(p pair) (static.Difference, error) {
	d := static.Difference{Name: p.name, Cluster: p.cluster, Relation: p.member.Relation, Resemblance: p.member.Resemblance, Containment: p.member.Containment}
	var texts [2]rows.TextID
	for i, page := range []*static.Page{&d.A, &d.B} {
		stored, err := g.stored(p.documents[i])
		if err != nil {
			return d, err
		}
		*page = static.Page{RecordID: screen.Characters(stored.RecordID, shownText), URI: screen.Characters(stored.TargetURI, shownText),
			Date: shownDate(stored.Date), Title: screen.Text(stored.Title, shownText)}
		if texts[i], err = layout.ParseTextID(p.texts[i]); err != nil {
			return d, err
		}
	}
	sides, between, err := results.Sides(g.w, texts)
	if err != nil {
		return d, err
	}
	e, err := explain.Pair(g.w.Config, sides[0], sides[1], between)
	if err != nil {
		return d, err
	}
	n := e.Diff.Characters
	d.Same, d.OnlyA, d.OnlyB, d.Moved = n[explain.Trusted]+n[explain.Same], n[explain.OnlyA], n[explain.OnlyB], n[explain.MovedA]+n[explain.MovedB]
	excerpts, all := e.Diff.Excerpts(excerptsShown)
	d.Left = all - len(excerpts)
	for _, excerpt := range excerpts {
		var pieces static.Excerpt
		for _, piece := range excerpt.Pieces {
			pieces = append(pieces, static.Piece{Kind: pieceKind(piece.Kind), Text: piece.Text, Left: piece.Left, End: piece.End})
		}
		d.Excerpts = append(d.Excerpts, pieces)
	}
	return d, nil
}

func pieceKind(k explain.Kind) static.PieceKind {
	switch k {
	case explain.OnlyA:
		return static.OnlyA
	case explain.OnlyB:
		return static.OnlyB
	case explain.MovedA:
		return static.MovedA
	case explain.MovedB:
		return static.MovedB
	}
	return static.Both
}

// audits returns the results of samples that people judged.
func (g *statistics) audits(ctx context.Context) (out []static.Audit, err error) {
	auditor := browsing.Auditor(g.w)
	all, err := auditor.Audits(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if !a.Design.OfClusters() {
			continue // its share of true pairs is no precision of these
		}
		r, err := auditor.Result(ctx, a.Name)
		if err != nil {
			return nil, err
		}
		if r.Overall.Known() {
			out = append(out, static.Audit{Name: a.Name, Sample: string(a.Design.Population), Different: a.Design.Different,
				Missing: len(r.Overall.Missing), Pairs: r.Overall.True + r.Overall.False, Value: r.Overall.Value,
				Low: r.Overall.Low, High: r.Overall.High, Judges: len(r.Judges), Outdated: !a.Current})
		}
	}
	return out, nil
}
