package spark_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"neardup/configs"
	"neardup/pipeline/exports"
	"neardup/pipeline/filters"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/spark"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// engine runs a plan in this process. It moves frames by their targets and knows
// nothing of rows.
type engine struct {
	t      *testing.T
	dir    string
	random *rand.Rand // shuffles the frames; nil: they stay in order
	ran    int        // steps
}

// frames splits a stream into frames, without the last one.
func frames(t *testing.T, stream []byte) (out [][]byte) {
	t.Helper()
	for len(stream) >= 4 {
		n := int(binary.LittleEndian.Uint32(stream))
		if n == 0 {
			return out
		}
		out, stream = append(out, stream[:4+n]), stream[4+n:]
	}
	t.Fatal("a stream without its last frame")
	return nil
}

// filter runs a filter over frames.
func (g *engine) filter(p *spark.Plan, s spark.Step, name string, task int, in [][]byte) [][]byte {
	g.t.Helper()
	if g.random != nil {
		g.random.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
	}
	f, ok := filters.Find(name)
	if !ok {
		g.t.Fatal("no filter", name)
	}
	var out bytes.Buffer
	stream := append(slices.Concat(in...), 0, 0, 0, 0)
	temp := g.t.TempDir()
	o := filters.Options{Config: p.Config, Partitions: p.Partitions, Task: task, Temp: temp, Workers: 1 + task%2}
	if s.Files {
		if err := os.MkdirAll(filepath.Join(g.dir, "steps", s.ID), 0o777); err != nil {
			g.t.Fatal(err)
		}
		o.Exports, o.File = p.Exports, spark.ExportFile(filepath.Join(g.dir, "steps", s.ID))
	}
	if err := f.Run(g.t.Context(), bytes.NewReader(stream), &out, o); err != nil {
		g.t.Fatalf("%s: %v", name, err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		g.t.Fatalf("%s leaves %v (%v)", name, left, err)
	}
	return frames(g.t, out.Bytes())
}

// read reads the input of a task.
func (g *engine) read(p *spark.Plan, s spark.Step, task int) (in [][]byte) {
	if len(s.Names) > 0 {
		name := s.Names[task]
		payload := append(binary.LittleEndian.AppendUint32(nil, uint32(task)), 'I')
		payload = append(append(binary.AppendUvarint(payload, uint64(len(name))), name...), 0)
		return [][]byte{append(binary.LittleEndian.AppendUint32(nil, uint32(len(payload))), payload...)}
	}
	for _, d := range slices.Concat(s.Inputs, s.Earlier) {
		for partition := range p.Partitions {
			if !d.All && partition != task {
				continue
			}
			b, err := os.ReadFile(filepath.Join(g.dir, "steps", d.Step, fmt.Sprintf("%s-%05d", d.Letter, partition)))
			if os.IsNotExist(err) {
				continue
			}
			if err != nil {
				g.t.Fatal(err)
			}
			in = append(in, frames(g.t, b)...)
		}
	}
	return in
}

// run does the steps that the directory lacks.
func (g *engine) run(p *spark.Plan) {
	g.t.Helper()
	for _, s := range p.Steps {
		before, err := s.Done(g.dir)
		if err != nil {
			g.t.Fatal(err)
		}
		if before {
			continue
		}
		g.ran++
		targets := map[int][][]byte{}
		done := struct {
			Files map[string]int `json:"files"`
		}{map[string]int{}}
		for task := range s.Tasks {
			for _, f := range g.filter(p, s, s.Filter, task, g.read(p, s, task)) {
				target := int(binary.LittleEndian.Uint32(f[4:]))
				targets[target] = append(targets[target], f)
			}
		}
		for target, in := range targets {
			files := map[byte][]byte{}
			for _, f := range g.filter(p, s, "sort", target, in) {
				files[f[8]] = append(files[f[8]], f...)
			}
			for letter, b := range files {
				if !strings.ContainsRune(s.Writes, rune(letter)) {
					g.t.Fatalf("%s writes rows of %c", s.ID, letter)
				}
				name := fmt.Sprintf("%c-%05d", letter, target)
				done.Files[name] = len(b) + 4
				pipetest.WriteFile(g.t, filepath.Join(g.dir, "steps", s.ID, name), append(b, 0, 0, 0, 0))
			}
		}
		if s.Files {
			made, err := os.ReadDir(filepath.Join(g.dir, "steps", s.ID))
			if err != nil {
				g.t.Fatal(err)
			}
			for _, f := range made {
				info, err := f.Info()
				if err != nil {
					g.t.Fatal(err)
				}
				done.Files[f.Name()] = int(info.Size())
			}
		}
		b, err := json.Marshal(done)
		if err != nil {
			g.t.Fatal(err)
		}
		pipetest.WriteFile(g.t, filepath.Join(g.dir, "steps", s.ID, "done.json"), b)
	}
}

// adopted returns a workspace with the result of a plan.
func (g *engine) adopted(p *spark.Plan) *workspace.Workspace {
	g.t.Helper()
	dir := filepath.Join(g.t.TempDir(), "ws")
	w, err := workspace.Open(dir, stages.All, p.Config, true, workspace.Options{})
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		if err := w.Close(); err != nil {
			g.t.Error(err)
		}
	})
	if err := spark.Adopt(g.t.Context(), p, g.dir, w); err != nil {
		g.t.Fatal(err)
	}
	return w
}

