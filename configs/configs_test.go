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

// The curve of a join goes over the shares of a half and more: joins of less are slow.
func TestThresholdsOfJoins(t *testing.T) {
	c, err := Load("ppjoin", nil)
	if err != nil {
		t.Fatal(err)
	}
	if key, values := c.Threshold(); key != "cluster.join.threshold" || values[0] != "0.5" {
		t.Errorf("%s from %s", key, values[0])
	}
}

// A setting that is not there has no value, also below one that has no parts.
func TestValueOfNoSetting(t *testing.T) {
	c, err := Load("default", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"verify.nothing", "nothing", "verify.measure.more"} {
		if v, err := c.Value(key); err == nil {
			t.Errorf("%s is %s", key, v)
		}
	}
}

// How terms are weighed counts for methods of terms only: others are not redone for it.
func TestTermsAreUsedByTheirParts(t *testing.T) {
	for name, want := range map[string]bool{"default": false, "simfinder": true} {
		c, err := Load(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		for stage, used := range map[string]map[string]any{"sign": c.UsedBySign(), "verify": c.UsedByVerify()} {
			if _, got := used["text"].(map[string]any)["terms"]; got != want {
				t.Errorf("%s, %s: text.terms is used: %v", name, stage, got)
			}
		}
	}
}

// Settings of parts are below their names.
func TestNestedSetting(t *testing.T) {
	c, err := Load("minhash-lsh", []string{"sign.minhash.rows=7"})
	if err == nil {
		err = c.Set([]string{"text.terms.intervals.noun=[0.1, 0.2]"})
	}
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

// A config that is older than some settings gets those of the preset that it is most like.
func TestConfigFromBeforeASettingCame(t *testing.T) {
	for _, name := range Names() {
		for _, settings := range [][]string{nil, {"extract.max_text_bytes=100000", "extract.statuses=[200,404]"}} {
			want, err := Load(name, settings)
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
			delete(old["sign"], "letters")
			delete(old["verify"], "slope")
			if b, err = json.Marshal(old); err != nil {
				t.Fatal(err)
			}
			var got Config
			if err := json.Unmarshal(b, &got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s %q: got %+v, want %+v", name, settings, got, want)
			}
		}
	}
	var got Config
	want, err := Load("default", nil)
	if err == nil {
		err = json.Unmarshal([]byte("{}"), &got)
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("a config without settings is %+v (%v)", got, err)
	}
	if err := json.Unmarshal([]byte(`{"verify":{"slope":"steep"}}`), &got); err == nil {
		t.Error("a setting of another type is read")
	}
}

// A setting that another makes void is refused where it is given.
func TestVoidSettings(t *testing.T) {
	for _, tt := range []struct{ preset, settings, void string }{
		{"default", "verify.trustable=false verify.rounds=2", "verify.rounds"},
		{"lcs", "verify.slope=0.2", "verify.slope"},
		{"default", "sign.simhash.words=2", "sign.simhash.words"},
		{"simhash", "sign.smallest=2", "sign.smallest"},
		{"simhash", "cluster.max_list=7", "cluster.max_list"},
		{"simhash", "verify.window=8", "verify.window"},
		{"simhash", "verify.rare_pages=3", "verify.rare_pages"},
		{"paper", "verify.rare_resemblance=0.5", "verify.rare_resemblance"},
		{"paper", "verify.partition.whole=4", "verify.partition.whole"},
		{"paper", "cluster.all_pairs=4", "cluster.all_pairs"},
		{"paper", "cluster.max_pairs=4", "cluster.max_pairs"},
		{"paper", "cluster.join.size=2", "cluster.join.size"},
		{"paper", "cluster.site_list=0 cluster.sites=2", "cluster.sites"},
		{"paper", "text.terms.scale=log", "text.terms.scale"},
		{"minhash-lsh", "verify.max_scored=4", "verify.max_scored"},
		{"minhash-lsh", "verify.shingles.size=4", "verify.shingles.size"},
		{"minhash-lsh", "sign.minhash.bands=4 sign.minhash.recall=0.9", "sign.minhash.recall"},
		{"shingling", "sign.shingle.size=4", "sign.shingle.size"},
		{"supershingles", "sign.shingle.modulus=4", "sign.shingle.modulus"},
		{"ppjoin", "cluster.join.max_depth=3", "cluster.join.max_depth"},
		{"ppjoinplus", "cluster.join.distance=3", "cluster.join.distance"},
		{"ppjoinplus", "cluster.join.weights=idf cluster.join.bitmaps=true", "cluster.join.bitmaps"},
		{"ppjoinplus", "cluster.join.measure=edit cluster.join.tokens=characters cluster.join.repeats=true", "cluster.join.repeats"},
		{"default", "text.frames=0 verify.rare_framed=0.4", "verify.rare_framed"},
		{"default", "extract.pdf.max_pages=0 extract.pdf.max_steps=2000000", "extract.pdf.max_steps"},
	} {
		_, err := Load(tt.preset, strings.Fields(tt.settings))
		if err == nil || !strings.Contains(err.Error(), "--set "+tt.void+"=") {
			t.Errorf("%s with %s: %v, want %s void", tt.preset, tt.settings, err, tt.void)
		}
	}
	for _, name := range Names() { // nor has a preset one
		b, _ := Preset(name)
		path := filepath.Join(t.TempDir(), "mine.yaml")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path, nil); err != nil {
			t.Error(err)
		}
	}
	// A file may be a copy of the preset default with another part, but what it changes
	// must count.
	b, _ := Preset("default")
	copied := strings.Replace(string(b), "measure: tlcs ", "measure: cosine ", 1)
	for text, void := range map[string]string{copied: "", strings.Replace(copied, "window: 16 ", "window: 17 ", 1): "verify.window"} {
		path := filepath.Join(t.TempDir(), "mine.yaml")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path, nil); void == "" && err != nil || void != "" && (err == nil || !strings.Contains(err.Error(), void+" ")) {
			t.Errorf("a copy: %v, want %q void", err, void)
		}
	}
	for text, ok := range map[string]bool{"": true, "# mine\n---\nverify: {slope: 0.2}\n...\n": true, "verify: {slope: 0.2}\n---\nverify: {slope: 0.3}\n": false} {
		path := filepath.Join(t.TempDir(), "mine.yaml")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path, nil); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, s := range []string{"verify.resemblance=7", "verify.shingles.resemblance=2", "verify.terms.threshold=1.1"} {
		if _, err := Load("default", []string{s}); err == nil || !strings.Contains(err.Error(), "above 1") {
			t.Errorf("%s: %v", s, err)
		}
	}
}
