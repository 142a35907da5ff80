package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"neardup/pipeline/store"
)

// run is one call of Run.
type run struct {
	ctx    context.Context
	inputs []Source
	judged []EnforcedPair
}

// Run takes the inputs in, if any, and brings the stages from first to last up
// to date; stages before first must be up to date already. It returns an
// error that wraps ErrInputFailure when everything was done but some input
// could not be read.
func (w *Workspace) Run(ctx context.Context, first, last string, inputs []Source) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w.cancel.Store(&cancel)
	r := run{ctx: ctx, inputs: inputs}
	err := w.runStages(r, first, last)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w (%w)", cause, err)
	}
	if errors.Is(err, ErrUsage) {
		return err // nothing was done, so nothing is published, the config least of all
	}
	if perr := w.publish(); err == nil {
		err = perr
	}
	if err != nil {
		return w.ExplainError(err)
	}
	return w.Unread()
}

func (w *Workspace) runStages(r run, first, last string) error {
	// A trial has named its inputs once, for all of its runs.
	if first == StageExtract && (w.trial == nil || len(r.inputs) > 0) {
		if err := w.Admit(r.ctx, r.inputs); err != nil {
			return err
		}
	}
	var err error
	if r.judged, err = w.Followed(); err != nil {
		return err
	}
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
		reason, why := assess(st, s, ok, w.Config, input, newJudgedSet(r.judged))
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
	if w.trial != nil {
		debug.FreeOSMemory() // the stage is not to pay for what was before it
	}
	sr := StartStage(r.ctx, r.judged, st)
	defer sr.Stop()
	b := w.DB.Batch()
	if reason == Unfinished || reason == Judgements || reason == Input && st.Extends != nil && st.Extends(w.Config) {
		sr.State = s
		if reason == Input {
			sr.State.Cursor = nil
		}
		if reason == Judgements && s.Done {
			if err := sr.followAgain(); err != nil {
				return s, err
			}
		}
	} else if err := w.reset(b, st); err != nil {
		return s, err
	}
	sr.State.Version, sr.State.Options, sr.State.Input, sr.State.Done = st.Version, options, input, false
	sr.State.Tables = nil
	if st.Follows != nil {
		sr.State.Judged = newJudgedSet(r.judged)
	}
	e, err := sr.stateEntry()
	if err != nil {
		return s, err
	}
	if err := errors.Join(b.Set(e.Key, e.Value), b.Commit()); err != nil {
		return s, err
	}
	if err := w.publish(); err != nil {
		return s, err
	}

	w.Options.Progress.Start(st.Name, string(reason), why)
	stop := w.publishMeanwhile()
	err = errors.Join(st.Run(w, sr), stop())
	if err == nil {
		err = context.Cause(r.ctx)
	}
	if err != nil {
		w.Options.Progress.Stop(err)
		_ = w.publish() // a mirror: the error that counts is the stage's
		return s, fmt.Errorf("%s: %w", st.Name, err)
	}
	if st.Name == StageExtract { // what could not be read is no part of its input
		known, err := w.Sources()
		if err != nil {
			return s, err
		}
		sr.State.Input = SourcesGeneration(known)
	}
	sr.State.Done, sr.State.Cursor = true, nil
	if sr.State.Tables, err = w.contents(st); err != nil {
		return s, err
	}
	e, err = sr.stateEntry()
	if err != nil {
		return s, err
	}
	b = w.DB.Batch()
	if err := errors.Join(b.Set(e.Key, e.Value), b.Commit()); err != nil {
		return s, err
	}
	w.Options.Progress.Stop(nil)
	if err := json.Unmarshal(e.Value, &sr.State); err != nil {
		return s, err
	}
	return sr.State, w.publish()
}

// publishMeanwhile writes the manifest from time to time until stop is called,
// so that status can tell how far a long stage is.
func (w *Workspace) publishMeanwhile() (stop func() error) {
	quit, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(failed)
		every := time.NewTicker(w.Options.PublishEvery)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				if err := w.publish(); err != nil {
					failed <- err
					return
				}
			case <-quit:
				return
			}
		}
	}()
	return func() error {
		close(quit)
		return <-failed
	}
}

// reset clears what the stage wrote.
func (w *Workspace) reset(b store.Batch, st Stage) error {
	if err := b.Clear(st.Tables...); err != nil || st.Name != StageExtract {
		return err
	}
	errs := []error{w.forgetProgress(b)}
	for _, other := range w.Stages {
		if other.Name == StageSign { // which only adds to what is signed, and so would keep the old texts
			errs = append(errs, b.Clear(other.Tables...), b.Delete(store.MetaKey("stage/"+other.Name)))
		}
	}
	return errors.Join(errs...)
}

// Current reports whether the stages up to name are up to date.
func (w *Workspace) Current(name string) error { return w.CurrentExcept(name, UpToDate) }

// CurrentExcept reports whether the stages up to name are up to date, ignoring
// one reason. Judging pairs ignores that judgements changed: it shows the
// clusters from before.
func (w *Workspace) CurrentExcept(name string, but Reason) error {
	pairs, err := w.Followed()
	if err != nil {
		return err
	}
	judged := newJudgedSet(pairs)
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
		if reason, why := assess(st, s, ok, w.Config, input, judged); reason != UpToDate && !(reason == but && s.Done) {
			return fmt.Errorf("%w: %s is not up to date (%s: %s); run neardup run", ErrUsage, st.Name, reason, why)
		}
		if input = s.Generation(); st.Name == name {
			break
		}
	}
	return nil
}

// Unread is the error that tells of inputs that were not read whole.
func (w *Workspace) Unread() error {
	known, err := w.Sources()
	if err != nil {
		return err
	}
	bad := slices.DeleteFunc(known, func(s Source) bool { return s.State != SourceUnreadable || s.Gone })
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d of %d files; the first is %s: %s", ErrInputFailure, len(bad), len(known), ShowName(bad[0].Path), bad[0].Error)
}

// stopwatch measures a stage's wall and processor time, and its memory.
type stopwatch struct {
	wall   time.Time
	cpu    float64
	memory *memoryMeter
}

func startStopwatch() *stopwatch { return &stopwatch{time.Now(), cpuSeconds(), startMemoryMeter()} }

func (s *stopwatch) stop() { s.memory.stop() }

func (s *stopwatch) seconds() (wall, cpu float64) {
	return time.Since(s.wall).Seconds(), cpuSeconds() - s.cpu
}
