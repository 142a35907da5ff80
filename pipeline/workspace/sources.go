package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"neardup/extract/container"
	"neardup/pipeline/store"
)

// Sources returns the inputs that the workspace knows, by path.
func (w *Workspace) Sources() ([]Source, error) {
	var out []Source
	for r, err := range w.DB.Table(store.TableSource) {
		if err != nil {
			return nil, err
		}
		var s Source
		if err := r.JSON(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// SourcesGeneration names what extract reads. Only files of which something
// could be read count, up to where they could, and where they lie does not.
func SourcesGeneration(known []Source) string {
	var ids []string
	for _, s := range known {
		id := fmt.Sprintf("%s %d %s", s.Name, s.Size, s.Sample)
		if s.State == SourceUnreadable {
			if s.Counts.Records == 0 {
				continue
			}
			id += fmt.Sprintf(" to record %d", s.Counts.Records)
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return Digest(strings.Join(ids, "\n"))
}

// Admit records the inputs of a run. A file that changed since it was read
// makes the extraction start over, for which all files must still be there.
func (w *Workspace) Admit(ctx context.Context, inputs []Source) error {
	b := w.DB.Batch()
	halfRead, err := w.refreshPending(ctx, b, len(inputs) > 0)
	if err != nil {
		return err
	}
	inputs, err = w.retry(b, inputs)
	if err != nil {
		return err
	}
	changed, err := w.forgetMembers(b, inputs)
	if err != nil {
		return err
	}
	changed = cmp.Or(changed, halfRead)
	for _, s := range inputs {
		var old Source
		known, err := w.DB.GetJSON(store.SourceKey(s.Path), &old)
		if err != nil {
			return err
		}
		if s.State == SourceUnreadable {
			w.Options.Progress.Warn("cannot read file", "file", ShowName(s.Path), "error", s.Error)
			if known && (old.State != SourceUnreadable || old.Counts.Records > 0) {
				continue // what was read of it stays
			}
		} else if known && old.State != SourceUnreadable {
			if s.Size == old.Size && s.Sample == old.Sample {
				continue
			}
			changed = s.Path
		} else if known && old.Counts.Records > 0 && (old.Changed || s.Size != old.Size || s.Sample != old.Sample) {
			changed = s.Path
		}
		if err := b.SetJSON(store.SourceKey(s.Path), s); err != nil {
			return err
		}
	}
	if changed != "" {
		if err := w.restartExtraction(b, changed); err != nil {
			return err
		}
	}
	return b.Commit()
}

// forgetMembers removes sources that a file among the inputs held and holds no
// more: a WACZ file that was written anew. It returns one that had been read.
func (w *Workspace) forgetMembers(b store.Batch, inputs []Source) (changed string, err error) {
	files, paths := map[string]bool{}, map[string]bool{}
	for _, s := range inputs {
		files[s.file()] = files[s.file()] || s.State != SourceUnreadable
		paths[s.Path] = true
	}
	known, err := w.Sources()
	if err != nil {
		return "", err
	}
	for _, s := range known {
		if paths[s.Path] || !files[s.file()] {
			continue
		}
		if s.State != SourceUnreadable || s.Counts.Records > 0 {
			changed = s.Path
		}
		if err := b.Delete(store.SourceKey(s.Path)); err != nil {
			return "", err
		}
	}
	return changed, nil
}

// retry adds the files that could not be read before to a run that names no
// inputs; a run that names its inputs forgets those that are not among them.
func (w *Workspace) retry(b store.Batch, inputs []Source) ([]Source, error) {
	named := map[string]bool{}
	for _, s := range inputs {
		named[s.Path] = true
	}
	known, err := w.Sources()
	if err != nil {
		return nil, err
	}
	again := len(inputs) == 0
	for _, s := range known {
		switch {
		case s.State != SourceUnreadable || named[s.Path]:
		case again && w.trial == nil && isGone(s): // what a trial took in stays said in each of its runs
			w.Options.Progress.Warn("file is gone; the run does without what was not read of it", "file", ShowName(s.Path), "records", s.Counts.Records)
			s.Gone = true
			if err := b.SetJSON(store.SourceKey(s.Path), s); err != nil {
				return nil, err
			}
		case again:
			found := findSources(s.file(), true, w.Config.Extract.Limits)
			if !slices.ContainsFunc(found, func(f Source) bool { return f.Path == s.Path }) && s.Counts.Records == 0 {
				if err := b.Delete(store.SourceKey(s.Path)); err != nil { // a WACZ file that could not be opened, and now can
					return nil, err
				}
			}
			for _, f := range found {
				if !named[f.Path] {
					named[f.Path] = true
					inputs = append(inputs, f)
				}
			}
		case s.Counts.Records == 0:
			if err := b.Delete(store.SourceKey(s.Path)); err != nil {
				return nil, err
			}
		}
	}
	return inputs, nil
}

// isGone reports whether there is no such file any more. A run that does not name
// it does without.
func isGone(s Source) bool {
	_, err := os.Lstat(s.file())
	return errors.Is(err, fs.ErrNotExist)
}

// restartExtraction makes the next extraction begin anew because file changed.
func (w *Workspace) restartExtraction(b store.Batch, file string) error {
	known, err := w.Sources()
	if err != nil {
		return err
	}
	for _, s := range known {
		if _, err := os.Stat(s.file()); err != nil && s.State != SourceUnreadable {
			return fmt.Errorf("%s has changed since it was read, so everything must be read again, but %w; start a new workspace", file, err)
		}
	}
	w.Options.Progress.Warn("file changed since it was read: everything is extracted again", "file", file)
	return b.Delete(store.MetaKey("stage/" + StageExtract))
}

// forgetProgress makes all sources unread. They must all still be there.
func (w *Workspace) forgetProgress(b store.Batch) error {
	known, err := w.Sources()
	if err != nil {
		return err
	}
	files := comparer{limits: w.Config.Extract.Limits}
	for _, s := range known {
		if s.State == SourceUnreadable {
			continue
		}
		if same, err := files.unchanged(s); err != nil {
			return fmt.Errorf("everything must be read again, but %w; start a new workspace", err)
		} else if !same {
			return fmt.Errorf("everything must be read again, but %s has changed; name it among the inputs", s.Path)
		}
		s.State, s.Position, s.Counts, s.Ended = SourcePending, container.Position{}, RecordCounts{Skipped: map[string]int64{}}, nil
		s.Digested, s.SHA256 = nil, ""
		if err := b.SetJSON(store.SourceKey(s.Path), s); err != nil {
			return err
		}
	}
	return nil
}
