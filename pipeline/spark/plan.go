// Package spark plans a run on a cluster of machines, and takes its result into a
// workspace. The plan is a list of steps, each of which runs a filter of package
// filters in tasks. An engine such as the driver in the folder spark runs the tasks,
// shuffles what they write, and keeps the sorted rows of each step in the output
// directory:
//
//	plan.json              the plan
//	steps/ID/LETTER-00007  the rows of a dataset in partition 7, as frames
//	steps/ID/done.json     names these files, once the step is done
//
// The ID of a step is a digest of all that its rows depend on. So a driver that is
// started again, or with more archives or another setting, does what is missing.
package spark

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"neardup/cluster/search"
	"neardup/configs"
	"neardup/pipeline/disk"
	"neardup/pipeline/filters"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	sparkdriver "neardup/spark"
)

// Plan is a run on a cluster.
type Plan struct {
	Format     int            `json:"format"`
	Program    string         `json:"program"`
	Config     configs.Config `json:"config"`
	Partitions int            `json:"partitions"`        // of each dataset
	Exports    []string       `json:"exports,omitempty"` // formats
	Steps      []Step         `json:"steps"`
	Tables     []Dataset      `json:"tables"` // the rows of a workspace
	Counts     []Dataset      `json:"counts"`
}

// planFormat is the version of the plan and of the output directory:
//
//	1: the first
//	2: linked pairs have the number of their component; exports; joins
//	3: verdicts of the measure, and rows of an earlier run that a step can use
const planFormat = 3

// Step runs a filter.
type Step struct {
	ID       string    `json:"id"`   // its directory
	Name     string    `json:"name"` // for people
	Filter   string    `json:"filter"`
	Settings string    `json:"settings"` // digest of what its rows depend on besides the input
	Tasks    int       `json:"tasks"`
	Names    []string  `json:"names,omitempty"` // archives, one for each task
	Inputs   []Dataset `json:"inputs,omitempty"`
	// Earlier are datasets of earlier runs that spare work. They may be gone, since no
	// table and no export depends on them.
	Earlier []Dataset `json:"earlier,omitempty"`
	Writes  string    `json:"writes"`          // letters of the datasets that it writes
	Files   bool      `json:"files,omitempty"` // it writes files of exports into its directory
}

// Dataset is what a step wrote.
type Dataset struct {
	Step   string `json:"step"` // ID
	Letter string `json:"letter"`
	All    bool   `json:"all,omitempty"` // each task reads all partitions; otherwise that of its number
}

// DefaultPartitions is the number of partitions if none is given.
const DefaultPartitions = 200

// maxPartitions keeps the files of a step within what a directory holds well.
const maxPartitions = 100_000

// NewPlan returns the plan of a run over archives, which are given by name. before is
// the plan whose result is in the output directory, or nil: the archives that it
// names are not read again. exports are formats of exports.
func NewPlan(c configs.Config, partitions int, exports, names []string, before *Plan) (*Plan, error) {
	if err := check(c); err != nil {
		return nil, err
	}
	exports, err := filters.Exports(exports)
	if err != nil {
		return nil, err
	}
	if partitions < 1 || partitions > maxPartitions {
		return nil, fmt.Errorf("%d partitions, must be from 1 to %d", partitions, maxPartitions)
	}
	p := &planner{before: before, plan: &Plan{Format: planFormat, Program: workspace.Version(), Config: c, Partitions: partitions, Exports: exports}}
	var batches [][]string
	known := map[string]bool{}
	if before != nil {
		for _, s := range before.Steps {
			if s.Filter == "extract" {
				batches = append(batches, s.Names)
			}
		}
	}
	for _, batch := range batches {
		for _, name := range batch {
			known[name] = true
		}
	}
	var batch []string
	for _, name := range names {
		if !known[name] {
			known[name] = true
			batch = append(batch, name)
		}
	}
	if len(batch) > 0 {
		slices.Sort(batch) // the rows do not depend on the order
		batches = append(batches, batch)
	}
	if len(batches) == 0 {
		return nil, errors.New("nothing to read: name archives")
	}
	p.steps(batches)
	return p.plan, p.err
}

