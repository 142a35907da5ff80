package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"neardup/pipeline/costs"
	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
	"neardup/pipeline/store"
)

// run is the state of one call of Run.
type run struct {
	ctx     context.Context
	sources []inputs.Source
	judged  []EnforcedPair
	scores  ScoreSet
}

// Run admits the given inputs, if any, and brings the stages from first to last up
// to date. Stages before first must be up to date already. It returns an error that
// wraps ErrInputFailure if everything was done but some input could not be read.
func (w *Workspace) Run(ctx context.Context, first, last string, sources []inputs.Source) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w.cancel.Store(&cancel)
	r := run{ctx: ctx, sources: sources}
	err := w.runStages(r, first, last)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w (%w)", cause, err)
	}
	if errors.Is(err, ErrUsage) {
		return err // nothing was done, so nothing is published, not even the config
	}
	if perr := w.Publish(); err == nil {
		err = perr
	}
	if err == nil {
		err = w.dropFinished()
	}
	err = errors.Join(err, w.writeCosts(err))
	if err != nil {
		return w.ExplainError(err)
	}
	return w.Unread()
}

func (w *Workspace) runStages(r run, first, last string) error {
	// A trial has admitted its inputs once, for all of its runs.
	if first == StageExtract && (w.trial == nil || len(r.sources) > 0) {
		if err := w.Admit(r.ctx, r.sources); err != nil {
			return err
		}
	}
	var err error
	if r.judged, err = w.Followed(); err != nil {
		return err
	}
	lists, err := w.ScoreLists()
	if err := errors.Join(err, w.checkScores(lists)); err != nil {
		return err
	}
	r.scores = newScoreSet(lists)
	known, err := w.Sources()
	if err != nil {
		return err
	}
	if len(known) == 0 {
		return fmt.Errorf("%w: nothing to read; name a file, a directory or a pattern", ErrUsage)
	}
	input := SourcesGeneration(known)
	started := false
	for _, st := range w.Stages {
		s, ok, err := w.State(st.Name)
		if err != nil {
			return err
		}
		reason, why := assess(st, s, ok, w.Config, input, newJudgedSet(r.judged), r.scores)
		started = started || st.Name == first
		switch {
		case reason == UpToDate:
			w.Options.Progress.Skip(st.Name)
		case !started:
			return fmt.Errorf("%w: %s needs %s, which is not up to date (%s); run neardup %s first, or neardup run for all",
				ErrUsage, first, st.Name, why, st.Name)
		default:
			if s, err = w.do(r, st, s, reason, why, input); err != nil {
				return err
			}
		}
		input = s.Generation()
		if st.Name == last {
			return nil
		}
	}
	return nil
}

// do brings one stage up to date.
func (w *Workspace) do(r run, st Stage, s StageState, reason Reason, why, input string) (StageState, error) {
	options, err := st.Options(w.Config)
	if err != nil {
		return s, fmt.Errorf("%s: %w", st.Name, err)
	}
	if st.Prepare != nil {
		if err := st.Prepare(r.ctx, w, r.judged); err != nil {
			return s, fmt.Errorf("%s: %w", st.Name, err)
		}
	}
	extends := reason == Unfinished || reason == Judgements || reason == Input && st.Extends != nil && st.Extends(w.Config, r.scores)
	need, err := w.estimate(st, !extends)
	if err != nil {
		return s, err
	}
	if w.trial != nil {
		debug.FreeOSMemory() // the stage's measured memory must not include what came before it
	}
	sr := StartStage(r.ctx, r.judged, st)
	sr.Scores = r.scores
	defer sr.Stop()
	if err := w.keepFinished(); err != nil {
		return s, err
	}
	if err := w.begin(sr, s, reason, why, extends, options, input); err != nil {
		return s, err
	}

	before, err := sizeOf(w.Path("db"))
	if err != nil {
		return s, err
	}
	secondsBefore, cpuBefore := sr.State.Seconds, sr.State.CPU
	w.Options.Progress.Start(st.Name, string(reason), why)
	stop := sync.OnceValue(w.publishMeanwhile())
	defer func() { _ = stop() }() // stop also when an error returns early: publishing must not read a closed database
	err = errors.Join(st.Run(w, sr), stop())
	if err == nil {
		err = context.Cause(r.ctx)
	}
	if err != nil {
		w.Options.Progress.Stop(err)
		_ = w.Publish() // the manifest only mirrors the state; the stage's error is the one to report
		return s, fmt.Errorf("%s: %w", st.Name, err)
	}
	if err := w.finish(sr); err != nil {
		return s, err
	}
	w.Options.Progress.Stop(nil)
	after, err := sizeOf(w.Path("db"))
	if err != nil {
		return s, err
	}
	w.Options.Costs.Stage(costs.Stage{Name: st.Name, Reason: string(reason), Seconds: sr.State.Seconds - secondsBefore, CPU: sr.State.CPU - cpuBefore,
		Peak: sr.State.Peak, Needs: need.Workspace, NeedsTemp: need.Temporary, Took: after - before})
	return sr.State, w.Publish()
}

