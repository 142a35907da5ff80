package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"neardup/configs"
	"neardup/pipeline/costs"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/store"
)

// Reason is why a stage has to be done.
type Reason string

// The reasons why a stage is done again, or continued.
const (
	UpToDate   Reason = ""           // nothing to do
	Missing    Reason = "missing"    // it was not done yet
	Unfinished Reason = "unfinished" // it was interrupted and continues where it stopped
	Outdated   Reason = "version"    // this program's version of the stage computes other results
	Changed    Reason = "options"    // a setting that it uses changed
	Input      Reason = "input"      // its input changed
	Scores     Reason = "scores"     // the page scores in the workspace changed
	Judgements Reason = "judgements" // the judged pairs that clusters follow changed; only the clusters are made again
)

// The names of the stages.
const (
	StageExtract = configs.StageExtract
	StageSign    = configs.StageSign
	StageCluster = configs.StageCluster
	StageVerify  = configs.StageVerify
)

// Stage is one step of a run.
type Stage struct {
	Name string
	// Version is the version of the stage's results. It grows with each change of
	// what the stage computes from the same input and options; the comment at
	// stages.All lists them.
	Version int
	// Options returns the settings that the stage uses, as JSON. An error concerns
	// a file that a setting names.
	Options func(configs.Config) (json.RawMessage, error)
	Tables  []byte // tables that the stage writes; they are cleared when it is redone
	// Scratch are tables, and Notes names of rows about the database, that are no part
	// of the stage's result: for a later stage, or for its own next run. They are cleared
	// as Tables are, and their contents are not recorded.
	Scratch []byte
	Notes   []string
	// Extends reports whether the stage can be continued when its input only grew.
	// If it is nil, the stage is always redone.
	Extends func(configs.Config, ScoreSet) bool
	Run     func(*Workspace, *StageRun) error
	// Need, if set, estimates the disk space that the stage will take. all is set if
	// the stage starts over.
	Need func(w *Workspace, all bool) (Need, error)
	// Prepare, if set, is called before the stage begins. It shows its own
	// progress.
	Prepare func(ctx context.Context, w *Workspace, judged []EnforcedPair) error
	// Follows is set for a stage that reads judged pairs. It returns the cursor
	// from which a finished stage continues when these pairs changed.
	Follows func(StageState) (cursor any, err error)
	Scored  bool // the stage reads the page scores in the workspace, and starts over when they change
}

// StageState is the stored state of a stage. It is committed together with the rows
// that it describes.
type StageState struct {
	Version int             `json:"version"`
	Options json.RawMessage `json:"options"`
	Input   string          `json:"input"` // generation of its input
	Judged  JudgedSet       `json:"judged,omitzero"`
	Scores  ScoreSet        `json:"scores,omitzero"`
	Done    bool            `json:"done"`
	Cursor  json.RawMessage `json:"cursor,omitempty"`
	Counts  json.RawMessage `json:"counts,omitempty"`
	Tables  tableContents   `json:"tables,omitempty"` // contents of its tables when it was done
	Seconds float64         `json:"seconds"`          // wall time so far
	CPU     float64         `json:"cpu_seconds"`      // processor time of the process in that time
	Peak    int64           `json:"peak_bytes"`       // peak memory of the process in that time, see costs.Stopwatch
}

// Generation identifies the output of a stage: equal generations mean equal rows.
func (s StageState) Generation() string {
	parts := []any{s.Version, string(Compact(s.Options)), s.Input}
	if s.Judged != (JudgedSet{}) {
		parts = append(parts, s.Judged.Digest)
	}
	if s.Scores != (ScoreSet{}) {
		parts = append(parts, "scores", s.Scores.Digest)
	}
	return Digest(parts...)
}

// Compact removes the indentation from JSON of the manifest.
func Compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// Digest returns a digest of the printed parts, in hexadecimal.
func Digest(parts ...any) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%v\x00", p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// DecodeCounts decodes the counts of a stage into into.
func (s StageState) DecodeCounts(into any) error {
	if len(s.Counts) == 0 {
		return nil
	}
	return json.Unmarshal(s.Counts, into)
}

// State returns the stored state of a stage. ok is false if it was never begun.
func (w *Workspace) State(name string) (s StageState, ok bool, err error) {
	ok, err = w.DB.GetJSON(layout.MetaKey("stage/"+name), &s)
	return s, ok, err
}

