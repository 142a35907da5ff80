package pipeline

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"neardup/configs"
)

func mustLoad(t testing.TB, settings ...string) configs.Config {
	t.Helper()
	c, err := configs.Load("default", settings)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// done is the state of a stage that was done with config from input.
func done(t *testing.T, st stage, c configs.Config, input string) stageState {
	t.Helper()
	options, err := json.Marshal(st.options(c))
	if err != nil {
		t.Fatal(err)
	}
	return stageState{Version: st.version, Options: options, Input: input, Done: true}
}

func TestAssess(t *testing.T) {
	verify := AllStages[3]
	base := mustLoad(t)
	for _, tt := range []struct {
		name   string
		change func(s *stageState)
		config configs.Config
		input  string
		want   Reason
		why    string
	}{
		{"up to date", nil, base, "in", UpToDate, ""},
		{"another option", nil, mustLoad(t, "verify.slope=0.2"), "in", Changed, "verify.slope: 0.1 -> 0.2"},
		{"an option of another stage", nil, mustLoad(t, "sign.smallest=3"), "in", UpToDate, ""},
		{"another input", nil, base, "other", Input, "input"},
		{"another version", func(s *stageState) { s.Version-- }, base, "in", Outdated, "version"},
		{"interrupted", func(s *stageState) { s.Done = false }, base, "in", Unfinished, "interrupted"},
		{"other judged pairs", func(s *stageState) { s.Judged = judgedSet{2, "x"} }, base, "in", Judgements, "2 before, now 0"},
		{"other judged pairs and input", func(s *stageState) { s.Judged = judgedSet{2, "x"} }, base, "other", Input, "input"},
		{"other judged pairs, interrupted", func(s *stageState) { s.Judged, s.Done = judgedSet{2, "x"}, false }, base, "in", Judgements, "2 before"},
		{"indented by the manifest", func(s *stageState) {
			s.Options, _ = json.MarshalIndent(s.Options, "", "    ")
		}, base, "in", UpToDate, ""},
	} {
		s := done(t, verify, base, "in")
		if tt.change != nil {
			tt.change(&s)
		}
		got, why := assess(verify, s, true, tt.config, tt.input, judgedSet{})
		if got != tt.want || !strings.Contains(why, tt.why) {
			t.Errorf("%s: %q (%s), want %q (%s)", tt.name, got, why, tt.want, tt.why)
		}
	}
	if got, _ := assess(verify, stageState{}, false, base, "in", judgedSet{}); got != Missing {
		t.Errorf("never done: %q", got)
	}
	for _, st := range AllStages[:3] {
		if got, why := assess(st, done(t, st, base, "in"), true, base, "in", judgedSet{1, "y"}); got != UpToDate {
			t.Errorf("judged pairs: %s is %q (%s)", st.name, got, why)
		}
	}
}

// Every setting must belong to a stage of some method, or changing it would go
// unnoticed; and to none of a method that does not use it.
func TestEveryOptionTouchesAStage(t *testing.T) {
	var methods []configs.Config
	schemes, searches, measures := configs.Parts()
	for i := range max(len(schemes), len(searches), len(measures)) {
		c := mustLoad(t)
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
		return c.Sign.Scheme == configs.SchemeRing
	case section == "sign" && len(fields) > 3:
		return field == c.Sign.Scheme
	case section == "cluster" && len(fields) > 3:
		return field == c.Cluster.Search
	case section == "verify" && field == "options":
		return c.Verify.Measure == configs.MeasureTLCS
	case section == "verify" && len(fields) > 3 && field != "subject":
		return field == c.Verify.Measure
	}
	return true
}

func stageOptions(c configs.Config) (out string) {
	for _, st := range AllStages {
		options, err := json.Marshal(st.options(c))
		if err != nil {
			panic(err)
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

func TestSignExtendsOnlyWithoutTemplates(t *testing.T) {
	for settings, want := range map[string]bool{"text.templates=0": true, "text.templates=2": false} {
		if got := AllStages[1].extends(mustLoad(t, settings)); got != want {
			t.Errorf("%s: %v, want %v", settings, got, want)
		}
	}
}

func TestGenerationFollowsWhatMatters(t *testing.T) {
	s := done(t, AllStages[1], mustLoad(t), "in")
	same := s
	same.Seconds, same.Counts, same.Cursor = 3, json.RawMessage("{}"), json.RawMessage("{}")
	same.Options, _ = json.MarshalIndent(s.Options, "", " ")
	if s.generation() != same.generation() {
		t.Error("time and counts change the generation")
	}
	for name, change := range map[string]func(*stageState){
		"version": func(s *stageState) { s.Version++ },
		"options": func(s *stageState) { s.Options = json.RawMessage("{}") },
		"input":   func(s *stageState) { s.Input = "other" },
		"judged":  func(s *stageState) { s.Judged = judgedSet{1, "x"} },
	} {
		other := s
		change(&other)
		if other.generation() == s.generation() {
			t.Errorf("%s does not change the generation", name)
		}
	}
}