// begin commits that the stage is at work: on what it had, which is s, if it extends
// that, and on nothing otherwise.
func (w *Workspace) begin(sr *StageRun, s StageState, reason Reason, why string, extends bool, options json.RawMessage, input string) error {
	st := sr.stage
	b := w.DB.Batch()
	if extends {
		sr.State = s
		if reason == Input {
			sr.State.Cursor = nil
			if s.Done {
				sr.Extended = &s
			}
		}
		if reason == Judgements && s.Done {
			if err := sr.followAgain(); err != nil {
				return err
			}
		}
	} else if err := w.reset(sr.Ctx, b, st, reason, why); err != nil {
		return err
	}
	sr.State.Version, sr.State.Options, sr.State.Input, sr.State.Done = st.Version, options, input, false
	sr.State.Tables = nil
	if st.Follows != nil {
		sr.State.Judged = newJudgedSet(sr.Judged)
	}
	if st.Scored {
		sr.State.Scores = sr.Scores
	}
	e, err := sr.stateEntry()
	if err != nil {
		return err
	}
	if err := errors.Join(b.Set(e.Key, e.Value), b.Commit()); err != nil {
		return err
	}
	return w.Publish()
}

// finish commits that the stage is done.
func (w *Workspace) finish(sr *StageRun) error {
	if sr.stage.Name == StageExtract { // inputs that could not be read are no part of extract's input
		known, err := w.Sources()
		if err != nil {
			return err
		}
		sr.State.Input = SourcesGeneration(known)
	}
	sr.State.Done, sr.State.Cursor = true, nil
	var err error
	if sr.State.Tables, err = w.contents(sr.stage, sr.contents); err != nil {
		return err
	}
	e, err := sr.stateEntry()
	if err != nil {
		return err
	}
	b := w.DB.Batch()
	if err := errors.Join(b.Set(e.Key, e.Value), b.Commit()); err != nil {
		return err
	}
	return json.Unmarshal(e.Value, &sr.State)
}

// Adopt marks a stage as done whose tables were filled by another run of it. The
// stages before it are adopted already. count sets its counts.
func (w *Workspace) Adopt(ctx context.Context, st Stage, count func(*StageRun) error) error {
	sr := StartStage(ctx, nil, st)
	defer sr.Stop()
	options, err := st.Options(w.Config)
	if err != nil {
		return err
	}
	known, err := w.Sources()
	if err != nil {
		return err
	}
	input := SourcesGeneration(known)
	for _, before := range w.Stages {
		if before.Name == st.Name {
			break
		}
		s, _, err := w.State(before.Name)
		if err != nil {
			return err
		}
		input = s.Generation()
	}
	sr.State.Version, sr.State.Options, sr.State.Input, sr.State.Done = st.Version, options, input, true
	if err := count(sr); err != nil {
		return err
	}
	if sr.State.Tables, err = w.contents(st, nil); err != nil {
		return err
	}
	e, err := sr.stateEntry()
	if err != nil {
		return err
	}
	b := w.DB.Batch()
	return w.ExplainError(errors.Join(b.Set(e.Key, e.Value), b.Commit(), w.Publish()))
}

