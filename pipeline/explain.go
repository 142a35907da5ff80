package pipeline

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"neardup/configs"
	"neardup/explain"
	"neardup/extract"
	"neardup/extract/container"
	"neardup/extract/text"
	"neardup/signature/simhash"
)

// Explain says what the method made of two pages of the workspace, which are
// named as findPage has it, and what became of them in the run.
func (w *Workspace) Explain(ctx context.Context, a, b string) (explain.Explanation, error) {
	e, err := w.explainPages(ctx, a, b)
	return e, w.explain(err)
}

func (w *Workspace) explainPages(ctx context.Context, a, b string) (e explain.Explanation, err error) {
	var pages [2]found
	for i, name := range [2]string{a, b} {
		if pages[i], err = w.findPage(ctx, name); err != nil {
			return e, err
		}
	}
	e, _, err = w.explainFound(ctx, pages)
	return e, err
}

// explainFound explains two pages, and gives what of their texts is compared.
func (w *Workspace) explainFound(ctx context.Context, pages [2]found) (e explain.Explanation, compared [2]string, err error) {
	p := explained{Workspace: w, ctx: ctx, pages: pages, first: map[textID]explain.Page{}}
	var sides [2]explain.Side
	for i := range pages {
		if p.texts[i], err = pages[i].textID(); err != nil {
			return e, compared, err
		}
		if sides[i], err = w.side(pages[i], p.texts[i]); err != nil {
			return e, compared, err
		}
		p.compared[i] = sides[i].Compared
	}
	if e, err = explain.Pair(w.config, sides[0], sides[1], searchScore(w.config)); err != nil {
		return e, compared, err
	}
	return e, p.compared, p.run(&e)
}

func (w *Workspace) side(f found, t textID) (s explain.Side, err error) {
	if s.Stored, err = w.text(t); err != nil {
		return s, err
	}
	s.Page = &explain.Page{RecordID: f.RecordID, URI: f.TargetURI, Date: f.Date, WARC: f.file, Offset: f.offset,
		TextID: hex.EncodeToString(t[:]), Title: f.Title}
	s.Compared, s.Whole, err = w.comparedText(t, s.Stored)
	return s, err
}

// ExplainFiles says what a config's method makes of two files, read as a crawl's
// pages are: HTML or plain text, of any charset, told by what they hold.
func ExplainFiles(config configs.Config, a, b string) (e explain.Explanation, err error) {
	var sides [2]explain.Side
	for i, name := range [2]string{a, b} {
		d, err := readPage(config.Extract, name)
		if err != nil {
			return e, err
		}
		cut := text.Cut(d.Text, config.Text.MaxColumns)
		sides[i] = explain.Side{File: name, Stored: d.Text, Compared: cut, Whole: cut}
	}
	return explain.Pair(config, sides[0], sides[1], searchScore(config))
}

// readPage makes a document of a file.
func readPage(o extract.Options, name string) (d extract.Document, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return d, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if !info.Mode().IsRegular() {
		return d, fmt.Errorf("%w: %s is no file", ErrUsage, name)
	}
	f, err := os.Open(name)
	if err != nil {
		return d, err
	}
	defer func() { _ = f.Close() }()
	block, err := io.ReadAll(io.LimitReader(f, o.MaxRecordBytes))
	if err != nil {
		return d, err
	}
	raw := container.Raw{Block: block, Length: info.Size(), Clipped: info.Size() > int64(len(block)), Header: []byte(
		"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:neardup:file>\r\n" +
			"WARC-Target-URI: file:///page\r\nWARC-Date: 1970-01-01T00:00:00Z\r\n\r\n")}
	d, reason := extract.NewExtractor(o).Document(&raw)
	switch {
	case reason == extract.ReasonEmpty || reason == extract.ReasonNoText:
		return extract.Document{}, nil // a text without anything in it
	case reason != extract.ReasonNone:
		return d, fmt.Errorf("%w: %s is no page (%s)", ErrUsage, filepath.Base(name), reason)
	}
	return d, nil
}

// searchScore scores two texts by a search that scores pairs itself.
func searchScore(config configs.Config) explain.Search {
	return func(a, b string) (s explain.SearchScore, err error) {
		s.Similarity, _, s.Scored, err = scoreTexts(config, a, b)
		if err != nil {
			return s, err
		}
		j := config.Cluster.Join
		switch {
		case config.Cluster.Search == configs.SearchHamming:
			differ := math.Round((1 - s.Similarity) * simhash.Bits)
			s.Known, s.Near = true, s.Scored && int(differ) <= config.Cluster.Hamming.Distance
			return s, nil
		case j.Weights == configs.JoinIDF:
			return s, nil
		}
		s.Known = true
		_, err = findSimilar(context.Background(), j, 1, [][]string{{a, b}}, func(_, _ int, _, _ float64) error {
			s.Near = true
			return nil
		})
		return s, err
	}
}

// IsPage tells whether an argument names a page of a workspace and not a file.
func IsPage(name string) bool {
	if strings.HasPrefix(name, "<") || strings.HasPrefix(name, "urn:") || strings.Contains(name, "://") {
		return true
	}
	_, err := os.Stat(name)
	return errors.Is(err, os.ErrNotExist)
}
