package preferences

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParseScores(t *testing.T) {
	got, lines, err := parseScores(strings.NewReader("\ufeffhttp://a.example/\t0.5\n\nhttp://b.example/ \t 7\nhttp://c.example/\t3\r\nhttp://c.example/\t-0"))
	a, _ := got.Of("http://a.example/")
	c, ok := got.Of("http://c.example/") // the last line
	if err != nil || lines != 4 || len(got) != 3 || a != 0.5 || got[uriDigest("http://b.example/")] != 7 || !ok || fmt.Sprint(c) != "0" {
		t.Errorf("%v, %d lines: %v", got, lines, err)
	}
	long := strings.Repeat("x", maxLine)
	for _, bad := range []string{"http://a.example/ 1\n", "http://a.example/\tmuch\n", "http://a.example/\t-1\n", "http://a.example/\tNaN\n", "http://a.example/\t1e60\n",
		"http://a.example/\tInf\n", "\t1\n", "http://a.example/\t1\t2\n", long + "\t1\n"} {
		if _, _, err := parseScores(strings.NewReader("u\t1\n" + bad)); err == nil || !strings.Contains(err.Error(), "line 2: ") {
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
