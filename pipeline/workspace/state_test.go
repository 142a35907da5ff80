package workspace_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"neardup/configs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// done returns the state of a stage that was done with config from input.
func done(t *testing.T, st workspace.Stage, c configs.Config, input string) workspace.StageState {
	t.Helper()
	options, err := st.Options(c)
	if err != nil {
		t.Fatal(err)
	}
	return workspace.StageState{Version: st.Version, Options: options, Input: input, Done: true}
}

func TestAssess(t *testing.T) {
	verify := stages.All[3]
	base := pipetest.MustLoad(t)
	for _, tt := range []struct {
		name   string
		change func(s *workspace.StageState)
		config configs.Config
		input  string
		want   workspace.Reason
		why    string
	}{
		{"up to date", nil, base, "in", workspace.UpToDate, ""},
		{"another option", nil, pipetest.MustLoad(t, "verify.slope=0.2"), "in", workspace.Changed, "verify.slope: 0.1 -> 0.2"},
		{"an option of another stage", nil, pipetest.MustLoad(t, "sign.smallest=3"), "in", workspace.UpToDate, ""},
		{"another input", nil, base, "other", workspace.Input, "input"},
		{"another version", func(s *workspace.StageState) { s.Version-- }, base, "in", workspace.Outdated, "version"},
		{"interrupted", func(s *workspace.StageState) { s.Done = false }, base, "in", workspace.Unfinished, "interrupted"},
		{"other judged pairs", func(s *workspace.StageState) { s.Judged = workspace.JudgedSet{Pairs: 2, Digest: "x"} }, base, "in", workspace.Judgements, "2 before, now 0"},
		{"other judged pairs and input", func(s *workspace.StageState) { s.Judged = workspace.JudgedSet{Pairs: 2, Digest: "x"} }, base, "other", workspace.Input, "input"},
		{"other judged pairs, interrupted", func(s *workspace.StageState) { s.Judged, s.Done = workspace.JudgedSet{Pairs: 2, Digest: "x"}, false }, base, "in", workspace.Judgements, "2 before"},
		{"indented by the manifest", func(s *workspace.StageState) {
			s.Options, _ = json.MarshalIndent(s.Options, "", "    ")
		}, base, "in", workspace.UpToDate, ""},
	} {
		s := done(t, verify, base, "in")
		if tt.change != nil {
			tt.change(&s)
		}
		got, why := workspace.Assess(verify, s, true, tt.config, tt.input, workspace.JudgedSet{}, workspace.ScoreSet{})
		if got != tt.want || !strings.Contains(why, tt.why) {
			t.Errorf("%s: %q (%s), want %q (%s)", tt.name, got, why, tt.want, tt.why)
		}
	}
	if got, _ := workspace.Assess(verify, workspace.StageState{}, false, base, "in", workspace.JudgedSet{}, workspace.ScoreSet{}); got != workspace.Missing {
		t.Errorf("never done: %q", got)
	}
	for _, st := range stages.All[:3] {
		if got, why := workspace.Assess(st, done(t, st, base, "in"), true, base, "in", workspace.JudgedSet{Pairs: 1, Digest: "y"}, workspace.ScoreSet{}); got != workspace.UpToDate {
			t.Errorf("judged pairs: %s is %q (%s)", st.Name, got, why)
		}
	}
}

// Of the stages, only cluster reads the page scores in the workspace. That they changed
// has precedence over other input, since new input alone would be added to what is
// there.
func TestAssessScores(t *testing.T) {
	base := pipetest.MustLoad(t)
	two := workspace.ScoreSet{Lists: 2, Digest: "y"}
	for _, st := range stages.All {
		for _, input := range []string{"in", "other"} {
			want := workspace.UpToDate
			if input == "other" {
				want = workspace.Input
			}
			if st.Name == workspace.StageCluster {
				want = workspace.Scores
			}
			got, why := workspace.Assess(st, done(t, st, base, "in"), true, base, input, workspace.JudgedSet{}, two)
			if got != want || want == workspace.Scores && why != "lists of scores: 0 before, now 2" {
				t.Errorf("%s: %q (%s), want %q", st.Name, got, why, want)
			}
		}
	}
}

