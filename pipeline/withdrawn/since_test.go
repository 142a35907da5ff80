package withdrawn

import (
	"testing"

	"neardup/pipeline/inputs"
)

func TestSince(t *testing.T) {
	source := func(path, sample, patterns string) inputs.Source {
		return inputs.Source{Name: "a", Path: path, Sample: sample, Withdrawn: patterns}
	}
	before := []inputs.Source{source("x", "1", ""), source("y", "2", "p")}
	for _, tt := range []struct {
		name string
		now  []inputs.Source
		want bool
	}{
		{"nothing", before, false},
		{"another input came", append(before[:2:2], source("z", "3", "q")), false},
		{"an input was moved", []inputs.Source{source("elsewhere", "1", ""), before[1]}, false},
		{"an input has grown", []inputs.Source{source("x", "4", ""), before[1]}, false},
		{"patterns were taken back", []inputs.Source{before[0], source("y", "2", "")}, false},
		{"an input is gone", before[:1], true},
		{"URIs are gone", []inputs.Source{source("x", "1", "p"), before[1]}, true},
		{"more URIs are gone", []inputs.Source{before[0], source("y", "2", "pq")}, true},
	} {
		if got := Since(before, tt.now); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
