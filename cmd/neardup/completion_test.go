package main

import (
	"slices"
	"strings"
	"testing"

	"neardup/configs"
)

// Every setting that is completed is one, and every setting is completed.
func TestCompletedSettingsAreSettings(t *testing.T) {
	c, err := configs.Load("default", nil)
	if err != nil {
		t.Fatal(err)
	}
	schemes, searches, measures := configs.Parts()
	all := settingNames(map[string][]string{"sign.scheme": schemes, "cluster.search": searches, "verify.measure": measures})
	for _, name := range all {
		key, value, _ := strings.Cut(name, "=")
		if _, err := c.Value(key); err != nil {
			t.Error(err)
		}
		if changed := c; value != "" {
			if err := changed.Set([]string{name}); err != nil && strings.Contains(err.Error(), "is neither") {
				t.Error(err)
			}
		}
	}
	for _, key := range []string{"extract.clean=", "verify.window=", "cluster.join.threshold=", "sign.minhash.rows=", "text.frames=", "verify.measure=tlcs"} {
		if !slices.Contains(all, key) {
			t.Errorf("%s is not completed", key)
		}
	}
}

func TestTroffKeepsTextAsItIs(t *testing.T) {
	got := lines(".SH no request\nback\\slash 'quoted' - ~^`")
	want := "\\&.SH no request\nback\\eslash \\(aqquoted\\(aq \\- \\(ti\\(ha\\(ga"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
