// Package explaining explains a pair of pages of a workspace, or a pair of files:
// how the method compares their texts, and what happened to them in the run.
package explaining

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"

	"neardup/explain"
	"neardup/extract"
	"neardup/pipeline/groups"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// Pages explains two pages of the workspace, which are named as for
// results.FindPage: how the method compares them, and what happened to them in the
// run.
func Pages(ctx context.Context, w *workspace.Workspace, a, b string) (explain.Explanation, error) {
	e, err := explainPages(ctx, w, a, b)
	if errors.Is(err, layout.ErrCorrupt) { // rows of another version may have another form
		err = cmp.Or(w.Current(workspace.StageVerify), err)
	}
	return e, w.ExplainError(err)
}

func explainPages(ctx context.Context, w *workspace.Workspace, a, b string) (e explain.Explanation, err error) {
	var pages [2]results.Found
	for i, name := range [2]string{a, b} {
		if pages[i], err = results.FindPage(ctx, w, name); err != nil {
			return e, err
		}
	}
	e, _, err = Found(ctx, w, pages)
	return e, err
}

// Found explains two pages and also returns the compared forms of their texts. Long
// texts take seconds in each of its two comparisons, before which it looks at ctx.
func Found(ctx context.Context, w *workspace.Workspace, pages [2]results.Found) (e explain.Explanation, compared [2]string, err error) {
	config, err := w.Method()
	if err != nil {
		return e, compared, err
	}
	w = w.With(config)
	p := explained{Workspace: w, ctx: ctx, pages: pages, first: map[rows.TextID]explain.Page{}}
	if p.places, err = results.Places(w); err != nil {
		return e, compared, err
	}
	for i := range pages {
		if p.texts[i], err = layout.ParseTextID(pages[i].TextID); err != nil {
			return e, compared, err
		}
	}
	if err := ctx.Err(); err != nil {
		return e, compared, err
	}
	sides, between, err := results.Sides(w, p.texts)
	if err != nil {
		return e, compared, err
	}
	for i, f := range pages {
		sides[i].Page = &explain.Page{RecordID: f.RecordID, URI: f.TargetURI, Date: f.Date, WARC: groups.FileOf(f.Source), Offset: f.Offset,
			TextID: hex.EncodeToString(p.texts[i][:]), Title: f.Title, Byline: f.Byline, Unsure: f.Choices&extract.ChoiceMainUnsure != 0}
		sides[i].Page.Path, sides[i].Page.Entry = p.places.Of(f.Source)
		compared[i] = sides[i].Compared
	}
	p.sides = sides
	if err := ctx.Err(); err != nil {
		return e, compared, err
	}
	if e, err = explain.Pair(w.Config, sides[0], sides[1], between); err != nil {
		return e, compared, err
	}
	return e, compared, p.run(&e)
}