// assess compares the state of a stage with the config, input, judged pairs and page
// scores of a run. It returns the reason to do the stage again, and a description of it.
func assess(st Stage, s StageState, ok bool, config configs.Config, input string, judged JudgedSet, scores ScoreSet) (Reason, string) {
	options, err := st.Options(config)
	switch {
	case !ok:
		return Missing, "not done yet"
	case s.Version != st.Version:
		return Outdated, fmt.Sprintf("version %d, this program has %d", s.Version, st.Version)
	case err != nil:
		return Changed, err.Error()
	case !bytes.Equal(Compact(s.Options), options):
		return Changed, strings.Join(changedOptions(s.Options, options), ", ")
	case st.Scored && s.Scores != scores: // before the input: what is there has other weights
		return Scores, fmt.Sprintf("lists of scores: %d before, now %d", s.Scores.Lists, scores.Lists)
	case s.Input != input:
		return Input, "its input changed"
	case st.Follows != nil && s.Judged != judged:
		return Judgements, fmt.Sprintf("judged pairs to follow: %d before, now %d", s.Judged.Pairs, judged.Pairs)
	case !s.Done:
		return Unfinished, "interrupted"
	}
	return UpToDate, ""
}

// changedOptions lists the settings that differ, as "verify.slope: 0.1 -> 0.2".
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

// StageRun is a running stage.
type StageRun struct {
	Ctx    context.Context
	Judged []EnforcedPair // pairs that clusters have to follow
	Scores ScoreSet       // page scores in the workspace
	stage  Stage
	State  StageState
	clock  *costs.Stopwatch

	// Extended is the state that the stage had before its input grew, if it was done
	// and now begins to add to that. It is nil in all other cases, also where an
	// interrupted stage goes on.
	Extended *StageState
	contents map[byte]store.Contents
}

// StartStage starts the clock of a stage. The caller calls Stop.
func StartStage(ctx context.Context, judged []EnforcedPair, st Stage) *StageRun {
	return &StageRun{Ctx: ctx, Judged: judged, stage: st, clock: costs.Start(), contents: map[byte]store.Contents{}}
}

// Known tells the present contents of a table, which then need not be read when the
// stage is done.
func (r *StageRun) Known(table byte, c store.Contents) { r.contents[table] = c }

// Tally returns a tally of the rows that a table had before the input of the stage grew.
// ok is false if they are not known.
func (r *StageRun) Tally(table byte) (t store.Tally, ok bool) {
	if r.Extended == nil {
		return t, false
	}
	return r.Extended.Tables[string(rune(table))].Tally()
}

// Changed takes back what Known told.
func (r *StageRun) Changed(table byte) { delete(r.contents, table) }

// Replace is DB.Replace of a table of the stage, and tells its contents.
func (r *StageRun) Replace(db *store.DB, table byte, entries iter.Seq2[extsort.Entry, error]) error {
	c, err := db.Replace(r.Ctx, table, entries)
	r.Known(table, c)
	return err
}

// Stop stops the clock.
func (r *StageRun) Stop() { r.clock.Stop() }

// SetCursor adds the stage's state to the batch, with cursor as the place to resume
// from.
func (r *StageRun) SetCursor(b store.Batch, cursor any) error {
	e, err := r.CursorEntry(cursor)
	if err != nil {
		return err
	}
	return b.Set(e.Key, e.Value)
}

// CursorEntry returns the same as a row, for a sorted run that is ingested.
func (r *StageRun) CursorEntry(cursor any) (extsort.Entry, error) {
	var err error
	if r.State.Cursor, err = json.Marshal(cursor); err != nil {
		return extsort.Entry{}, err
	}
	return r.stateEntry()
}

func (r *StageRun) stateEntry() (extsort.Entry, error) {
	s := r.State
	wall, cpu := r.clock.Seconds()
	s.Seconds += wall
	s.CPU += cpu
	s.Peak = max(s.Peak, r.clock.Peak())
	value, err := json.Marshal(s)
	return extsort.Entry{Key: layout.MetaKey("stage/" + r.stage.Name), Value: value}, err
}

// Cursor decodes the stored cursor into v. ok is false if the stage has not begun.
func (r *StageRun) Cursor(v any) (ok bool, err error) {
	if len(r.State.Cursor) == 0 {
		return false, nil
	}
	return true, json.Unmarshal(r.State.Cursor, v)
}

// SetCounts sets the stage's counts, which are written with its state.
func (r *StageRun) SetCounts(v any) (err error) {
	r.State.Counts, err = json.Marshal(v)
	return err
}

// followAgain makes a finished stage continue where it follows judged pairs.
func (r *StageRun) followAgain() error {
	cursor, err := r.stage.Follows(r.State)
	if err == nil {
		r.State.Cursor, err = json.Marshal(cursor)
	}
	return err
}

// Counts decodes the counts of a stage into into.
func (w *Workspace) Counts(name string, into any) error {
	s, ok, err := w.State(name)
	if err != nil || !ok {
		return err
	}
	return s.DecodeCounts(into)
}
