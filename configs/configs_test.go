package configs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestPresetsLoad(t *testing.T) {
	for _, name := range Names() {
		if _, err := Load(name, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	p, err := Load("paper", nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := p.Verify; v.Window != 16 || v.Slope != 0.1 || v.Resemblance != 0.28 || v.Containment != 0.7 || !v.Trustable ||
		p.Sign.Rotations*p.Sign.Modulus != 112 || p.Cluster.MaxList != 10000 || p.Cluster.SiteList != 400 || p.Text.MaxColumns != 10240 {
		t.Errorf("the preset paper is not the paper: %+v", p)
	}
}

// The values of a method's curve are settings of it.
func TestThresholds(t *testing.T) {
	for _, name := range Names() {
		c, err := Load(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		key, values := c.Threshold()
		if len(values) < 5 {
			t.Errorf("%s: %s has the values %q", name, key, values)
		}
		for _, v := range values {
			with := c
			if err := with.Set([]string{key + "=" + v}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if v == values[0] && reflect.DeepEqual(with, c) {
				t.Errorf("%s: %s=%s changes nothing", name, key, v)
			}
		}
	}
}

// Settings of parts are below their names.
func TestNestedSetting(t *testing.T) {
	c, err := Load("minhash-lsh", []string{"sign.minhash.rows=7", "text.terms.intervals.noun=[0.1, 0.2]"})
	if err != nil || c.Sign.MinHash.Rows != 7 || c.Sign.MinHash.Words != 5 || c.Text.Terms.Intervals.Noun[1] != 0.2 {
		t.Errorf("%+v, %v", c, err)
	}
	for setting, want := range map[string]string{
		"sign.minhash.row=7":       "unknown key row",
		"sign.minhash=7":           "cannot unmarshal",
		"sign.scheme=rings":        `sign.scheme: "rings" is neither ring`,
		"verify.measure=search":    "verify.measure: search is for a search that scores pairs",
		"cluster.search=hamming":   "cluster.search: hamming needs signatures of 64 bits",
		"sign.scheme=none":         "cluster.search: keys needs signatures",
		"cluster.common=2":         "cluster.common: 2 needs merge: pairs",
		"verify.transitivity=true": "verify.transitivity: true needs closing: transitive",
	} {
		if _, err := Load("default", []string{setting}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", setting, err, want)
		}
	}
}

// default.yaml documents the settings, so it must have every one.
func TestDefaultHasEveryKey(t *testing.T) {
	b, err := Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	var written map[string]map[string]any
	if err := yaml.Unmarshal(b, &written); err != nil {
		t.Fatal(err)
	}
	c, err := Load("default", nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err = c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]map[string]any
	if err := yaml.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(written, all) {
		t.Errorf("default.yaml has\n%v\nthe config has\n%v", written, all)
	}
}

func TestFileOverPreset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, []byte("verify: {slope: 0.2}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path, []string{"verify.slope=0.3", "cluster.quality=scores.tsv"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Verify.Slope != 0.3 || c.Cluster.Quality != "scores.tsv" || c.Verify.Window != 16 {
		t.Errorf("%+v", c)
	}
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path, nil); err != nil {
		t.Errorf("an empty file: %v", err)
	}
}

func TestErrorsNameTheKey(t *testing.T) {
	for _, tt := range []struct{ setting, want string }{
		{"verify.slop=0.2", "slop"},
		{"verfy.slope=0.2", "verfy"},
		{"verify.slope=steep", "steep"},
		{"verify.slope=-1", "verify.slope"},
		{"verify.slope", "SECTION.KEY=VALUE"},
		{"slope=1", "SECTION.KEY=VALUE"},
		{"verify.closing=maybe", "verify.closing"},
		{"verify.rounds=0", "verify.rounds"},
		{"sign.rotations=17", "sign.rotations"},
		{"sign.weight=heavy", "sign.weight"},
		{"cluster.merge=all", "cluster.merge"},
		{"cluster.max_list=1", "cluster.max_list"},
		{"cluster.site_list=-1", "cluster.site_list"},
		{"cluster.sites=0", "cluster.sites"},
		{"cluster.site_share=1.5", "cluster.site_share"},
		{"text.max_columns=-1", "text.max_columns"},
		{"text.frames=-1", "text.frames"},
		{"text.frames=1", "text.frames"},
		{"extract.statuses=[]", "extract.statuses"},
		{"extract.max_record_bytes=1", "extract.max_record_bytes"},
		{"extract.max_text_bytes=1", "extract.max_text_bytes"},
		{"extract.max_header_bytes=1", "extract.max_header_bytes"},
		{"extract.max_codings=0", "extract.max_codings"},
		{"extract.max_window_bytes=1", "extract.max_window_bytes"},
		{"extract.max_inflation=0", "extract.max_inflation"},
		{"extract.max_members=0", "extract.max_members"},
		{"extract.max_replaced=2", "extract.max_replaced"},
	} {
		_, err := Load("default", []string{tt.setting})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q named", tt.setting, err, tt.want)
		}
	}
	for _, name := range []string{"nonesuch", "../default", "nonesuch.yaml"} {
		if _, err := Load(name, nil); err == nil {
			t.Errorf("config %s loads", name)
		}
	}
}

// Settings that are in their ranges, but make no sense together.
func TestPartsThatDoNotFit(t *testing.T) {
	for _, tt := range []struct {
		preset, want string
		settings     []string
	}{
		{"default", "verify.transitivity", []string{"verify.closing=transitive", "verify.transitivity=true"}},
		{"paper", "verify.transitivity", []string{"verify.transitivity=true"}},
		{"minhash-lsh", "sign.minhash.bands", []string{"sign.minhash.bands=20000"}},
		{"minhash-lsh", "sign.minhash.bands", []string{"sign.minhash.threshold=0.01"}},
	} {
		if _, err := Load(tt.preset, tt.settings); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %v: %v, want %q named", tt.preset, tt.settings, err, tt.want)
		}
	}
	if _, err := Load("default", []string{"verify.closing=transitive", "verify.transitivity=true", "cluster.merge=pairs"}); err != nil {
		t.Error(err)
	}
}

func TestConfigFromBeforeASettingCame(t *testing.T) {
	want, err := Load("paper", nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var old map[string]map[string]any
	if err := json.Unmarshal(b, &old); err != nil {
		t.Fatal(err)
	}
	delete(old["extract"], "overlays")
	delete(old["verify"], "slope")
	if b, err = json.Marshal(old); err != nil {
		t.Fatal(err)
	}
	var got Config
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) { // the preset paper has the default's slope and overlays
		t.Errorf("got %+v, want %+v", got, want)
	}
}
