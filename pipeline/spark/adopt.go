package spark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"neardup/cluster/search"
	"neardup/pipeline/blocks"
	"neardup/pipeline/extsort"
	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// Finished returns an error if the output directory lacks a step, or has those of
// another version of the program.
func (p *Plan) Finished(dir string) error {
	if err := p.Current(); err != nil {
		return err
	}
	for i, s := range p.Steps {
		done, err := s.Done(dir)
		if err != nil {
			return err
		}
		if !done {
			return fmt.Errorf("%w: the run in %s is not finished: step %d of %d, %s, is missing", workspace.ErrUsage, dir, i+1, len(p.Steps), s.ID)
		}
	}
	return nil
}

// Adopt fills the tables of a new workspace with the result in an output directory.
// The workspace is then as after a run of the same archives on one machine. Progress
// is reported as that of a stage.
func Adopt(ctx context.Context, p *Plan, dir string, w *workspace.Workspace) error {
	if err := p.Finished(dir); err != nil {
		return err
	}
	read, err := p.Sources(dir)
	if err != nil {
		return err
	}
	if err := inputs.Twins(read); err != nil {
		return err
	}
	known, err := w.Sources()
	if err != nil {
		return err
	}
	for _, st := range w.Stages {
		_, begun, err := w.State(st.Name)
		if err != nil {
			return err
		}
		if begun || len(known) > 0 {
			return fmt.Errorf("%w: %s is not a new workspace", workspace.ErrUsage, w.Dir)
		}
	}
	w.Options.Progress.Start("adopt", "", dir)
	err = fill(ctx, p, dir, w)
	w.Options.Progress.Stop(err)
	return err
}

func fill(ctx context.Context, p *Plan, dir string, w *workspace.Workspace) error {
	byLetter := map[string][]Dataset{}
	var letters []string
	for _, d := range p.Tables {
		if byLetter[d.Letter] == nil {
			letters = append(letters, d.Letter)
		}
		byLetter[d.Letter] = append(byLetter[d.Letter], d)
	}
	w.Options.Progress.Total(int64(len(letters)), "tables")
	// A source that is there makes the workspace one that is not new. So sources come
	// last, and an adoption that was interrupted can be repeated.
	for _, last := range []bool{false, true} {
		for _, letter := range letters {
			if (letter == "i") != last {
				continue
			}
			if err := fillTable(ctx, p, dir, w, letter[0], byLetter[letter]); err != nil {
				return err
			}
			w.Options.Progress.Add(1)
		}
	}
	counted, err := p.counted(dir)
	if err != nil {
		return err
	}
	if err := stages.Adopt(ctx, w, counted); err != nil {
		return err
	}
	return w.Unread()
}

// fillTable fills a table with the rows of datasets.
func fillTable(ctx context.Context, p *Plan, dir string, w *workspace.Workspace, letter byte, datasets []Dataset) error {
	b := w.DB.Batch()
	if err := errors.Join(b.Clear(letter), b.Commit()); err != nil { // of an adoption that was interrupted
		return err
	}
	sorter := extsort.New(w.DB.Tmp)
	defer func() { _ = sorter.Close() }()
	n := 0
	for _, d := range datasets {
		for e, err := range p.rows(dir, d) {
			if n++; err == nil && n&0xfff == 0 {
				err = ctx.Err()
			}
			if err == nil {
				if letter == layout.TablePosting {
					e.Value = nil // the sites, which only the lists need
				}
				err = sorter.Add(append([]byte{letter}, e.Key...), e.Value)
			}
			if err != nil {
				return err
			}
		}
	}
	return w.DB.IngestSorted(ctx, sorter.Sorted())
}

// rows yields the rows of a dataset, partition by partition.
func (p *Plan) rows(dir string, d Dataset) iter.Seq2[extsort.Entry, error] {
	return func(yield func(extsort.Entry, error) bool) {
		files, done, err := stepFiles(dir, d.Step)
		if err == nil && !done {
			err = fmt.Errorf("step %s is not done", d.Step)
		}
		if err != nil {
			yield(extsort.Entry{}, err)
			return
		}
		for partition := range p.Partitions {
			name := fmt.Sprintf("%s-%05d", d.Letter, partition)
			if _, ok := files[name]; !ok {
				continue // no rows
			}
			for e, err := range fileRows(filepath.Join(dir, "steps", d.Step, name)) {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// fileRows yields the rows of a file of frames.
func fileRows(path string) iter.Seq2[extsort.Entry, error] {
	return func(yield func(extsort.Entry, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(extsort.Entry{}, err)
			return
		}
		defer func() { _ = f.Close() }()
		r := blocks.NewReader(f)
		for {
			frame, err := r.Next()
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(extsort.Entry{}, fmt.Errorf("%s: %w", path, err))
				return
			}
			for e, err := range frame.Rows() {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// counted sums up what the tasks counted.
func (p *Plan) counted(dir string) (c stages.Counted, err error) {
	filterOf := map[string]string{}
	for _, s := range p.Steps {
		filterOf[s.ID] = s.Filter
	}
	for _, d := range p.Counts {
		for e, err := range p.rows(dir, d) {
			if err != nil {
				return c, err
			}
			var sum search.Counts
			var verified rows.VerifyCounts
			switch filterOf[d.Step] {
			case "verify", "part":
				err = json.Unmarshal(e.Value, &verified)
			default:
				err = json.Unmarshal(e.Value, &sum)
			}
			if err != nil {
				return c, fmt.Errorf("counts of %s: %w", d.Step, err)
			}
			c.ListCounts.Add(sum.ListCounts)
			c.Edges += sum.Edges
			c.Verified.Add(verified)
			c.Verified.Partition.Add(verified.Partition)
		}
	}
	return c, nil
}

// Sources returns the archives of the plan as they were read.
func (p *Plan) Sources(dir string) (sources []inputs.Source, err error) {
	for _, d := range p.Tables {
		if d.Letter != "i" {
			continue
		}
		for e, err := range p.rows(dir, d) {
			if err != nil {
				return nil, err
			}
			var s inputs.Source
			if err := json.Unmarshal(e.Value, &s); err != nil {
				return nil, err
			}
			sources = append(sources, s)
		}
	}
	return sources, nil
}