// check returns an error that names what cannot run on a cluster.
func check(c configs.Config) error {
	switch {
	case c.Cluster.Search == configs.SearchJoin:
		if _, err := search.NewParts(c.Cluster.Join); err != nil {
			return fmt.Errorf("%w, so it runs on one machine only", err)
		}
	case c.Cluster.Search != configs.SearchKeys:
		return fmt.Errorf("cluster.search: %s needs all signatures in one place, so it runs on one machine only; on a cluster the search is %s or %s", c.Cluster.Search, configs.SearchKeys, configs.SearchJoin)
	}
	switch {
	case c.Verify.Transitivity:
		return errors.New("verify.transitivity: true compares pairs one after another, so it runs on one machine only")
	case c.CountsTerms():
		return errors.New("text.terms.frequencies: those of the collection are counted on one machine only")
	case c.Cluster.Quality != "":
		return errors.New("cluster.quality: weights from a file are for one machine only")
	}
	return nil
}

// planner makes a plan.
type planner struct {
	plan   *Plan
	before *Plan // may be nil
	err    error
}

// every and all name datasets of a step as input: of the task's own partition, or of
// all.
func (s Step) every(letters string) []Dataset { return s.datasets(letters, false) }

func (s Step) all(letters string) []Dataset { return s.datasets(letters, true) }

func (s Step) datasets(letters string, all bool) (out []Dataset) {
	for _, l := range letters {
		out = append(out, Dataset{s.ID, string(l), all})
	}
	return out
}

// add adds a step of a stage. It has one task, or one for each partition.
func (p *planner) add(stage, name, filter, writes string, one bool, inputs ...[]Dataset) Step {
	s := Step{Name: name, Filter: filter, Tasks: p.plan.Partitions, Inputs: slices.Concat(inputs...), Writes: writes}
	if one {
		s.Tasks = 1
	}
	return p.append(stage, s)
}

func (p *planner) append(stage string, s Step) Step {
	i := slices.IndexFunc(stages.All, func(st workspace.Stage) bool { return st.Name == stage })
	options, err := stages.All[i].Options(p.plan.Config)
	p.err = errors.Join(p.err, err)
	f, ok := filters.Find(s.Filter)
	if !ok {
		p.err = errors.Join(p.err, fmt.Errorf("no filter %q", s.Filter))
	}
	var exports string
	if s.Files { // what they look like depends on the program
		exports = fmt.Sprint(p.plan.Exports, p.plan.Program)
	}
	s.Settings = workspace.Digest(planFormat, s.Filter, stages.All[i].Version, string(options), p.plan.Partitions, s.Writes)
	s.ID = fmt.Sprintf("%s-%.12s", s.Name, workspace.Digest(s.Settings, strings.Join(s.Names, "\n"), fmt.Sprint(s.Inputs), exports))
	s.Name += ": " + f.Help
	p.plan.Steps = append(p.plan.Steps, s)
	return s
}

// recall gives a step that gathers texts what the measure said of them in earlier runs,
// in the step that asks it now.
func (p *planner) recall(gathered, asks Step) {
	if p.before == nil {
		return
	}
	named := func(steps []Step, name string) int {
		return slices.IndexFunc(steps, func(s Step) bool { return s.Name == name })
	}
	i, j := named(p.before.Steps, asks.Name), named(p.before.Steps, gathered.Name)
	if i < 0 || j < 0 || p.before.Steps[i].Settings != asks.Settings {
		return
	}
	earlier := p.before.Steps[j].Earlier // it may not have been run
	if last := (Dataset{Step: p.before.Steps[i].ID, Letter: "0"}); last.Step != asks.ID && !slices.Contains(earlier, last) {
		earlier = append(slices.Clip(earlier), last)
	}
	p.plan.Steps[named(p.plan.Steps, gathered.Name)].Earlier = earlier
}