// Every setting must belong to a stage of some method, or changing it would go
// unnoticed; and to none of a method that does not use it.
func TestEveryOptionTouchesAStage(t *testing.T) {
	var methods []configs.Config
	schemes, searches, measures := configs.Parts()
	for i := range max(len(schemes), len(searches), len(measures)) {
		c := pipetest.MustLoad(t)
		c.Sign.Scheme, c.Cluster.Search, c.Verify.Measure =
			schemes[i%len(schemes)], searches[i%len(searches)], measures[i%len(measures)]
		methods = append(methods, c)
	}
	for i := range methods {
		base := &methods[i]
		before := stageOptions(*base)
		walk("config", reflect.ValueOf(base).Elem(), func(path string, change func(), restore func()) {
			part := base.Sign.Scheme
			change()
			if base.Sign.Scheme != part || !slices.Contains(searches, base.Cluster.Search) || !slices.Contains(measures, base.Verify.Measure) {
				restore() // the names of parts: there are none of the changed name
				return
			}
			after := stageOptions(*base)
			restore()
			touched := before != after
			if used := uses(*base, path); touched != used {
				t.Errorf("%s, %s, %s: %s touches a stage: %v, want %v", base.Sign.Scheme, base.Cluster.Search, base.Verify.Measure, path, touched, used)
			}
		})
	}
}

// uses tells by the names of the fields whether a config uses a setting: those
// in the section of a part only with that part.
func uses(c configs.Config, path string) bool {
	fields := strings.Split(strings.ToLower(path), ".")
	section, field := fields[1], fields[2]
	switch {
	case section == "text" && field == "terms":
		return c.Sign.Scheme == "terms" || c.Verify.Measure == "terms"
	case section == "sign" && field == "options":
		return c.Sign.Scheme == "ring"
	case section == "sign" && len(fields) > 3:
		return field == c.Sign.Scheme
	case section == "cluster" && len(fields) > 3:
		return field == c.Cluster.Search
	case section == "verify" && field == "options":
		return c.Verify.Measure == configs.MeasureTLCS
	case section == "verify" && field == "partition":
		return c.Verify.Closing == configs.ClosingPartition
	case section == "verify" && len(fields) > 3 && field != "rarity":
		return field == c.Verify.Measure
	}
	return true
}

func stageOptions(c configs.Config) (out string) {
	for _, st := range stages.All {
		options, err := st.Options(c)
		if err != nil {
			out += err.Error()
		}
		out += string(options)
	}
	return out
}

// walk visits every setting below v.
func walk(path string, v reflect.Value, visit func(path string, change, restore func())) {
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("yaml") != "-" {
				walk(path+"."+v.Type().Field(i).Name, v.Field(i), visit)
			}
		}
		return
	}
	if v.Kind() == reflect.Array {
		for i := range v.Len() {
			walk(path+"."+strconv.Itoa(i), v.Index(i), visit)
		}
		return
	}
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	visit(path, func() {
		switch v.Kind() {
		case reflect.Int, reflect.Int64:
			v.SetInt(v.Int() + 1)
		case reflect.Float64:
			v.SetFloat(v.Float()/2 + 3)
		case reflect.String:
			v.SetString(v.String() + "x")
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Slice:
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		default:
			panic(path + ": no way to change a " + v.Kind().String())
		}
	}, func() { v.Set(old) })
}

// Stages that keep what new inputs leave as it is.
func TestStagesThatExtend(t *testing.T) {
	for settings, want := range map[string][]bool{"text.frames=2": {true, true, true, true}, "text.frames=0": {true, true, true, true}, "cluster.merge=pairs": {true, true, false, false}, "cluster.quality=q.tsv": {true, true, false, true}} {
		for i, st := range stages.All {
			if got := st.Extends != nil && st.Extends(pipetest.MustLoad(t, settings), workspace.ScoreSet{}); got != want[i] {
				t.Errorf("%s: %s: %v, want %v", settings, st.Name, got, want[i])
			}
			if got := st.Extends != nil && st.Extends(pipetest.MustLoad(t, settings), workspace.ScoreSet{Lists: 1, Digest: "x"}); got != (want[i] && st.Name != workspace.StageCluster) {
				t.Errorf("%s, with scores: %s: %v", settings, st.Name, got)
			}
		}
	}
}

func TestGenerationFollowsWhatMatters(t *testing.T) {
	s := done(t, stages.All[1], pipetest.MustLoad(t), "in")
	same := s
	same.Seconds, same.Counts, same.Cursor = 3, json.RawMessage("{}"), json.RawMessage("{}")
	same.Options, _ = json.MarshalIndent(s.Options, "", " ")
	if s.Generation() != same.Generation() {
		t.Error("time and counts change the generation")
	}
	for name, change := range map[string]func(*workspace.StageState){
		"version": func(s *workspace.StageState) { s.Version++ },
		"options": func(s *workspace.StageState) { s.Options = json.RawMessage("{}") },
		"input":   func(s *workspace.StageState) { s.Input = "other" },
		"judged":  func(s *workspace.StageState) { s.Judged = workspace.JudgedSet{Pairs: 1, Digest: "x"} },
		"scores":  func(s *workspace.StageState) { s.Scores = workspace.ScoreSet{Lists: 1, Digest: "x"} },
	} {
		other := s
		change(&other)
		if other.Generation() == s.Generation() {
			t.Errorf("%s does not change the generation", name)
		}
	}
}
