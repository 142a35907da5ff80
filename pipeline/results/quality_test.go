package results

import (
	"strings"
	"testing"
)

func TestReadQualities(t *testing.T) {
	got, err := parseQualities(strings.NewReader("http://a.example/\t0.5\n\nhttp://b.example/ \t 7\n"))
	if err != nil || len(got) != 2 || got[uriDigest("http://b.example/")] != 7 {
		t.Errorf("%v %v", got, err)
	}
	for _, bad := range []string{"http://a.example/ 1\n", "http://a.example/\tmuch\n", "http://a.example/\t-1\n", "http://a.example/\tNaN\n"} {
		if _, err := parseQualities(strings.NewReader("u\t1\n" + bad)); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
