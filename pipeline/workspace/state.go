package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"neardup/configs"
	"neardup/pipeline/extsort"
	"neardup/pipeline/store"
)

// Reason says why a stage has to be done.
type Reason string

// The reasons for which a stage is redone, or done further.
const (
	UpToDate   Reason = ""           // it does not
	Missing    Reason = "missing"    // it was never done
	Unfinished Reason = "unfinished" // it was interrupted and goes on where it stopped
	Outdated   Reason = "version"    // this program computes it otherwise
	Changed    Reason = "options"    // a setting that it uses changed
	Input      Reason = "input"      // what it reads changed
	Judgements Reason = "judgements" // the judged pairs that clusters are to follow changed: only these are done again
)

// The names of the stages.
const (
	StageExtract = "extract"
	StageSign    = "sign"
	StageCluster = "cluster"
	StageVerify  = "verify"
)

// Stage is one step of a run.
type Stage struct {
	Name string
	// version counts the changes of what the stage computes from the same
	// input and options, one comment line each.
	Version int
	// Options are the settings that it uses, as JSON. An error is about a file that a
	// setting names.
	Options func(configs.Config) (json.RawMessage, error)
	Tables  []byte // what it writes, cleared when it is redone
	// extends reports whether input that only grew needs no redoing; nil: it does.
	Extends func(configs.Config) bool
	Run     func(*Workspace, *StageRun) error
	// prepare is called before the stage begins. It shows its own progress.
	Prepare func(ctx context.Context, w *Workspace, judged []EnforcedPair) error
	// follows is of a stage that judged pairs are an input of. It gives the cursor
	// from which a stage that was done goes on with other pairs.
	Follows func(StageState) (cursor any, err error)
}

// StageState is what the database remembers of a stage. It is committed with
// the rows that it speaks of.
type StageState struct {
	Version int             `json:"version"`
	Options json.RawMessage `json:"options"`
	Input   string          `json:"input"` // the generation of what it read
	Judged  JudgedSet       `json:"judged,omitzero"`
	Done    bool            `json:"done"`
	Cursor  json.RawMessage `json:"cursor,omitempty"`
	Counts  json.RawMessage `json:"counts,omitempty"`
	Tables  tableContents   `json:"tables,omitempty"` // what the stage left when it was done
	Seconds float64         `json:"seconds"`          // wall time spent so far
	CPU     float64         `json:"cpu_seconds"`      // processor time of the process meanwhile
	Peak    int64           `json:"peak_bytes"`       // most memory that the process had meanwhile, see memoryMeter
}

// Generation names the output of a stage: equal generations, equal rows.
func (s StageState) Generation() string {
	parts := []any{s.Version, string(Compact(s.Options)), s.Input}
	if s.Judged != (JudgedSet{}) {
		parts = append(parts, s.Judged.Digest)
	}
	return Digest(parts...)
}

// Compact undoes the indentation of the manifest.
func Compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

func Digest(parts ...any) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%v\x00", p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (w *Workspace) State(name string) (s StageState, ok bool, err error) {
	ok, err = w.DB.GetJSON(store.MetaKey("stage/"+name), &s)
	return s, ok, err
}

// assess compares a stage's state with what config, input and judged pairs ask
// for.
func assess(st Stage, s StageState, ok bool, config configs.Config, input string, judged JudgedSet) (Reason, string) {
	options, err := st.Options(config)
	switch {
	case !ok:
		return Missing, "never done"
	case s.Version != st.Version:
		return Outdated, fmt.Sprintf("version %d, this program has %d", s.Version, st.Version)
	case err != nil:
		return Changed, err.Error()
	case !bytes.Equal(Compact(s.Options), options):
		return Changed, strings.Join(changedOptions(s.Options, options), ", ")
	case s.Input != input:
		return Input, "its input changed"
	case st.Follows != nil && s.Judged != judged:
		return Judgements, fmt.Sprintf("judged pairs to follow: %d before, now %d", s.Judged.Pairs, judged.Pairs)
	case !s.Done:
		return Unfinished, "interrupted"
	}
	return UpToDate, ""
}

// changedOptions names the settings that differ, as "verify.slope: 0.1 -> 0.2".
func changedOptions(old, new json.RawMessage) []string {
	flat := func(raw json.RawMessage) map[string]any {
		out := map[string]any{}
		var walk func(prefix string, v any)
		walk = func(prefix string, v any) {
			if m, ok := v.(map[string]any); ok {
				for k, v := range m {
					walk(strings.TrimPrefix(prefix+"."+k, "."), v)
				}
				return
			}
			out[prefix] = v
		}
		var v any
		_ = json.Unmarshal(raw, &v)
		walk("", v)
		return out
	}
	a, b := flat(old), flat(new)
	keys := slices.Sorted(maps.Keys(b))
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if _, ok := b[k]; !ok {
			keys = append(keys, k)
		}
	}
	var out []string
	for _, k := range keys {
		if !reflect.DeepEqual(a[k], b[k]) {
			out = append(out, fmt.Sprintf("%s: %v -> %v", k, a[k], b[k]))
		}
	}
	return out
}

// StageRun is a stage at work.
type StageRun struct {
	Ctx    context.Context
	Judged []EnforcedPair // that clusters are to follow
	stage  Stage
	State  StageState
	clock  *stopwatch
}

// StartStage starts the clock of a stage. The caller stops it.
func StartStage(ctx context.Context, judged []EnforcedPair, st Stage) *StageRun {
	return &StageRun{Ctx: ctx, Judged: judged, stage: st, clock: startStopwatch()}
}

func (r *StageRun) Stop() { r.clock.stop() }

// SetCursor puts the stage's state, with cursor as its place to go on from,
// into the batch.
func (r *StageRun) SetCursor(b store.Batch, cursor any) error {
	e, err := r.CursorEntry(cursor)
	if err != nil {
		return err
	}
	return b.Set(e.Key, e.Value)
}

// CursorEntry returns the state as a row for a run to be ingested.
func (r *StageRun) CursorEntry(cursor any) (extsort.Entry, error) {
	var err error
	if r.State.Cursor, err = json.Marshal(cursor); err != nil {
		return extsort.Entry{}, err
	}
	return r.stateEntry()
}

func (r *StageRun) stateEntry() (extsort.Entry, error) {
	s := r.State
	wall, cpu := r.clock.seconds()
	s.Seconds += wall
	s.CPU += cpu
	s.Peak = max(s.Peak, r.clock.memory.look())
	value, err := json.Marshal(s)
	return extsort.Entry{Key: store.MetaKey("stage/" + r.stage.Name), Value: value}, err
}

// Cursor reads where the stage stopped; ok is false at its beginning.
func (r *StageRun) Cursor(v any) (ok bool, err error) {
	if len(r.State.Cursor) == 0 {
		return false, nil
	}
	return true, json.Unmarshal(r.State.Cursor, v)
}

// SetCounts keeps the stage's counts, to be written with its state.
func (r *StageRun) SetCounts(v any) (err error) {
	r.State.Counts, err = json.Marshal(v)
	return err
}

// followAgain makes a stage that was done go on where it follows judged pairs.
func (r *StageRun) followAgain() error {
	cursor, err := r.stage.Follows(r.State)
	if err == nil {
		r.State.Cursor, err = json.Marshal(cursor)
	}
	return err
}

// Counts reads what a stage counted.
func (w *Workspace) Counts(name string, into any) error {
	s, ok, err := w.State(name)
	if err != nil || !ok || len(s.Counts) == 0 {
		return err
	}
	return json.Unmarshal(s.Counts, into)
}
