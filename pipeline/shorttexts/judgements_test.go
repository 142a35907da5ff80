package shorttexts

import (
	"maps"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	collections := []Collection{
		{Texts: []Text{{"the fox\ttoday", []string{"1"}}, {"the fox tonight", []string{"2"}}, {"the dog", []string{"3", "4"}}, {"the same", []string{"8"}}, {"the same too", []string{"9"}}}},
		{Texts: []Text{{"the king", []string{"1"}}, {"the queen", []string{"2"}}, {"the jack", []string{"5"}}, {"the same", []string{"8"}}, {"the same too", []string{"9"}}}},
	}
	texts := func(a, b string) *[2]string { return &[2]string{a, b} }
	is := func(right bool, a, b string) map[[2]string]bool { return map[[2]string]bool{pairOf(a, b): right} }
	for _, tt := range []struct {
		name    string
		judged  []Judged
		want    [2]map[[2]string]bool
		strange int
		err     string
	}{
		{"by ids", []Judged{{IDs: [2]string{"3", "2"}, Right: true}}, [2]map[[2]string]bool{is(true, "2", "3"), nil}, 0, ""},
		{"by ids, whatever stands behind them", []Judged{{IDs: [2]string{"2", "3"}, Texts: texts("sure", "ann"), Right: true}}, [2]map[[2]string]bool{is(true, "2", "3"), nil}, 0, ""},
		{"by texts", []Judged{{IDs: [2]string{"1", "2"}, Texts: texts("the fox today", "the fox tonight"), Right: true}, {IDs: [2]string{"2", "1"}, Texts: texts("the queen", "the king")}},
			[2]map[[2]string]bool{is(true, "1", "2"), is(false, "1", "2")}, 0, ""},
		{"texts that both have", []Judged{{IDs: [2]string{"8", "9"}, Texts: texts("the same", "the same too"), Right: true}}, [2]map[[2]string]bool{is(true, "8", "9"), is(true, "8", "9")}, 0, ""},
		{"other texts", []Judged{{IDs: [2]string{"1", "2"}, Texts: texts("the fox today", "the queen")}}, [2]map[[2]string]bool{}, 1, ""},
		{"ids of both without texts", []Judged{{Line: 7, IDs: [2]string{"1", "2"}}}, [2]map[[2]string]bool{}, 0, "line 7: both collections have the ids 1 and 2"},
		{"one id of each", []Judged{{IDs: [2]string{"3", "5"}}}, [2]map[[2]string]bool{}, 1, ""},
		{"one text", []Judged{{IDs: [2]string{"3", "4"}}, {IDs: [2]string{"5", "5"}}}, [2]map[[2]string]bool{}, 2, ""},
		{"no such text", []Judged{{IDs: [2]string{"1", "6"}}}, [2]map[[2]string]bool{}, 1, ""},
		{"twice", []Judged{{IDs: [2]string{"2", "3"}}, {IDs: [2]string{"3", "2"}}}, [2]map[[2]string]bool{is(false, "2", "3"), nil}, 0, ""},
		{"both ways", []Judged{{IDs: [2]string{"2", "3"}, Right: true}, {Line: 4, IDs: [2]string{"3", "2"}, Texts: texts("the dog", "the fox tonight")}}, [2]map[[2]string]bool{}, 0, "line 4: the pair 3, 2 is judged false, and true before"},
	} {
		got, strange, err := Resolve(tt.judged, collections)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v, want %s", tt.name, err, tt.err)
			}
			continue
		}
		if err != nil || strange != tt.strange || !maps.Equal(got[0], tt.want[0]) || !maps.Equal(got[1], tt.want[1]) {
			t.Errorf("%s: %v, %d strange, %v, want %v, %d", tt.name, got, strange, err, tt.want, tt.strange)
		}
	}
}
