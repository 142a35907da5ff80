package trials

import (
	"context"
	"encoding/json"
	"errors"

	"neardup/compare"
	"neardup/configs"
	"neardup/extract"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/truth"
)

// dispute fills in pairs about which the first method and another one disagree.
func (c *comparison) dispute(ctx context.Context, out *compare.Comparison) error {
	if c.Disputed == 0 {
		return nil
	}
	var ids [][16]byte
	for _, t := range c.texts {
		ids = append(ids, t)
	}
	for _, g := range out.Agreement[:len(out.Methods)-1] { // those of the first method
		other := 1 + len(out.Disputed)/2
		for _, way := range []struct {
			joins, parts int
			d            compare.Disputed
		}{
			{0, other, compare.Disputed{Joins: g.A, Parts: g.B, Pairs: g.OnlyA}},
			{other, 0, compare.Disputed{Joins: g.B, Parts: g.A, Pairs: g.OnlyB}},
		} {
			way.d.Shown = []compare.DisputedPair{}
			dispute := compare.Dispute{Joins: c.of[way.joins], Parts: c.of[way.parts], Pages: c.pages, IDs: ids,
				Judged: func(i int32) bool { return len(c.judged[i]) > 0 },
				Labelled: func(p compare.Pair) bool {
					label, ok := c.label(p)
					return ok && label != truth.Unjudged
				}}
			for _, p := range dispute.Pairs(c.Disputed) {
				shown, err := c.disputedPair(ctx, p, c.Plan.Methods[way.joins].Config, c.Plan.Methods[way.parts].Config)
				if err != nil {
					return err
				}
				way.d.Shown = append(way.d.Shown, shown)
			}
			out.Disputed = append(out.Disputed, way.d)
		}
	}
	return nil
}

// judgedPair returns the judged pages that stand for a pair.
func (c *comparison) judgedPair(p compare.Pair) (x, y judgedPage, ok bool) {
	a, b := c.judged[p[0]], c.judged[p[1]]
	if p[0] == p[1] && len(b) > 0 {
		b = b[1:]
	}
	if len(a) == 0 || len(b) == 0 || a[0].page == b[0].page {
		return x, y, false
	}
	return a[0], b[0], true
}

// label returns the truth's label of a pair. ok is false if it has none.
func (c *comparison) label(p compare.Pair) (l truth.Label, ok bool) {
	x, y, ok := c.judgedPair(p)
	if !ok {
		return l, false
	}
	return c.Truth.Label(x.page, y.page), true
}

func (c *comparison) disputedPair(ctx context.Context, p compare.Pair, joins, parts configs.Config) (out compare.DisputedPair, err error) {
	if label, ok := c.label(p); ok {
		out.Label = compare.LabelName(label)
	}
	if out.Pages, err = c.pagesOf(p); err != nil {
		return out, err
	}
	a, b := c.texts[p[0]], c.texts[p[1]]
	for i, config := range []configs.Config{joins, parts} {
		if err := c.learned(ctx, config); err != nil {
			return out, err
		}
		r, contained, ok, err := scorePair(c.variants.Workspace, config, a, b)
		if err != nil {
			return out, err
		}
		if ok {
			out.Scores[i] = &compare.Scores{Resemblance: report.Score(r), Containment: report.Score(contained)}
		}
	}
	var texts [2]string
	for i, t := range []rows.TextID{a, b} {
		if texts[i], err = results.TextOf(c.variants.Workspace, t); err != nil {
			return out, err
		}
	}
	out.Difference = compare.Differ(texts[0], texts[1])
	return out, ctx.Err()
}

// pagesOf returns the pages that stand for a pair: judged ones if there are any,
// otherwise those with the smallest IDs.
func (c *comparison) pagesOf(p compare.Pair) (out [2]compare.Page, err error) {
	finder, err := results.NewPageFinder(c.DB)
	if err != nil {
		return out, err
	}
	defer finder.Close()
	var ids [2]extract.ID
	if x, y, ok := c.judgedPair(p); ok {
		ids = [2]extract.ID{x.id, y.id}
	} else {
		for i, text := range p {
			passed := 0 // pages of the first text that were passed, if both texts are the same
			for r, err := range finder.Occurrences.Rows(layout.OccurrencesOf(c.texts[text])) {
				if err != nil {
					return out, err
				}
				if _, ids[i], err = layout.ParseOccurrenceKey(r.Key()); err != nil {
					return out, err
				}
				if passed++; p[0] != p[1] || passed > i {
					break
				}
			}
		}
	}
	for i, id := range ids {
		m, err := finder.Page(id)
		if err != nil {
			return out, err
		}
		out[i] = compare.Page{RecordID: m.RecordID, URI: m.URI, Date: m.Date}
	}
	return out, nil
}

// learned learns the frames for the config, if it uses frames and the workspace has
// others.
func (c *comparison) learned(ctx context.Context, config configs.Config) error {
	if config.Text.Frames == 0 {
		return nil
	}
	var signed struct {
		Text struct {
			Frames int `json:"frames"`
		} `json:"text"`
	}
	s, ok, err := c.variants.State(workspace.StageSign)
	if err == nil && ok {
		err = json.Unmarshal(s.Options, &signed)
	}
	if err != nil || s.Done && signed.Text.Frames == config.Text.Frames {
		return err
	}
	if err := c.With(config).Run(ctx, workspace.StageExtract, workspace.StageSign, nil); !errors.Is(err, workspace.ErrInputFailure) {
		return err
	}
	return nil
}

// scorePair returns the scores of two texts by the measure of a config, complete
// also for pairs that the measure would reject early. ok is false if there is
// nothing to compare. It uses the frames that the workspace has learned.
func scorePair(w *workspace.Workspace, config configs.Config, a, b rows.TextID) (resemblance, containment float64, ok bool, err error) {
	return stages.Scored(w.With(config), a, b)
}
