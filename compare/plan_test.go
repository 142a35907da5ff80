package compare

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"neardup/configs"
)

func base(t *testing.T, settings ...string) configs.Config {
	t.Helper()
	c, err := configs.Load("default", settings)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPlan(t *testing.T) {
	b := base(t, "extract.max_text_bytes=5000", "verify.slope=0.9")
	own := file(t, "my own.yaml", "extract: {clean: none}\nverify: {slope: 0.3}\n")
	p, err := NewPlan(b, []string{"paper", " default ", own}, []string{"verify.rounds=2"}, false)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range p.Methods {
		got = append(got, m.Name)
		if !reflect.DeepEqual(m.Config.Extract, b.Extract) || m.Config.Verify.Rounds != 2 || m.Curve != nil || m.Key != "" {
			t.Errorf("%s: %+v", m.Name, m)
		}
	}
	if want := []string{"paper", "default", "my own"}; !slices.Equal(got, want) {
		t.Errorf("methods %q, want %q", got, want)
	}
	if p.Methods[0].Config.Verify.Resemblance != 0.28 || p.Methods[1].Config.Verify.Slope != 0.1 || p.Methods[2].Config.Verify.Slope != 0.3 {
		t.Errorf("methods do not keep what is their own: %+v", p.Methods)
	}
}

// Every preset has a curve, with its own value once.
func TestCurvesOfPresets(t *testing.T) {
	p, err := NewPlan(base(t), Presets(), nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range p.Methods {
		own := 0
		for _, v := range m.Curve {
			if v.Own {
				own++
			}
			if !v.Own && reflect.DeepEqual(v.Config, m.Config) || v.Value == "" {
				t.Errorf("%s: %s=%s is no variant", m.Name, m.Key, v.Value)
			}
		}
		if own != 1 || len(m.Curve) < 9 {
			t.Errorf("%s: a curve of %d over %q, %d its own", m.Name, len(m.Curve), m.Key, own)
		}
	}
}

func TestPresets(t *testing.T) {
	got := Presets()
	if got[0] != "default" || !slices.Equal(slices.Sorted(slices.Values(got)), configs.Names()) {
		t.Errorf("got %q", got)
	}
}

// A curve has the values of the threshold and the method's own, in order.
func TestCurves(t *testing.T) {
	p, err := NewPlan(base(t), []string{"default", "paper"}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, own := range []string{"0.5", "0.28"} {
		m := p.Methods[i]
		key, values := m.Config.Threshold()
		if m.Key != key {
			t.Errorf("%s: over %s", m.Name, m.Key)
		}
		var got []string
		for _, v := range m.Curve {
			if v.Own != (v.Value == own) || v.Own != reflect.DeepEqual(v.Config, m.Config) {
				t.Errorf("%s: %s is its own: %v", m.Name, v.Value, v.Own)
			}
			c := m.Config
			if err := c.Set([]string{key + "=" + v.Value}); err != nil || !reflect.DeepEqual(c, v.Config) {
				t.Errorf("%s %s: %+v, %v", m.Name, v.Value, v.Config, err)
			}
			got = append(got, v.Value)
		}
		want := values
		if !slices.Contains(values, own) {
			want = append(slices.Clone(values), own)
			slices.Sort(want)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: values %q, want %q", m.Name, got, want)
		}
	}
}

func TestPlanMistakes(t *testing.T) {
	for _, c := range []struct {
		methods, settings []string
		want              string
	}{
		{nil, nil, "--methods: there are none"},
		{[]string{"default", ""}, nil, "--methods: a name is empty"},
		{[]string{"default", "bogus"}, nil, `--methods: config: no preset "bogus"; there are `},
		{[]string{"paper", "paper"}, nil, "--methods: two are called paper"},
		{[]string{"paper", file(t, "paper.yaml", "")}, nil, "--methods: two are called paper"},
		{[]string{file(t, "x.yaml", "verify: {slop: 1}")}, nil, "unknown key slop"},
		{[]string{"paper"}, []string{"verify.slope=-1"}, "method paper: verify.slope: -1"},
		{[]string{"paper"}, []string{"verify.containment=2", "verify.resemblance=2"}, "method paper: verify.resemblance, containment: both above 1"},
	} {
		_, err := NewPlan(base(t), c.methods, c.settings, true)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %q: got %v, want %s", c.methods, c.settings, err, c.want)
		}
	}
}