// publishMeanwhile writes the manifest from time to time until stop is called, so
// that status shows how far a stage has come. With many inputs that takes long, so it waits longer.
func (w *Workspace) publishMeanwhile() (stop func() error) {
	quit, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(failed)
		for wait := w.Options.PublishEvery; ; {
			select {
			case <-quit:
				return
			case <-time.After(wait):
			}
			began := time.Now()
			if err := w.Publish(); err != nil {
				failed <- err
				return
			}
			wait = max(w.Options.PublishEvery, 20*time.Since(began))
		}
	}()
	return func() error {
		close(quit)
		return <-failed
	}
}

// reset clears what the stage wrote.
func (w *Workspace) reset(ctx context.Context, b store.Batch, st Stage, reason Reason, why string) error {
	if err := b.Clear(slices.Concat(st.Tables, st.Scratch)...); err != nil {
		return err
	}
	for _, n := range st.Notes {
		if err := b.Delete(layout.MetaKey(n)); err != nil {
			return err
		}
	}
	if st.Name != StageExtract {
		return nil
	}
	errs := []error{w.forgetProgress(ctx, b, reason, why)}
	for _, other := range w.Stages {
		if other.Name == StageSign { // sign only adds to what is signed, so it would keep the old texts
			errs = append(errs, b.Clear(other.Tables...), b.Delete(layout.MetaKey("stage/"+other.Name)))
		}
	}
	return errors.Join(errs...)
}

// Current reports whether all stages up to name are up to date.
func (w *Workspace) Current(name string) error { return w.CurrentExcept(name, UpToDate) }

// CurrentExcept reports whether all stages up to name are up to date, ignoring one
// reason. The pages for judging pairs ignore changed judgements, because they show
// the clusters from before.
func (w *Workspace) CurrentExcept(name string, but Reason) error {
	pairs, err := w.Followed()
	if err != nil {
		return err
	}
	lists, err := w.ScoreLists()
	if err != nil {
		return err
	}
	judged, scores := newJudgedSet(pairs), newScoreSet(lists)
	known, err := w.Sources()
	if err != nil {
		return err
	}
	input := SourcesGeneration(known)
	for _, st := range w.Stages {
		s, ok, err := w.State(st.Name)
		if err != nil {
			return err
		}
		if reason, why := assess(st, s, ok, w.Config, input, judged, scores); reason != UpToDate && !(reason == but && s.Done) {
			return fmt.Errorf("%w: %s is not up to date (%s: %s); run neardup run", ErrUsage, st.Name, reason, why)
		}
		if input = s.Generation(); st.Name == name {
			break
		}
	}
	return nil
}

// warnOfGone warns of files that were read to their ends and no longer exist. Of others,
// which the next run would go on with, retry and extract tell.
func (w *Workspace) warnOfGone(ctx context.Context) error {
	known, err := w.Sources()
	gone := slices.DeleteFunc(inputs.Gone(ctx, known), func(s inputs.Source) bool { return s.State != inputs.Done })
	if err != nil || len(gone) == 0 {
		return err
	}
	w.Options.Progress.Warn("files that were read are gone; their pages stay until neardup remove withdraws them", "files", len(gone), "first", gone[0].Shown())
	return nil
}

// Unread returns an error that lists the inputs that were not read completely, or
// nil.
func (w *Workspace) Unread() error {
	known, err := w.Sources()
	if err != nil {
		return err
	}
	bad := slices.DeleteFunc(known, func(s inputs.Source) bool { return s.State != inputs.Unreadable || s.Gone })
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d of %d files; the first is %s: %s", ErrInputFailure, len(bad), len(known), bad[0].Shown(), bad[0].Error)
}