func plan(t *testing.T, c configs.Config, partitions int, names []string, before *spark.Plan) *spark.Plan {
	t.Helper()
	p, err := spark.NewPlan(c, partitions, exportFormats, names, before)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// single returns a workspace of a run on one machine.
func single(t *testing.T, c configs.Config, names ...string) *workspace.Workspace {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, dir, c, workspace.Options{}, names...)
	return pipetest.Open(t, dir, c)
}

// forLaterRuns are tables that only spare later runs work. Adopted workspaces have none.
var forLaterRuns = []byte{layout.TableSearch, layout.TableLong, layout.TableSetResult, layout.TablePartResult}

// same compares all tables of the stages, the counts and the exports.
func same(t *testing.T, got, want *workspace.Workspace) {
	t.Helper()
	for _, st := range stages.All {
		for _, table := range st.Tables {
			if slices.Contains(forLaterRuns, table) {
				continue
			}
			a, b := pipetest.RowsOf(t, got, table), pipetest.RowsOf(t, want, table)
			if a != b {
				t.Errorf("table %c: %d rows, want %d", table, strings.Count(a, "\n"), strings.Count(b, "\n"))
			}
		}
		a, _, err := got.State(st.Name)
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := want.State(st.Name)
		if err != nil {
			t.Fatal(err)
		}
		if st.Name == workspace.StageCluster { // a join on a cluster does not count what its filters leave
			b.Counts = withoutJoin(t, b.Counts)
		}
		if string(a.Counts) != string(b.Counts) || a.Generation() != b.Generation() {
			t.Errorf("%s counts\n%s, want\n%s", st.Name, a.Counts, b.Counts)
		}
	}
	if err := got.Current(workspace.StageVerify); err != nil {
		t.Error(err)
	}
	for _, format := range []string{"jsonl", "contained", "edges", "keep", "csv"} {
		a, b := pipetest.ExportOf(t, got, exports.Options{Format: format}), pipetest.ExportOf(t, want, exports.Options{Format: format})
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs:\n%.500s\nwant\n%.500s", format, a, b)
		}
	}
}

