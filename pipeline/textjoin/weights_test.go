package textjoin

import (
	"strings"
	"testing"

	"neardup/cluster/search"
)

func TestReadWeights(t *testing.T) {
	o := Options{Join: search.Join{Tokens: "words", Size: 1, MaxBytes: 100}}
	if err := o.ReadWeights(strings.NewReader("the\t0\r\n\nrare\t2.5\na,b\t1e-3\n")); err != nil {
		t.Fatal(err)
	}
	if len(o.Given) != 3 || o.Given[1] != (search.TokenWeight{Token: "rare", Weight: 2.5}) || o.Weights != search.JoinGiven {
		t.Errorf("%+v", o.Given)
	}
	for text, want := range map[string]string{
		"the 0\n":                       "line 1: there is no tab",
		"a\t1\nthe\t-1\n":               `line 2: the weight "-1" is not a number from 0 to 1024`,
		"the\tNaN\n":                    "is not a number",
		"the\t1025":                     "is not a number",
		"the\t":                         "is not a number",
		"a\t1\n\nthe end\t1\n":          `line 3: "the end" is not one token but 2`,
		"\t1\n":                         "is not one token but 0",
		"The\t1\nthe\t2\n":              `line 2: "the" is the token "The", which has a weight already`,
		strings.Repeat("x\t1\n", 40):    "line 34: over 100 bytes",
		strings.Repeat("x", 2<<20):      "line 1: ",
		"ok\t1\n" + "x\t1\n" + "x\t1\n": `line 3: "x" is the token "x"`,
	} {
		if err := o.ReadWeights(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}
