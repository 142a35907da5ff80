package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"neardup/configs"
	"neardup/extract/container"
	"neardup/pipeline/disk"
	"neardup/pipeline/inputs"
)

// Manifest is the content of manifest.json. It repeats the states from the database
// for status and for other tools.
type Manifest struct {
	Format  int             `json:"format"`
	Program string          `json:"program"`
	Config  *configs.Config `json:"config,omitempty"` // config of the last run
	Inputs  []inputs.Source `json:"inputs,omitempty"`
	Stages  []StageInfo     `json:"stages,omitempty"`
	Judged  JudgedSet       `json:"judged,omitzero"` // pairs that the next run has to follow

	Preferences []Preference `json:"preferences,omitempty"` // lists of scores and hosts
}

// StageInfo is the state of one stage.
type StageInfo struct {
	Name string `json:"name"`
	StageState
}

// Version returns the program's version, from its build information.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// ReadManifest reads the manifest of the workspace in dir. It does not open the
// database, so it works while another process uses the workspace.
func ReadManifest(dir string) (Manifest, error) { return readManifest(dir, true) }

// readManifest is ReadManifest. Without all, it reads only the format of a manifest that has
// its checksum: with many inputs, the rest takes long.
func readManifest(dir string, all bool) (m Manifest, err error) {
	path := filepath.Join(dir, "manifest.json")
	b, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	if m.Format, err = formatOf(b); err != nil {
		return m, fmt.Errorf("%w: %s: %w", errManifest, path, err)
	}
	if !m.Readable() {
		_ = json.Unmarshal(b, &struct{ Program *string }{&m.Program})
		return m, nil
	}
	right, has := hasSum(b)
	if !right {
		return m, fmt.Errorf("%w: %s is not what was written", errManifest, path)
	}
	if all || !has {
		if err := json.Unmarshal(b, &m); err != nil {
			return m, fmt.Errorf("%w: %s: %w", errManifest, path, err)
		}
	}
	return m, nil
}

// formatOf returns the format of a manifest, of which the other fields may be any. It is the
// first field of those that neardup writes.
func formatOf(b []byte) (int, error) {
	var m struct{ Format int }
	d := json.NewDecoder(bytes.NewReader(b))
	_, _ = d.Token()
	if first, _ := d.Token(); first == "format" && d.Decode(&m.Format) == nil && (Manifest{Format: m.Format}).Readable() {
		return m.Format, nil // otherwise it may be damaged
	}
	err := json.Unmarshal(b, &m)
	return m.Format, err
}

// Existing returns the manifest of a workspace that must be there, and in a format that
// this program reads; without all, only its format.
func Existing(dir string, all bool) (Manifest, error) {
	m, err := readManifest(dir, all)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return m, fmt.Errorf("%w in %s; neardup run or neardup extract makes one", ErrNoWorkspace, dir)
	case err == nil && !m.Readable():
		return m, fmt.Errorf("%w: %s has format %d, this program reads formats up to %d; use the program that made it (neardup %s), or a new workspace",
			ErrOtherFormat, dir, m.Format, Format, m.Program)
	}
	return m, err
}

// Readable reports whether this program can read the workspace's format.
func (m Manifest) Readable() bool { return m.Format >= 1 && m.Format <= Format }

// The last field of a manifest is the checksum of all bytes before it.
const sumField = ",\n  \"sum\": \""

func appendSum(b []byte) []byte {
	b = bytes.TrimSuffix(b, []byte("\n}\n"))
	return fmt.Appendf(b, "%s%s\"\n}\n", sumField, Digest(string(b)))
}

// hasSum reports whether the manifest's checksum is right, and there. A manifest of format 1
// has none, which counts as right.
func hasSum(b []byte) (right, there bool) {
	at := bytes.LastIndex(b, []byte(sumField))
	return at < 0 || bytes.Equal(b, appendSum(append(bytes.Clone(b[:at]), "\n}\n"...))), at >= 0
}

func writeManifest(dir string, m Manifest) error { return putManifest(dir, m, disk.WriteFile) }

// createManifest writes the first manifest of a workspace. If another process has
// written one meanwhile, that one stays.
func createManifest(dir string, m Manifest) error {
	err := putManifest(dir, m, disk.CreateFile)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) { // ErrNotExist: the process that holds the lock removed this temporary file
		if _, readErr := ReadManifest(dir); readErr == nil {
			return nil
		}
	}
	return err
}

