package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
	"neardup/pipeline/store"
)

// Sources returns the inputs that the workspace knows, ordered by path.
func (w *Workspace) Sources() ([]inputs.Source, error) {
	var out []inputs.Source
	for r, err := range w.DB.Table(layout.TableSource) {
		if err != nil {
			return nil, err
		}
		row, err := r.Value()
		if err != nil {
			return nil, err
		}
		s, err := w.sources.Source(r.Key(), row)
		if err != nil {
			return nil, fmt.Errorf("%w (%w)", layout.Corrupt(r.Key()), err)
		}
		s.In(w.Dir)
		out = append(out, s)
	}
	return out, nil
}

// SourcesGeneration identifies the input of extract. Files count up to where they could be
// read; those from which nothing could be read count by their names, since the counts of
// extract have them. Paths do not count.
func SourcesGeneration(known []inputs.Source) string {
	var ids []string
	for _, s := range known {
		id := fmt.Sprintf("%s %d %s", s.Name, s.Size, s.Sample)
		if s.State == inputs.Unreadable {
			if s.Counts.Records == 0 {
				ids = append(ids, s.Name+" unreadable")
				continue
			}
			id += fmt.Sprintf(" to record %d", s.Counts.Records)
		}
		if s.Withdrawn != "" {
			id += " without " + s.Withdrawn
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return Digest(strings.Join(ids, "\n"))
}

// Admit records the inputs of a run. If a file changed since it was read,
// extraction starts over, and all files must still exist.
func (w *Workspace) Admit(ctx context.Context, sources []inputs.Source) error {
	b := w.DB.Batch()
	halfRead, err := w.refreshPending(ctx, b, sources)
	if err != nil {
		return err
	}
	if len(sources) == 0 && w.trial == nil {
		if err := w.warnOfGone(ctx); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(sources, inputs.Source.IsCopy) { // the workspace may have been moved
		known, err := w.Sources()
		if err != nil {
			return err
		}
		sources = inputs.AsKnown(sources, known)
	}
	if sources, err = w.withoutWithdrawn(ctx, sources); err != nil {
		return err
	}
	sources, err = w.retry(ctx, b, sources)
	if err != nil {
		return err
	}
	changed, err := w.forgetMembers(b, sources)
	if err != nil {
		return err
	}
	changed = cmp.Or(changed, halfRead)
	if err := w.tellApart(ctx, sources); err != nil {
		return err
	}
	for _, s := range sources {
		var old inputs.Source
		known, err := w.DB.GetJSON(layout.SourceKey(s.Path), &old)
		if err != nil {
			return err
		}
		s.Again = old.Again
		if s.State == inputs.Unreadable {
			w.Options.Progress.Warn("cannot read file", "file", s.Shown(), "error", s.Error)
			if known && (old.State != inputs.Unreadable || old.Counts.Records > 0) {
				continue // what was read of it stays
			}
		} else if known && old.State != inputs.Unreadable {
			if s.Size == old.Size && s.Sample == old.Sample {
				continue
			}
			changed = s.Path
		} else if known && old.Counts.Records > 0 {
			same, err := w.goesOn(ctx, old, s)
			if err != nil {
				return err
			}
			if same {
				s.GoOn(old)
			} else {
				changed = s.Path
			}
		}
		if err := b.SetJSON(layout.SourceKey(s.Path), s); err != nil {
			return err
		}
	}
	if changed != "" {
		if err := w.restartExtraction(ctx, b, changed); err != nil {
			return err
		}
	}
	if b.Count() > 0 {
		if err := w.keepFinished(); err != nil {
			return err
		}
	}
	return b.Commit()
}

// lacks returns an error that wraps ErrUsage if an extraction that started over has not read
// all again that was read before, and a source of that is not as it was and not among the
// inputs. A run would go on without its pages.
func (w *Workspace) lacks(ctx context.Context, known, sources []inputs.Source) error {
	named := map[string]bool{}
	for _, s := range sources {
		named[s.FilePath()] = named[s.FilePath()] || s.State != inputs.Unreadable
	}
	again := slices.DeleteFunc(slices.Clone(known), func(s inputs.Source) bool { return !s.ReadAgain() || named[s.FilePath()] })
	return w.readable(ctx, again, Unfinished, "a run that was to do so did not")
}

// StartsOver reports whether an extraction that was begun reads everything again, or will.
func (w *Workspace) StartsOver(s StageState, known []inputs.Source) bool {
	reason, _ := assess(w.Stages[0], s, true, w.Config, s.Input, JudgedSet{}, ScoreSet{})
	return reason == Outdated || reason == Changed || slices.ContainsFunc(known, inputs.Source.ReadAgain)
}

// goesOn reports whether a source that could not be read to its end is still the file of
// which a part was read, so that the rest can be read now.
func (w *Workspace) goesOn(ctx context.Context, old, now inputs.Source) (bool, error) {
	if old.Changed || old.Size != now.Size || old.Sample != now.Sample || old.Tag != now.Tag {
		return false, nil
	}
	if old.Digested == nil {
		return true, nil
	}
	now.Digested = old.Digested
	same, err := now.BeginsAsRead(ctx, w.Config.Extract.Limits)
	if err != nil && ctx.Err() == nil {
		return true, nil // extract reports it
	}
	return same, err
}

// tellApart returns an error if an input has the ID of another one and is another file: of
// the same name, and alike where samples are taken. Then nobody could tell their records
// apart. It reads the files that look alike, unless they were read before; of objects in
// a store only the sizes count.
func (w *Workspace) tellApart(ctx context.Context, sources []inputs.Source) error {
	known, err := w.Sources()
	if err != nil {
		return err
	}
	of, read := map[string]inputs.Source{}, map[string]inputs.Source{}
	for _, s := range known {
		read[s.Path] = s
	}
	named := map[string]bool{}
	sources = slices.Clone(sources)
	for i, s := range sources {
		if old := read[s.Path]; old.Size == s.Size && old.Sample == s.Sample {
			sources[i].SHA256 = old.SHA256
		}
		named[s.Path] = true
	}
	for _, s := range known {
		if s.Sample != "" && !named[s.Path] {
			of[s.ID()] = s
		}
	}
	for _, s := range sources {
		if s.Sample == "" {
			continue
		}
		if other, ok := of[s.ID()]; ok {
			same, err := s.HasContentOf(ctx, other, w.Config.Extract.Limits)
			if err != nil {
				return err
			}
			if !same {
				return fmt.Errorf("%w: %w", ErrUsage, inputs.ErrTwins(other, s))
			}
		}
		of[s.ID()] = s
	}
	return nil
}

// forgetMembers removes sources that were members of an input and no longer are,
// because a WACZ file was rewritten. It returns the name of one from which
// something had been read.
func (w *Workspace) forgetMembers(b store.Batch, sources []inputs.Source) (changed string, err error) {
	files, paths := map[string]bool{}, map[string]bool{}
	for _, s := range sources {
		files[s.FilePath()] = files[s.FilePath()] || s.State != inputs.Unreadable
		paths[s.Path] = true
	}
	known, err := w.Sources()
	if err != nil {
		return "", err
	}
	for _, s := range known {
		if paths[s.Path] || !files[s.FilePath()] {
			continue
		}
		if s.State != inputs.Unreadable || s.Counts.Records > 0 {
			changed = s.Path
		}
		if err := b.Delete(layout.SourceKey(s.Path)); err != nil {
			return "", err
		}
	}
	return changed, nil
}

// retry adds earlier inputs that could not be read to a run that names no inputs. A
// run that names its inputs forgets failed ones that it does not name and that were never read.
func (w *Workspace) retry(ctx context.Context, b store.Batch, sources []inputs.Source) ([]inputs.Source, error) {
	named := map[string]bool{}
	for _, s := range sources {
		named[s.Path] = true
	}
	known, err := w.Sources()
	if err != nil {
		return nil, err
	}
	again := len(sources) == 0
	for _, s := range known {
		switch {
		case s.State != inputs.Unreadable || named[s.Path]:
		case again && w.trial == nil && s.IsGone(ctx): // a trial repeats in each run what it admitted once
			w.Options.Progress.Warn("file is gone; the run does without what was not read of it", "file", s.Shown(), "records", s.Counts.Records)
			s.Gone = true
			if err := b.SetJSON(layout.SourceKey(s.Path), s); err != nil {
				return nil, err
			}
		case again || s.Again && s.Counts.Records == 0: // what was read before is not forgotten
			found := s.FindAgain(ctx, w.Config.Extract.Limits)
			if !slices.ContainsFunc(found, func(f inputs.Source) bool { return f.Path == s.Path }) && s.Counts.Records == 0 {
				if err := b.Delete(layout.SourceKey(s.Path)); err != nil { // a WACZ file that could not be opened before, and now can
					return nil, err
				}
			}
			for _, f := range found {
				if !named[f.Path] {
					named[f.Path] = true
					sources = append(sources, f)
				}
			}
		case s.Counts.Records == 0:
			w.Options.Progress.Warn("file that could not be read is forgotten, because other inputs are named", "file", s.Shown())
			if err := b.Delete(layout.SourceKey(s.Path)); err != nil {
				return nil, err
			}
		}
	}
	return sources, nil
}

// Forget removes sources from which nothing was read.
func (w *Workspace) Forget(sources ...inputs.Source) error {
	if len(sources) == 0 {
		return nil
	}
	b := w.DB.Batch()
	for _, s := range sources {
		if err := b.Delete(layout.SourceKey(s.Path)); err != nil {
			return errors.Join(err, b.Close())
		}
	}
	return errors.Join(b.Commit(), w.Publish())
}

// restartExtraction makes the next extraction start over because file changed.
func (w *Workspace) restartExtraction(ctx context.Context, b store.Batch, file string) error {
	known, err := w.Sources()
	if err != nil {
		return err
	}
	for _, s := range known {
		if err := s.CheckThere(ctx); err != nil && s.State != inputs.Unreadable {
			return fmt.Errorf("%w: everything must be read again (%s has changed), but %w; put it back, withdraw it with neardup remove, or start a new workspace", ErrUsage, file, err)
		}
	}
	w.Options.Progress.Warn("file changed since it was read: everything is extracted again", "file", file)
	return b.Delete(layout.MetaKey("stage/" + StageExtract))
}

// forgetProgress marks all sources as unread. Those of which something was read must be
// as they were.
func (w *Workspace) forgetProgress(ctx context.Context, b store.Batch, reason Reason, why string) error {
	known, err := w.Sources()
	if err != nil {
		return err
	}
	if err := w.readable(ctx, known, reason, why); err != nil {
		return err
	}
	for _, s := range known {
		if s.State == inputs.Unreadable && s.IsUnread() && !s.Again {
			continue
		}
		s.Forget()
		if err := b.SetJSON(layout.SourceKey(s.Path), s); err != nil {
			return err
		}
	}
	return nil
}

// MayExtract returns an error that wraps ErrUsage if the next run has to read everything
// again, because the program or its settings are others, and cannot read the sources.
func (w *Workspace) MayExtract(ctx context.Context, sources []inputs.Source) error {
	s, ok, err := w.State(StageExtract)
	if err != nil || !ok {
		return err
	}
	reason, why := assess(w.Stages[0], s, ok, w.Config, s.Input, JudgedSet{}, ScoreSet{})
	if reason != Outdated && reason != Changed {
		return nil
	}
	return w.readable(ctx, sources, reason, why)
}

// readable returns an error that wraps ErrUsage if a source of which something was read is
// not as it was. reason and why are those for which it must be read again.
func (w *Workspace) readable(ctx context.Context, sources []inputs.Source, reason Reason, why string) error {
	advice := "put it back, withdraw it with neardup remove"
	switch reason {
	case Outdated:
		advice += ", use the version of neardup that read it"
	case Changed:
		advice += ", set changed settings of extract back"
	}
	files := inputs.NewComparer(w.Config.Extract.Limits)
	for _, s := range sources {
		if s.IsUnread() && !s.Again {
			continue
		}
		same, err := files.Unchanged(ctx, s)
		if err := cmp.Or(err, s.CheckOpens(ctx)); err != nil {
			return fmt.Errorf("%w: everything must be read again (%s), but %w; %s, or start a new workspace", ErrUsage, why, err, advice)
		} else if !same {
			return fmt.Errorf("%w: everything must be read again (%s), but %s has changed; name it among the inputs", ErrUsage, why, s.Shown())
		}
	}
	return nil
}

// refreshPending compares the sources that are still to be read with their files,
// and takes in anew those that changed. It returns the name of a changed one from
// which something was read. It warns of files that changed after they were read and that
// the run does not name. If the run names inputs, it does not ask servers about objects.
func (w *Workspace) refreshPending(ctx context.Context, b store.Batch, sources []inputs.Source) (changed string, err error) {
	known, err := w.Sources()
	if err := cmp.Or(err, w.lacks(ctx, known, sources)); err != nil {
		return "", err
	}
	named := map[string]bool{}
	for _, s := range sources {
		named[s.FilePath()] = true
	}
	limits := w.Config.Extract.Limits
	files := inputs.NewComparer(limits)
	for _, s := range known {
		if s.State == inputs.Unreadable || s.State == inputs.Done && (named[s.FilePath()] || len(sources) > 0 && s.IsObject()) {
			continue
		}
		same, err := files.Unchanged(ctx, s)
		if s.State == inputs.Done {
			if err == nil && !same {
				w.Options.Progress.Warn("file changed since it was read; name it among the inputs to read it again", "file", s.Shown())
			}
			continue
		}
		if err == nil && same && s.Digested != nil {
			same, err = s.BeginsAsRead(ctx, limits)
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil || same { // extract reports a file that is gone
			continue
		}
		for _, now := range s.FindAgain(ctx, limits) {
			if now.Again = s.Again; now.Path == s.Path {
				err = b.SetJSON(layout.SourceKey(s.Path), now)
			}
		}
		if err != nil {
			return "", err
		}
		if s.Counts.Records > 0 || s.Counts.Damaged > 0 {
			changed = s.Path
		}
	}
	return changed, nil
}