// steps adds the steps.
func (p *planner) steps(batches [][]string) {
	c := p.plan.Config
	var read, sources, revisits, occurrences, documents, texts, units, around []Dataset
	for i, names := range batches {
		x := p.append(configs.StageExtract, Step{Name: fmt.Sprintf("extract-%d", i+1), Filter: "extract", Tasks: len(names), Names: names, Writes: "idtUAQxr"})
		read = append(read, x.every("idtUAQx")...)
		sources, revisits = append(sources, x.all("i")...), append(revisits, x.every("r")...)
		occurrences, documents = append(occurrences, x.every("x")...), append(documents, x.every("d")...)
		texts, units, around = append(texts, x.every("t")...), append(units, x.every("U")...), append(around, x.every("Q")...)
	}
	wanted := p.add(configs.StageExtract, "revisit-keys", "revisit-keys", "w", false, revisits)
	captures := p.add(configs.StageExtract, "captures", "captures", "d", false, documents, wanted.all("w"))
	for i := range revisits {
		revisits[i].All = true
	}
	resolved := p.add(configs.StageExtract, "resolve", "resolve", "dxr", true, revisits, captures.all("d"))
	pages := slices.Concat(occurrences, resolved.every("x"))
	texts = append(texts, pages...)
	tables := slices.Concat(read, resolved.every("dxr"))

	var frames []Dataset
	if c.Text.Frames > 0 {
		seen := p.add(configs.StageSign, "frame-sightings", "frame-sightings", "BJ", false, units, pages, around)
		learned := p.add(configs.StageSign, "frames", "frames", "lN", false, seen.every("BJ"))
		frames = learned.every("N")
		tables = append(tables, learned.every("l")...)
	}
	signed := p.add(configs.StageSign, "sign", "sign", "gLs", false, texts, units, frames)
	tables = append(tables, signed.every("gs")...)

	sets, counts := p.sets(texts, frames, signed)
	tables = append(tables, sets.every("p")...)
	var common []Dataset
	if c.Verify.RarePages > 0 && c.NewMeasure() != nil {
		seen := p.add(configs.StageVerify, "rarity-sightings", "rarity-sightings", "BJ", false, texts, units, frames, sets.every("M"))
		rare := p.add(configs.StageVerify, "rarity", "rarity", "CD", false, seen.every("BJ"))
		common = rare.every("D")
		tables = append(tables, rare.every("C")...)
	}
	gathered := p.add(configs.StageVerify, "gather", "gather", "E0", false, texts, frames, common, sets.every("M"))
	verified := p.add(configs.StageVerify, "verify", "verify", "vZ0", false, sets.every("p"), gathered.every("E0"))
	p.recall(gathered, verified)
	tables = append(tables, verified.every("v")...)
	counts = append(counts, verified.every("Z")...)
	closing := slices.Concat(verified.all("v"), signed.all("L"))
	if c.Verify.Closing == configs.ClosingPartition {
		components := p.add(configs.StageVerify, "components", "components", "GM", true, verified.all("v"))
		gathered := p.add(configs.StageVerify, "gather-parts", "gather", "E0", false, texts, frames, common, components.every("M"), verified.every("0"))
		parts := p.add(configs.StageVerify, "part", "part", "VPZ0", false, components.every("G"), gathered.every("E0"))
		p.recall(gathered, parts)
		checked := p.add(configs.StageVerify, "checked", "checked", "V", false, verified.every("v"), parts.every("V"))
		tables = append(tables, slices.Concat(parts.every("P"), checked.every("V"))...)
		counts = append(counts, parts.every("Z")...)
		closing = slices.Concat(closing, parts.all("P"), checked.all("V"))
	}
	closed := p.add(configs.StageVerify, "close", "close", "achH1", true, closing)
	p.plan.Tables, p.plan.Counts = append(tables, closed.every("achH")...), counts
	if len(p.plan.Exports) > 0 {
		grouped := p.add(configs.StageVerify, "group-pages", "group-pages", "2", false, pages, closed.every("aH1"))
		found := p.add(configs.StageVerify, "group-documents", "group-documents", "3", false, documents, resolved.every("d"), grouped.every("2"))
		p.append(configs.StageVerify, Step{Name: "export", Filter: "export", Tasks: p.plan.Partitions, Files: true,
			Inputs: slices.Concat(sources, closed.every("ch"), found.every("3"))})
	}
}

