package pipeline

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

// stage is one step of a run.
type stage struct {
	name string
	// version counts the changes of what the stage computes from the same
	// input and options, one comment line each.
	version int
	options func(configs.Config) any
	tables  []byte // what it writes, cleared when it is redone
	// extends tells whether input that only grew needs no redoing; nil: it does.
	extends func(configs.Config) bool
	run     func(*Workspace, *stageRun) error
	// prepare is called before the stage begins. It shows its own progress.
	prepare func(ctx context.Context, w *Workspace, judged []enforcedPair) error
	// follows is of a stage that judged pairs are an input of. It gives the cursor
	// from which a stage that was done goes on with other pairs.
	follows func(stageState) (cursor any, err error)
}

// stageState is what the database remembers of a stage. It is committed with
// the rows that it speaks of.
type stageState struct {
	Version int             `json:"version"`
	Options json.RawMessage `json:"options"`
	Input   string          `json:"input"` // the generation of what it read
	Judged  judgedSet       `json:"judged,omitzero"`
	Done    bool            `json:"done"`
	Cursor  json.RawMessage `json:"cursor,omitempty"`
	Counts  json.RawMessage `json:"counts,omitempty"`
	Seconds float64         `json:"seconds"`     // wall time spent so far
	CPU     float64         `json:"cpu_seconds"` // processor time of the process meanwhile
	Peak    int64           `json:"peak_bytes"`  // most memory that the process had meanwhile, see memoryMeter
}

// generation names the output of a stage: equal generations, equal rows.
func (s stageState) generation() string {
	parts := []any{s.Version, string(compact(s.Options)), s.Input}
	if s.Judged != (judgedSet{}) {
		parts = append(parts, s.Judged.Digest)
	}
	return digest(parts...)
}

// compact undoes the indentation of the manifest.
func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

func digest(parts ...any) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%v\x00", p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (w *Workspace) state(name string) (s stageState, ok bool, err error) {
	ok, err = w.store.getJSON(metaKey("stage/"+name), &s)
	return s, ok, err
}

// assess compares a stage's state with what config, input and judged pairs ask
// for.
func assess(st stage, s stageState, ok bool, config configs.Config, input string, judged judgedSet) (Reason, string) {
	options, err := json.Marshal(st.options(config))
	if err != nil {
		panic(err) // options are plain structs
	}
	switch {
	case !ok:
		return Missing, "never done"
	case s.Version != st.version:
		return Outdated, fmt.Sprintf("version %d, this program has %d", s.Version, st.version)
	case !bytes.Equal(compact(s.Options), options):
		return Changed, strings.Join(changedOptions(s.Options, options), ", ")
	case s.Input != input:
		return Input, "its input changed"
	case st.follows != nil && s.Judged != judged:
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
	for k := range a {
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

// stageRun is a stage at work.
type stageRun struct {
	ctx    context.Context
	judged []enforcedPair // that clusters are to follow
	stage  stage
	state  stageState
	clock  *stopwatch
}

// startStage starts the clock of a stage. The caller stops it.
func startStage(ctx context.Context, judged []enforcedPair, st stage) *stageRun {
	return &stageRun{ctx: ctx, judged: judged, stage: st, clock: startStopwatch()}
}

func (r *stageRun) stop() { r.clock.stop() }

// setCursor puts the stage's state, with cursor as its place to go on from,
// into the batch.
func (r *stageRun) setCursor(b batch, cursor any) error {
	e, err := r.cursorEntry(cursor)
	if err != nil {
		return err
	}
	return b.set(e.key, e.value)
}

// cursorEntry is the state as a row for a run to be ingested.
func (r *stageRun) cursorEntry(cursor any) (entry, error) {
	var err error
	if r.state.Cursor, err = json.Marshal(cursor); err != nil {
		return entry{}, err
	}
	return r.stateEntry()
}

func (r *stageRun) stateEntry() (entry, error) {
	s := r.state
	wall, cpu := r.clock.seconds()
	s.Seconds += wall
	s.CPU += cpu
	s.Peak = max(s.Peak, r.clock.memory.look())
	value, err := json.Marshal(s)
	return entry{metaKey("stage/" + r.stage.name), value}, err
}

// cursor reads where the stage stopped; ok is false at its beginning.
func (r *stageRun) cursor(v any) (ok bool, err error) {
	if len(r.state.Cursor) == 0 {
		return false, nil
	}
	return true, json.Unmarshal(r.state.Cursor, v)
}

// setCounts keeps the stage's counts, to be written with its state.
func (r *stageRun) setCounts(v any) (err error) {
	r.state.Counts, err = json.Marshal(v)
	return err
}

// followAgain makes a stage that was done go on where it follows judged pairs.
func (r *stageRun) followAgain() error {
	cursor, err := r.stage.follows(r.state)
	if err == nil {
		r.state.Cursor, err = json.Marshal(cursor)
	}
	return err
}