// withoutJoin returns the counts of stage cluster without those of a join.
func withoutJoin(t *testing.T, counts json.RawMessage) json.RawMessage {
	t.Helper()
	var c rows.ClusterCounts
	if err := json.Unmarshal(counts, &c); err != nil {
		t.Fatal(err)
	}
	if c.Join == nil {
		return counts
	}
	c.Join = nil
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A run by filters and a shuffle that knows nothing of rows gives the tables, counts
// and exports of one machine, in any number of partitions.
func TestSameBytes(t *testing.T) {
	crawl := pipetest.Crawl(t)
	random := rand.New(rand.NewPCG(3, 4))
	planted, _ := pipetest.Planted(random, 8)
	records, _ := pipetest.Revisits()
	names := []string{crawl, pipetest.WriteTexts(t, 0, planted), pipetest.WriteRecords(t, slices.Concat(records, navigation(3))...),
		pipetest.WriteTexts(t, 1000, pipetest.Chains(random, 2, 12))}
	tests := []struct {
		settings   []string // the first is the preset
		partitions []int
	}{
		{[]string{"default"}, []int{1, 7}},
		{[]string{"default", "cluster.site_list=2", "cluster.max_list=8", "text.pages=topic"}, []int{2}},
		{[]string{"paper"}, []int{2}},
		{[]string{"default", "cluster.merge=direct", "verify.closing=representative", "verify.contained=leaf"}, []int{3}},
		{[]string{"default", "verify.partition.max_links=2"}, []int{1, 3}},
		{[]string{"shingling", "cluster.common=3"}, []int{2}},
		{[]string{"minhash-lsh"}, []int{2}},
		{[]string{"cosine"}, []int{2}},
		{[]string{"lcs"}, []int{2}},
		{[]string{"ppjoin"}, []int{1, 7}},
		{[]string{"ppjoinplus", "cluster.join.size=2", "text.frames=3"}, []int{2}},
		{[]string{"allpairs", "cluster.join.repeats=true", "cluster.join.tokens=words"}, []int{2}},
		{[]string{"ppjoin", "cluster.join.measure=cosine", "cluster.join.threshold=0.5", "cluster.join.size=1"}, []int{2}},
		{[]string{"ppjoin", "cluster.join.measure=overlap", "cluster.join.threshold=20", "cluster.join.extra=2"}, []int{2}},
		{[]string{"ppjoin", "cluster.join.tokens=characters", "cluster.join.threshold=0.6", "text.pages=topic"}, []int{2}},
		{[]string{"ppjoinplus-sketches"}, []int{3}},
		{[]string{"cosine-lsh"}, []int{1, 3}},
		{[]string{"ppjoinplus", "cluster.join.threshold=0.4", "verify.measure=tlcs"}, []int{2}},
	}
	if testing.Short() {
		tests = tests[:3]
	}
	for _, test := range tests {
		t.Run(strings.Join(test.settings, " "), func(t *testing.T) {
			c := pipetest.MustLoadPreset(t, test.settings[0], test.settings[1:]...)
			want := single(t, c, names...)
			if n := strings.Count(pipetest.RowsOf(t, want, layout.TableVerdict), "\n"); n < 20 {
				t.Errorf("%d near pairs tell little", n)
			}
			for _, partitions := range test.partitions {
				g := &engine{t: t, dir: t.TempDir(), random: rand.New(rand.NewPCG(1, uint64(partitions)))}
				p := plan(t, c, partitions, names, nil)
				g.run(p)
				same(t, g.adopted(p), want)
				g.sameExports(p, want)
			}
		})
	}
}

// navigation returns the records of pages of links, which are near each other.
func navigation(n int) (records [][]byte) {
	for i := range n {
		var b strings.Builder
		for k := range 60 {
			fmt.Fprintf(&b, "<li><a href='/%d'>Report %x on kites and seals</a>", k, 7919*k)
		}
		records = append(records, pipetest.Archived("response", fmt.Sprint("navigation", i), fmt.Sprintf("http://links.example/%d", i), 1,
			fmt.Sprintf("%s<ul>%s<li><a href='/'>Page %d</a></ul>", pipetest.OkHTML, b.String(), i)))
	}
	return records
}

// exportFormats are all that a cluster exports.
var exportFormats = []string{"contained", "jsonl", "parquet", "csv"}

// sameExports compares the files of all partitions with the exports of one machine.
func (g *engine) sameExports(p *spark.Plan, want *workspace.Workspace) {
	g.t.Helper()
	step := p.Steps[len(p.Steps)-1]
	for format, name := range map[string]string{"jsonl": "clusters-%05d.jsonl", "csv": "clusters-%05d.csv", "contained": "contained-%05d.jsonl", "parquet": "clusters-%05d.parquet"} {
		var got []byte
		var gotRows []parquetRow
		for partition := range p.Partitions {
			b, err := os.ReadFile(filepath.Join(g.dir, "steps", step.ID, fmt.Sprintf(name, partition)))
			if err != nil {
				g.t.Fatal(err)
			}
			if got = append(got, b...); format == "parquet" {
				gotRows = append(gotRows, parquetRows(g.t, b)...)
			}
		}
		one := pipetest.ExportOf(g.t, want, exports.Options{Format: format})
		if format == "parquet" {
			if !slices.Equal(gotRows, parquetRows(g.t, one)) {
				g.t.Errorf("parquet differs: %d rows", len(gotRows))
			}
		} else if !bytes.Equal(got, one) {
			g.t.Errorf("the files of %s differ:\n%.500s\nwant\n%.500s", format, got, one)
		}
	}
}

type parquetRow struct {
	Cluster  string `parquet:"cluster"`
	RecordID string `parquet:"record_id"`
	Relation string `parquet:"relation"`
}

func parquetRows(t *testing.T, b []byte) []parquetRow {
	t.Helper()
	rows, err := parquet.Read[parquetRow](bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Rows that do not fit into memory, and more partitions than rows.
func TestSameBytesSpilled(t *testing.T) {
	if testing.Short() {
		t.Skip("-short asks for less")
	}
	names := []string{pipetest.Crawl(t)}
	c := pipetest.MustLoad(t)
	want := single(t, c, names...)
	pipetest.Spill(t)
	g := &engine{t: t, dir: t.TempDir()}
	p := plan(t, c, 200, names, nil)
	g.run(p)
	same(t, g.adopted(p), want)
	g.sameExports(p, want)
}

// A later crawl joins an earlier result: archives that were read are not read again,
// and the result is that of all of them at once. A run that is repeated does nothing.
func TestLaterCrawl(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	planted, _ := pipetest.Planted(random, 4)
	first, second := pipetest.WriteTexts(t, 0, planted[:6]), pipetest.WriteTexts(t, 100, planted[6:])
	c := pipetest.MustLoad(t)
	g := &engine{t: t, dir: t.TempDir()}
	before := plan(t, c, 2, []string{first}, nil)
	g.run(before)
	g.ran = 0
	g.run(before)
	if g.ran != 0 {
		t.Errorf("repeated: %d steps ran", g.ran)
	}
	lost, err := filepath.Glob(filepath.Join(g.dir, "steps", before.Steps[6].ID, "g-*"))
	if err != nil || len(lost) == 0 {
		t.Fatal(lost, err)
	}
	if err := os.Truncate(lost[0], 100); err != nil {
		t.Fatal(err)
	}
	if err := before.Finished(g.dir); err == nil {
		t.Error("a step with a file cut off is done")
	}
	if err := os.Remove(lost[0]); err != nil {
		t.Fatal(err)
	}
	if g.run(before); g.ran != 1 {
		t.Errorf("with a file lost: %d steps ran", g.ran)
	}
	g.ran = 0
	after := plan(t, c, 2, []string{second, first}, before)
	if err := os.Remove(first); err != nil { // it must not be read again
		t.Fatal(err)
	}
	g.run(after)
	if after.Steps[0].ID != before.Steps[0].ID || g.ran != len(after.Steps)-1 {
		t.Errorf("%d of %d steps ran", g.ran, len(after.Steps))
	}
	pipetest.WriteTexts(t, 0, planted[:6])
	if err := os.WriteFile(first, texts(0, planted[:6]), 0o666); err != nil {
		t.Fatal(err)
	}
	same(t, g.adopted(after), single(t, c, first, second))
}

// A crawl can be added to an adopted workspace on one machine.
func TestAdoptedGrows(t *testing.T) {
	planted, _ := pipetest.Planted(rand.New(rand.NewPCG(9, 2)), 4)
	first, second := pipetest.WriteTexts(t, 0, planted[:6]), pipetest.WriteTexts(t, 100, planted[6:])
	c := pipetest.MustLoad(t)
	g := &engine{t: t, dir: t.TempDir()}
	p := plan(t, c, 2, []string{first}, nil)
	g.run(p)
	w := g.adopted(p)
	sources, _, err := inputs.Find(t.Context(), w.Dir, []string{second}, nil, pipetest.Limits)
	if err == nil {
		err = w.Run(t.Context(), workspace.StageExtract, workspace.StageVerify, sources)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := single(t, c, first, second)
	same(t, w, want)
	for _, table := range forLaterRuns {
		if got, want := pipetest.RowsOf(t, w, table), pipetest.RowsOf(t, want, table); got != want {
			t.Errorf("table %c differs", table)
		}
	}
}

// earlier returns the steps of earlier runs that a step can use.
func earlier(p *spark.Plan, name string) (ids []string) {
	for _, s := range p.Steps {
		if strings.HasPrefix(s.Name, name+": ") {
			for _, d := range s.Earlier {
				ids = append(ids, d.Step)
			}
		}
	}
	return ids
}

// id returns the ID of a step.
func id(t *testing.T, p *spark.Plan, name string) string {
	t.Helper()
	i := slices.IndexFunc(p.Steps, func(s spark.Step) bool { return strings.HasPrefix(s.Name, name+": ") })
	if i < 0 {
		t.Fatal("no step", name)
	}
	return p.Steps[i].ID
}

// A later crawl recalls what the measure said in the last run that was done, of sets and
// of parts, and the result is that of everything at once. New texts join the sets and
// components that were there.
func TestLaterVerdicts(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	planted, _ := pipetest.Planted(random, 6)
	chains := pipetest.Chains(random, 2, 14)
	later := func(all []string) (first, second []string) {
		for i, s := range all {
			if i%5 == 3 {
				second = append(second, s)
			} else {
				first = append(first, s)
			}
		}
		return first, second
	}
	plantedFirst, plantedSecond := later(planted)
	chainsFirst, chainsSecond := later(chains)
	names := []string{pipetest.Crawl(t), pipetest.WriteTexts(t, 0, plantedFirst), pipetest.WriteTexts(t, 1000, chainsFirst),
		pipetest.WriteTexts(t, 2000, plantedSecond), pipetest.WriteTexts(t, 3000, chainsSecond)}
	for _, settings := range [][]string{{"default"}, {"default", "verify.closing=representative"}, {"lcs"}, {"minhash-lsh"}, {"ppjoinplus", "cluster.join.threshold=0.4", "verify.measure=tlcs"}} {
		t.Run(strings.Join(settings, " "), func(t *testing.T) {
			c := pipetest.MustLoadPreset(t, settings[0], settings[1:]...)
			g := &engine{t: t, dir: t.TempDir(), random: rand.New(rand.NewPCG(1, 2))}
			first := plan(t, c, 2, names[:3], nil)
			g.run(first)
			never := plan(t, c, 2, names[3:4], first)
			last := plan(t, c, 2, names[4:], never)
			if again := plan(t, c, 2, nil, last); !slices.Equal(earlier(again, "gather"), earlier(last, "gather")) {
				t.Errorf("planned again, it recalls %v", earlier(again, "gather"))
			}
			asks := map[string]string{"gather": "verify"}
			if c.Verify.Closing == configs.ClosingPartition {
				asks["gather-parts"] = "part"
			}
			for gather, asked := range asks {
				if got, want := earlier(last, gather), []string{id(t, first, asked), id(t, never, asked)}; !slices.Equal(got, want) {
					t.Errorf("%s recalls %v, want %v", gather, got, want)
				}
				if found, err := filepath.Glob(filepath.Join(g.dir, "steps", id(t, first, asked), "0-*")); err != nil || len(found) == 0 {
					t.Errorf("%s keeps nothing: %v", asked, err)
				}
			}
			g.run(last)
			if found, err := filepath.Glob(filepath.Join(g.dir, "steps", id(t, last, "gather"), "0-*")); err != nil || len(found) == 0 {
				t.Errorf("nothing is recalled: %v", err)
			}
			same(t, g.adopted(last), single(t, c, names...))

			other := pipetest.MustLoadPreset(t, "minhash-lsh")
			if c.Verify.Measure == other.Verify.Measure {
				other = pipetest.MustLoadPreset(t, "default")
			}
			for what, p := range map[string]*spark.Plan{"other settings": plan(t, other, 2, nil, last), "other partitions": plan(t, c, 3, nil, last)} {
				if got := earlier(p, "gather"); len(got) > 0 {
					t.Errorf("with %s, it recalls %v", what, got)
				}
			}
		})
	}
}

func texts(from int, all []string) []byte {
	var b bytes.Buffer
	for i, s := range all {
		fmt.Fprintf(&b, "%s\t%s\n", pipetest.TextURN(from+i), s)
	}
	return b.Bytes()
}

// Archives that are missing or cut off are accounted for as on one machine.
func TestUnread(t *testing.T) {
	crawl := pipetest.Crawl(t)
	whole, err := os.ReadFile(crawl)
	if err != nil {
		t.Fatal(err)
	}
	cut := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "cut.warc.gz"), whole[:2*len(whole)/3])
	missing := filepath.Join(t.TempDir(), "missing.warc.gz")
	c := pipetest.MustLoad(t)
	g := &engine{t: t, dir: t.TempDir()}
	p := plan(t, c, 2, []string{cut, missing}, nil)
	g.run(p)
	read, err := p.Sources(g.dir)
	states := map[string]string{}
	for _, s := range read {
		states[s.Path] = string(s.State)
	}
	if want := map[string]string{cut: "done", missing: "unreadable"}; err != nil || !maps.Equal(states, want) {
		t.Errorf("read %v, want %v (%v)", states, want, err)
	}
	dir := filepath.Join(t.TempDir(), "ws")
	w, err := workspace.Open(dir, stages.All, c, true, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if err := spark.Adopt(t.Context(), p, g.dir, w); err == nil || !strings.Contains(err.Error(), "missing.warc.gz") {
		t.Errorf("adopted with %v", err)
	}
	dir = filepath.Join(t.TempDir(), "single")
	want, err := workspace.Open(dir, stages.All, c, true, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = want.Close() }()
	sources, _, err := inputs.Find(t.Context(), dir, []string{cut, missing}, nil, c.Extract.Limits)
	if err != nil {
		t.Fatal(err)
	}
	if err := want.Run(t.Context(), "extract", "verify", sources); err == nil {
		t.Error("the missing archive is no error")
	}
	same(t, w, want)
	if err := spark.Adopt(t.Context(), p, g.dir, w); err == nil {
		t.Error("adopted twice")
	}
}

// What needs everything in one place is refused by name.
func TestRefused(t *testing.T) {
	for _, test := range [][]string{{"simhash", "hamming"}, {"default", "cluster.quality", "cluster.quality=pages.tsv"},
		{"ppjoin", "edit", "cluster.join.measure=edit", "cluster.join.tokens=characters"}, {"ppjoin", "idf", "cluster.join.weights=idf"},
		{"ppjoin", "hamming", "cluster.join.measure=hamming", "cluster.join.distance=3"}} {
		c := pipetest.MustLoadPreset(t, test[0], test[2:]...)
		if _, err := spark.NewPlan(c, 2, nil, []string{"a.warc.gz"}, nil); err == nil || !strings.Contains(err.Error(), test[1]) {
			t.Errorf("%v: %v", test, err)
		}
	}
	c := pipetest.MustLoad(t)
	for _, partitions := range []int{0, 1_000_000} {
		if _, err := spark.NewPlan(c, partitions, nil, []string{"a"}, nil); err == nil {
			t.Errorf("%d partitions", partitions)
		}
	}
	if _, err := spark.NewPlan(c, 1, nil, nil, nil); err == nil {
		t.Error("nothing to read is no error")
	}
	if _, err := spark.NewPlan(c, 1, []string{"jsonl", "warc"}, []string{"a"}, nil); err == nil || !strings.Contains(err.Error(), `"warc"`) {
		t.Errorf("an unknown format: %v", err)
	}
	g := &engine{t: t, dir: t.TempDir()}
	if err := plan(t, c, 1, []string{"a"}, nil).Finished(g.dir); err == nil {
		t.Error("nothing is finished")
	}
}

// The members of a WACZ file are read as on one machine.
func TestPackage(t *testing.T) {
	crawl, err := os.ReadFile(pipetest.Crawl(t))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := range 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("archive/%d.warc.gz", i), Method: zip.Store})
		if err == nil {
			_, err = w.Write(crawl)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	name := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "crawl.wacz"), b.Bytes())
	c := pipetest.MustLoad(t)
	g := &engine{t: t, dir: t.TempDir()}
	p := plan(t, c, 2, []string{name}, nil)
	g.run(p)
	read, err := p.Sources(g.dir)
	if err != nil || len(read) != 2 {
		t.Fatal(read, err)
	}
	for _, s := range read {
		if s.State != inputs.Done || s.SHA256 == "" {
			t.Errorf("%s: %s %s", s.Path, s.State, s.Error)
		}
	}
	same(t, g.adopted(p), single(t, c, name))
}