// sets adds the steps of stage cluster. It returns the last one and what they counted.
func (p *planner) sets(texts, frames []Dataset, signed Step) (Step, []Dataset) {
	c := p.plan.Config
	add := func(name, writes string, one bool, inputs ...[]Dataset) Step {
		return p.add(configs.StageCluster, name, name, writes, one, inputs...)
	}
	if c.Cluster.Search != configs.SearchJoin {
		lists := add("lists", "eZ", false, signed.every("s"))
		edges, one := lists.every("e"), !c.Pairs()
		if one {
			edges = lists.all("e")
		}
		sets := add("sets", "pMZ", one, edges)
		return sets, slices.Concat(lists.every("Z"), sets.every("Z"))
	}
	var records Step
	if c.Cluster.Join.Algorithm == search.JoinLSH {
		records = add("tokens", "67", false, texts, frames)
	} else {
		shared := add("shared-tokens", "5", false, add("tokens", "4", false, texts, frames).every("4"))
		records = add("prefixes", "67", false, shared.every("5"))
	}
	met := add("meet", "8M", false, records.every("6"))
	gathered := add("gather-join", "9", false, records.every("7"), met.every("M"))
	return add("join", "pM", false, met.every("8"), gathered.every("9")), nil
}

const (
	planName   = "plan.json" // in the output directory
	driverName = "driver.py"
)

// ReadPlan reads a plan from a file.
func ReadPlan(path string) (*Plan, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := &Plan{}
	if err := json.Unmarshal(b, p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if p.Format != planFormat {
		return nil, fmt.Errorf("%s: a plan of format %d; this program has format %d", path, p.Format, planFormat)
	}
	if err := p.Config.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, check(p.Config)
}

// ReadOutput reads the plan of an output directory. It returns nil if the directory
// has none, as a new one.
func ReadOutput(dir string) (*Plan, error) {
	p, err := ReadPlan(filepath.Join(dir, planName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return p, err
}

// Current returns an error if this program would do other steps than the plan has: then
// stages have another version since it was made, and rows of both would be mixed.
func (p *Plan) Current() error {
	now, err := NewPlan(p.Config, p.Partitions, p.Exports, nil, p)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(p.Steps, now.Steps, func(a, b Step) bool { return a.Settings == b.Settings }) {
		return fmt.Errorf("%w: the plan is of %s, and the stages of %s have other versions; plan again with neardup spark, and run the driver", workspace.ErrUsage, p.Program, workspace.Version())
	}
	return nil
}

// HasStep returns an error if the plan has no step with that ID: then it was made again
// after a driver had read it.
func (p *Plan) HasStep(id string) error {
	if !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.ID == id }) {
		return fmt.Errorf("%w: the plan has no step %s: it was made again; start the driver again", workspace.ErrUsage, id)
	}
	return nil
}

// Write writes the plan and the driver into an output directory, which it makes. It
// returns the paths of the files.
func (p *Plan) Write(dir string) (plan, driver string, err error) {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return "", "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", "", err
	}
	plan, driver = filepath.Join(dir, planName), filepath.Join(dir, driverName)
	for path, content := range map[string][]byte{plan: append(b, '\n'), driver: sparkdriver.Source} {
		if err := disk.WriteFile(path, func(f *os.File) error {
			_, err := f.Write(content)
			return err
		}); err != nil {
			return "", "", err
		}
	}
	return plan, driver, nil
}

// ExportFile publishes the files of a step that exports in its directory.
func ExportFile(dir string) filters.File {
	return func(name string, write func(io.Writer) error) error {
		return disk.WriteFile(filepath.Join(dir, name), func(f *os.File) error {
			b := bufio.NewWriterSize(f, 256<<10)
			return errors.Join(write(b), b.Flush())
		})
	}
}

// Done reports whether the output directory has the rows of a step.
func (s Step) Done(dir string) (bool, error) {
	_, done, err := stepFiles(dir, s.ID)
	return done, err
}

// stepFiles returns the files of a step and their sizes. A step whose files are not
// all there is not done.
func stepFiles(dir, id string) (files map[string]int64, done bool, err error) {
	path := filepath.Join(dir, "steps", id, "done.json")
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	var d struct {
		Files map[string]int64 `json:"files"`
	}
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, false, fmt.Errorf("%s: %w", path, err)
	}
	for name, size := range d.Files {
		info, err := os.Stat(filepath.Join(dir, "steps", id, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, false, err
		}
		if err != nil || info.Size() != size {
			return nil, false, nil
		}
	}
	return d.Files, true, nil
}
