package verify

import "testing"

func TestScored(t *testing.T) {
	for _, tt := range []struct {
		resemblance, containment, leastR, leastC float64
		want                                     Verdict
	}{
		{.5, .9, .5, 1, Verdict{Near: true, Resemblance: .5, Containment: .9}},
		{.5, .9, .6, .9, Verdict{Near: true, Contained: true, Resemblance: .5, Containment: .9}},
		{.5, .9, .6, .95, Verdict{Rejected: ByScore, Resemblance: .5, Containment: .9}},
		{1, 1, .5, 2, Verdict{Near: true, Resemblance: 1, Containment: 1}},
		{0, 0, 0, 0, Verdict{Rejected: ByScore}}, // whatever the thresholds
	} {
		if got := Scored(tt.resemblance, tt.containment, tt.leastR, tt.leastC); got != tt.want {
			t.Errorf("%+v: %+v", tt, got)
		}
	}
	if None.String() != "none" || ByScore.String() != "score" || Stage(9).String() != "Stage(9)" {
		t.Error("stages have other names")
	}
}