// Files that nobody could tell apart are no result, as one machine does not read them.
func TestTwins(t *testing.T) {
	var names []string
	for _, word := range []string{"harbour", "sandbar"} {
		page := "<p>" + strings.Repeat("Seals rest on the ice. ", 5000) + word + strings.Repeat(" Seals rest on the ice.", 5000)
		record := pipetest.Archived("response", "1", "http://a.example/", 1, pipetest.OkHTML+page[:200_000])
		names = append(names, pipetest.WriteFile(t, filepath.Join(t.TempDir(), "x.warc"), record))
	}
	g := &engine{t: t, dir: t.TempDir()}
	p := plan(t, pipetest.MustLoad(t), 1, names, nil)
	export := p.Steps[len(p.Steps)-1]
	p.Steps = p.Steps[:len(p.Steps)-1]
	g.run(p)
	f, _ := filters.Find(export.Filter)
	o := filters.Options{Config: p.Config, Partitions: 1, Temp: t.TempDir(), Workers: 1, Exports: p.Exports, File: spark.ExportFile(t.TempDir())}
	stream := append(slices.Concat(g.read(p, export, 0)...), 0, 0, 0, 0)
	if err := f.Run(t.Context(), bytes.NewReader(stream), io.Discard, o); err == nil || !strings.Contains(err.Error(), "could not be told apart") {
		t.Errorf("exported: %v", err)
	}
	p, err := spark.NewPlan(p.Config, 1, nil, nil, p)
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(filepath.Join(t.TempDir(), "ws"), stages.All, p.Config, true, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if err := spark.Adopt(t.Context(), p, g.dir, w); err == nil || !strings.Contains(err.Error(), "could not be told apart") {
		t.Errorf("adopted: %v", err)
	}
}

// The result of another version of a stage is not that of this program.
func TestOtherVersion(t *testing.T) {
	p := plan(t, pipetest.MustLoad(t), 2, []string{"a.warc.gz", "b.warc.gz"}, nil)
	if err := errors.Join(p.Current(), p.HasStep(p.Steps[3].ID)); err != nil {
		t.Error(err)
	}
	if err := p.HasStep("sign-0"); err == nil {
		t.Error("it has any step")
	}
	p = plan(t, p.Config, p.Partitions, []string{"c.warc.gz"}, p)
	p.Program = "neardup of another day" // which alone does not matter
	if err := p.Current(); err != nil {
		t.Error(err)
	}
	p.Steps[len(p.Steps)-2].Settings = strings.Repeat("0", 64)
	if err := p.Current(); err == nil || !strings.Contains(err.Error(), "neardup of another day") {
		t.Error(err)
	}
	if err := p.Finished(t.TempDir()); err == nil || !strings.Contains(err.Error(), "other versions") {
		t.Error(err)
	}
}
