package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"
)

// run is one call of Run.
type run struct {
	ctx    context.Context
	inputs []Source
	judged []enforcedPair
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
		return w.explain(err)
	}
	return w.unread()
}

func (w *Workspace) runStages(r run, first, last string) error {
	if first == StageExtract {
		if err := w.admit(r.inputs); err != nil {
			return err
		}
	}
	var err error
	if r.judged, err = w.followed(); err != nil {
		return err
	}
	known, err := w.sources()
	if err != nil {
		return err
	}
	if len(known) == 0 {
		return fmt.Errorf("%w: nothing to read; name a file, a directory or a pattern", ErrUsage)
	}
	input := sourcesGeneration(known)
	started := false
	for _, st := range w.stages {
		s, ok, err := w.state(st.name)
		if err != nil {
			return err
		}
		reason, why := assess(st, s, ok, w.config, input, newJudgedSet(r.judged))
		started = started || st.name == first
		switch {
		case reason == UpToDate:
			w.o.Progress.Skip(st.name)
		case !started:
			return fmt.Errorf("%w: %s needs %s, which is not up to date (%s); run neardup %s first, or neardup run for all",
				ErrUsage, first, st.name, why, st.name)
		default:
			if s, err = w.do(r, st, s, reason, why, input); err != nil {
				return err
			}
		}
		input = s.generation()
		if st.name == last {
			return nil
		}
	}
	return nil
}

// do brings one stage up to date.
func (w *Workspace) do(r run, st stage, s stageState, reason Reason, why, input string) (stageState, error) {
	options, err := json.Marshal(st.options(w.config))
	if err != nil {
		return s, err
	}
	if st.prepare != nil {
		if err := st.prepare(r.ctx, w, r.judged); err != nil {
			return s, fmt.Errorf("%s: %w", st.name, err)
		}
	}
	if w.settle {
		debug.FreeOSMemory() // the stage is not to pay for what was before it
	}
	sr := startStage(r.ctx, r.judged, st)
	defer sr.stop()
	b := w.store.batch()
	if reason == Unfinished || reason == Judgements || reason == Input && st.extends != nil && st.extends(w.config) {
		sr.state = s
		if reason == Input {
			sr.state.Cursor = nil
		}
		if reason == Judgements && s.Done {
			if err := sr.followAgain(); err != nil {
				return s, err
			}
		}
	} else if err := w.reset(b, st); err != nil {
		return s, err
	}
	sr.state.Version, sr.state.Options, sr.state.Input, sr.state.Done = st.version, options, input, false
	if st.follows != nil {
		sr.state.Judged = newJudgedSet(r.judged)
	}
	e, err := sr.stateEntry()
	if err != nil {
		return s, err
	}
	if err := errors.Join(b.set(e.key, e.value), b.commit()); err != nil {
		return s, err
	}
	if err := w.publish(); err != nil {
		return s, err
	}

	w.o.Progress.Start(st.name, string(reason), why)
	stop := w.publishMeanwhile()
	err = errors.Join(st.run(w, sr), stop())
	if err == nil {
		err = context.Cause(r.ctx)
	}
	if err != nil {
		w.o.Progress.Stop(err)
		_ = w.publish() // a mirror: the error that counts is the stage's
		return s, fmt.Errorf("%s: %w", st.name, err)
	}
	sr.state.Done, sr.state.Cursor = true, nil
	e, err = sr.stateEntry()
	if err != nil {
		return s, err
	}
	b = w.store.batch()
	if err := errors.Join(b.set(e.key, e.value), b.commit()); err != nil {
		return s, err
	}
	w.o.Progress.Stop(nil)
	if err := json.Unmarshal(e.value, &sr.state); err != nil {
		return s, err
	}
	return sr.state, w.publish()
}

// publishMeanwhile writes the manifest from time to time until stop is called,
// so that status can tell how far a long stage is.
func (w *Workspace) publishMeanwhile() (stop func() error) {
	quit, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(failed)
		every := time.NewTicker(w.o.publishEvery)
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
func (w *Workspace) reset(b batch, st stage) error {
	if err := b.clear(st.tables...); err != nil || st.name != StageExtract {
		return err
	}
	errs := []error{w.forgetProgress(b)}
	for _, other := range w.stages {
		if other.name == StageSign { // which only adds to what is signed, and so would keep the old texts
			errs = append(errs, b.clear(other.tables...), b.Delete(metaKey("stage/"+other.name), nil))
		}
	}
	return errors.Join(errs...)
}

// current tells whether the stages up to name are up to date.
func (w *Workspace) current(name string) error { return w.currentBut(name, UpToDate) }

// currentBut is current for a reader that one reason does not matter to: who
// judges pairs looks at the clusters of before.
func (w *Workspace) currentBut(name string, but Reason) error {
	pairs, err := w.followed()
	if err != nil {
		return err
	}
	judged := newJudgedSet(pairs)
	known, err := w.sources()
	if err != nil {
		return err
	}
	input := sourcesGeneration(known)
	for _, st := range w.stages {
		s, ok, err := w.state(st.name)
		if err != nil {
			return err
		}
		if reason, why := assess(st, s, ok, w.config, input, judged); reason != UpToDate && !(reason == but && s.Done) {
			return fmt.Errorf("%w: %s is not up to date (%s: %s); run neardup run", ErrUsage, st.name, reason, why)
		}
		if input = s.generation(); st.name == name {
			break
		}
	}
	return nil
}

// unread is the error that tells of inputs that were not read whole.
func (w *Workspace) unread() error {
	known, err := w.sources()
	if err != nil {
		return err
	}
	bad := slices.DeleteFunc(known, func(s Source) bool { return s.State != sourceUnreadable })
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d of %d files; the first is %s: %s", ErrInputFailure, len(bad), len(known), bad[0].Path, bad[0].Error)
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
