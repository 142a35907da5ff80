// Package explaining explains two pages of a workspace, or two files: what the
// method made of their texts, and what became of them in the run.
package explaining

import (
	"context"
	"encoding/hex"

	"neardup/explain"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/scores"
	"neardup/pipeline/workspace"
)

// Pages says what the method made of two pages of the workspace, which are
// named as FindPage has it, and what became of them in the run.
func Pages(ctx context.Context, w *workspace.Workspace, a, b string) (explain.Explanation, error) {
	e, err := explainPages(ctx, w, a, b)
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

// Found explains two pages, and gives what of their texts is compared.
func Found(ctx context.Context, w *workspace.Workspace, pages [2]results.Found) (e explain.Explanation, compared [2]string, err error) {
	p := explained{Workspace: w, ctx: ctx, pages: pages, first: map[rows.TextID]explain.Page{}}
	for i := range pages {
		if p.texts[i], err = pages[i].ParsedTextID(); err != nil {
			return e, compared, err
		}
	}
	sides, weighed, err := results.Sides(w, p.texts)
	if err != nil {
		return e, compared, err
	}
	for i, f := range pages {
		sides[i].Page = &explain.Page{RecordID: f.RecordID, URI: f.TargetURI, Date: f.Date, WARC: f.File, Offset: f.Offset,
			TextID: hex.EncodeToString(p.texts[i][:]), Title: f.Title}
		compared[i] = sides[i].Compared
	}
	p.sides = sides
	if e, err = explain.Pair(w.Config, sides[0], sides[1], weighed, scores.BySearch(w.Config)); err != nil {
		return e, compared, err
	}
	return e, compared, p.run(&e)
}
