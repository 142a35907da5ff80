package workspace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"neardup/configs"
)

// Manifest is the content of manifest.json. It mirrors the states in the
// database, for status and for other tools.
type Manifest struct {
	Format  int             `json:"format"`
	Program string          `json:"program"`
	Config  *configs.Config `json:"config,omitempty"` // of the last run
	Inputs  []Source        `json:"inputs,omitempty"`
	Stages  []StageInfo     `json:"stages,omitempty"`
	Judged  JudgedSet       `json:"judged,omitzero"` // pairs that the next run follows
}

// StageInfo is the state of one stage.
type StageInfo struct {
	Name string `json:"name"`
	StageState
}

// Version returns the version of the program, from its build.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// ReadManifest reads the manifest of the workspace in dir. It does not open the
// database, so another process may work in the workspace.
func ReadManifest(dir string) (m Manifest, err error) {
	path := filepath.Join(dir, "manifest.json")
	b, err := os.ReadFile(path)
	if err != nil {
		return m, err
	}
	var format struct{ Format int } // read first, because another format may have any other fields
	if err := json.Unmarshal(b, &format); err != nil {
		return m, fmt.Errorf("%w: %s: %w", errManifest, path, err)
	}
	if m.Format = format.Format; !m.Readable() {
		_ = json.Unmarshal(b, &struct{ Program *string }{&m.Program})
		return m, nil
	}
	if !hasSum(b) {
		return m, fmt.Errorf("%w: %s is not what was written", errManifest, path)
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("%w: %s: %w", errManifest, path, err)
	}
	return m, nil
}

// Readable reports whether this program reads the workspace's format.
func (m Manifest) Readable() bool { return m.Format >= 1 && m.Format <= Format }

// The last field of a manifest is the checksum of what is before it.
const sumField = ",\n  \"sum\": \""

func appendSum(b []byte) []byte {
	b = bytes.TrimSuffix(b, []byte("\n}\n"))
	return fmt.Appendf(b, "%s%s\"\n}\n", sumField, Digest(string(b)))
}

// hasSum reports whether there is no wrong checksum. Format 1 has none.
func hasSum(b []byte) bool {
	at := bytes.LastIndex(b, []byte(sumField))
	return at < 0 || bytes.Equal(b, appendSum(append(bytes.Clone(b[:at]), "\n}\n"...)))
}

func writeManifest(dir string, m Manifest) error {
	b, err := marshalIndent(m)
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, "manifest.json"), func(f *os.File) error {
		_, err := f.Write(appendSum(b))
		return err
	})
}

// publish writes the manifest from the database.
func (w *Workspace) publish() error {
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

// manifest returns what the database has of the manifest: all but the config.
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
	return m, nil
}

// StageStatus compares a stage with a config.
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

// Status is what neardup status shows.
type Status struct {
	Workspace string        `json:"workspace"`
	Program   string        `json:"program"`
	Records   RecordCounts  `json:"records"`
	Inputs    []Source      `json:"inputs"`
	Stages    []StageStatus `json:"stages"`
}

// ReadStatus compares the workspace in dir with config; a nil config stands
// for the one it was last run with.
func ReadStatus(dir string, stages []Stage, config *configs.Config) (Status, error) {
	m, err := ReadManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Status{}, fmt.Errorf("%w in %s; neardup run or neardup extract makes one", ErrNoWorkspace, dir)
	}
	if err != nil {
		return Status{}, err
	}
	if !m.Readable() {
		return Status{}, fmt.Errorf("%w: %s has format %d, this program reads formats up to %d", ErrOtherFormat, dir, m.Format, Format)
	}
	if config == nil {
		config = m.Config
	}
	out := Status{Workspace: dir, Program: m.Program, Inputs: m.Inputs}
	var files comparer
	if config != nil {
		files.limits = config.Extract.Limits
	}
	for i, s := range m.Inputs {
		out.Records.Add(s.Counts)
		if s.State == SourceDone && config != nil {
			if same, err := files.unchanged(s); err != nil {
				out.Inputs[i].Note = "not there any more"
			} else if !same {
				out.Inputs[i].Note = "changed since it was read"
			}
		}
	}
	if config == nil { // the workspace is new, and nothing was done
		return out, nil
	}
	known := map[string]StageState{}
	for _, s := range m.Stages {
		known[s.Name] = s.StageState
	}
	input := SourcesGeneration(m.Inputs)
	for _, st := range stages {
		s, ok := known[st.Name]
		reason, why := assess(st, s, ok, *config, input, m.Judged)
		out.Stages = append(out.Stages, StageStatus{Name: st.Name, Done: ok && s.Done, Stale: reason, Why: why,
			Seconds: s.Seconds, CPU: s.CPU, Peak: s.Peak, Counts: s.Counts})
		options, _ := st.Options(*config) // with an error, which the stage tells, the stages behind it are stale
		input = StageState{Version: st.Version, Options: options, Input: input}.Generation()
	}
	return out, nil
}

// keptConfig returns the config that the manifest names.
func (w *Workspace) keptConfig() *configs.Config {
	if w.trial != nil {
		return &w.trial.keeps
	}
	return &w.Config
}
