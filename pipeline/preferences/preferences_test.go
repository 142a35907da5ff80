package preferences

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
)

func TestParseScores(t *testing.T) {
	sorter := extsort.New(t.TempDir())
	lines, err := parseScores(strings.NewReader("\ufeffhttp://a.example/\t0.5\n\nhttp://b.example/ \t 7\nhttp://c.example/\t3\r\nhttp://c.example/\t-0"), sorter)
	if err != nil || lines != 4 {
		t.Errorf("%d lines: %v", lines, err)
	}
	got, last := map[[16]byte]string{}, []byte{}
	for e, err := range scoreRows(sorter, layout.FileScoreKey) {
		uri, score, parseErr := layout.ParsePageScore(e.Key, e.Value)
		if err := errors.Join(err, parseErr); err != nil || bytes.Compare(last, e.Key) >= 0 {
			t.Errorf("%x behind %x: %v", e.Key, last, err)
		}
		got[uri], last = fmt.Sprint(score), bytes.Clone(e.Key)
	}
	want := map[[16]byte]string{URIDigest("http://a.example/"): "0.5", URIDigest("http://b.example/"): "7", URIDigest("http://c.example/"): "0"} // the last line
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	long := strings.Repeat("x", maxLine)
	for _, bad := range []string{"http://a.example/ 1\n", "http://a.example/\tmuch\n", "http://a.example/\t-1\n", "http://a.example/\tNaN\n", "http://a.example/\t1e60\n",
		"http://a.example/\tInf\n", "\t1\n", "http://a.example/\t1\t2\n", long + "\t1\n"} {
		if _, err := parseScores(strings.NewReader("u\t1\n"+bad), sorter); err == nil || !strings.Contains(err.Error(), "line 2: ") {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
}

func TestParseHosts(t *testing.T) {
	got, lines, err := parseHosts(strings.NewReader("# ours\nB.example\n.a.example.\n\nb.EXAMPLE\nbücher.example\n127.1\n[2001:db8::1]\n"))
	if want := []string{"b.example", "a.example", "xn--bcher-kva.example", "127.0.0.1", "2001:db8::1"}; err != nil || lines != 7 || !slices.Equal(got, want) {
		t.Errorf("%q, %d lines: %v", got, lines, err)
	}
	for _, bad := range []string{"http://a.example/", "a.example:80", "*.a.example", "a b", ".", strings.Repeat("a.", 200), "a\x00b", "a\xff"} {
		if _, _, err := parseHosts(strings.NewReader("a\n" + bad + "\n")); err == nil || !strings.Contains(err.Error(), "line 2: ") {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
	var many bytes.Buffer
	for i := range maxHosts + 1 {
		fmt.Fprintf(&many, "h%d\n", i)
	}
	if _, _, err := parseHosts(&many); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("line %d: ", maxHosts+1)) {
		t.Errorf("too many hosts: %v", err)
	}
}