func putManifest(dir string, m Manifest, write func(string, func(*os.File) error) error) error {
	b, err := marshalIndent(m)
	if err != nil {
		return err
	}
	return write(filepath.Join(dir, "manifest.json"), func(f *os.File) error {
		_, err := f.Write(appendSum(b))
		return err
	})
}

// Publish writes the manifest from the state in the database.
func (w *Workspace) Publish() error {
	if err := w.DB.There(); err != nil {
		return err
	}
	if err := w.keepIdentity(); err != nil {
		return err
	}
	m, err := w.manifest()
	if err != nil {
		return err
	}
	m.Config = w.keptConfig()
	return writeManifest(w.Dir, m)
}

// manifest builds the manifest from the database, without the config.
func (w *Workspace) manifest() (Manifest, error) {
	m := Manifest{Format: Format, Program: Version()}
	for _, st := range w.Stages {
		s, ok, err := w.State(st.Name)
		if err != nil {
			return m, err
		}
		if ok {
			m.Stages = append(m.Stages, StageInfo{st.Name, s})
		}
	}
	var err error
	if m.Inputs, err = w.Sources(); err != nil {
		return m, err
	}
	pairs, err := w.EnforcedPairs()
	if err != nil {
		return m, err
	}
	m.Judged = newJudgedSet(pairs)
	m.Preferences, err = w.Preferences()
	return m, err
}

// StageStatus is the state of a stage compared with a config.
type StageStatus struct {
	Name    string          `json:"stage"`
	Done    bool            `json:"done"`
	Stale   Reason          `json:"stale,omitempty"`
	Why     string          `json:"why,omitempty"`
	Seconds float64         `json:"seconds"`
	CPU     float64         `json:"cpu_seconds"`
	Peak    int64           `json:"peak_bytes"`
	Counts  json.RawMessage `json:"counts,omitempty"`
}

// Status is what neardup status prints.
type Status struct {
	Workspace string              `json:"workspace"`
	Program   string              `json:"program"`
	Holder    string              `json:"holder,omitempty"` // the process that works in it
	Records   inputs.RecordCounts `json:"records"`
	Inputs    []inputs.Source     `json:"inputs"`
	Stages    []StageStatus       `json:"stages"`

	Preferences []Preference `json:"preferences,omitempty"`
}

// ReadStatus compares the workspace in dir with config. If config is nil, it uses
// the config of the last run.
func ReadStatus(ctx context.Context, dir string, stages []Stage, config *configs.Config) (Status, error) {
	m, err := Existing(dir, true)
	if err != nil {
		return Status{}, err
	}
	if config == nil {
		config = m.Config
	}
	out := Status{Workspace: dir, Program: m.Program, Holder: atWork(dir), Inputs: m.Inputs, Preferences: m.Preferences}
	var limits container.Limits
	if config != nil {
		limits = config.Extract.Limits
	}
	files := inputs.NewHastyComparer(limits) // a user waits
	for i, s := range m.Inputs {
		s.In(dir)
		out.Records.Add(s.Counts)
		if s.State == inputs.Done && config != nil {
			if same, err := files.Unchanged(ctx, s); errors.Is(err, fs.ErrNotExist) {
				out.Inputs[i].Note = "not there any more"
			} else if err != nil {
				out.Inputs[i].Note = "cannot be looked at: " + err.Error()
			} else if !same {
				out.Inputs[i].Note = "changed since it was read"
			}
		}
	}
	if config == nil { // a new workspace in which nothing was done
		return out, nil
	}
	known := map[string]StageState{}
	for _, s := range m.Stages {
		known[s.Name] = s.StageState
	}
	scores := newScoreSet(OfKind(m.Preferences, KindScores))
	input := SourcesGeneration(m.Inputs)
	for _, st := range stages {
		s, ok := known[st.Name]
		reason, why := assess(st, s, ok, *config, input, m.Judged, scores)
		if reason == Unfinished && out.Holder != "" {
			why = "begun"
		}
		out.Stages = append(out.Stages, StageStatus{Name: st.Name, Done: ok && s.Done, Stale: reason, Why: why,
			Seconds: s.Seconds, CPU: s.CPU, Peak: s.Peak, Counts: s.Counts})
		options, _ := st.Options(*config) // the stage itself reports the error; stages after it are stale
		next := StageState{Version: st.Version, Options: options, Input: input}
		if st.Scored {
			next.Scores = scores
		}
		input = next.Generation()
	}
	return out, nil
}

// keptConfig returns the config in the manifest.
func (w *Workspace) keptConfig() *configs.Config {
	if w.trial != nil {
		return &w.trial.keeps
	}
	return &w.Config
}
