package uris

import "testing"

func TestPageOf(t *testing.T) {
	namedSo := map[string]string{}
	for _, of := range [][]string{
		{"http://a.org/story?id=7", "https://www.a.org/story?id=7", "HTTP://A.org:80/story?id=7#top", "http://a.org/story?id=7&utm_source=x&utm_medium=y",
			"http://a.org/story?PHPSESSID=q1w2e3&id=7", "http://a.org/story?fbclid=IwAR0&id=7&replytocom=12", "http://a.org/story?id=7&ASPSESSIONIDABCDEFGH=IJ"},
		{"http://a.org/story?id=8", "http://a.org/story;jsessionid=0A1B.node2?id=8"},
		{"http://a.org/story", "http://a.org/story/", "http://a.org/story?replytocom=12", "http://a.org/story/?replytocom=13", "http://a.org/story;jsessionid=0A", "http://a.org/story;jsessionid=0A/"},
		{"http://a.org/story/2", "http://a.org/story;jsessionid=0A/2"},
		{"http://a.org/topic?t=7", "http://a.org/topic?sid=0123456789abcdef0123456789ABCDEF&t=7", "http://a.org/topic?t=7;PHPSESSID=x", "http://a.org/topic?JSESSIONID=x;t=7"},
		{"http://a.org/topic?t=7;u=8", "http://a.org/topic?t=7;phpsessid=x;u=8"},
		{"http://a.org/video?v=aB1"},
		{"http://a.org/video?v=Ab1"},
		{"http://a.org/Video?v=aB1"},
		{"http://a.org/v?q=a"},
		{"http://a.org/v?q=a%26utm_x=1"},
		{"http://a.org/story?sid=12"},
		{"http://a.org/story?sid=13"},
		{"http://a.org/story?reply=13"},
		{"http://a.org:8080/story"},
		{"http://a.org/"},
		{"Line"},
		{"line"},
		{"urn:text:A"},
		{"urn:text:a"},
		{""},
	} {
		for _, other := range of[1:] {
			if a, b := PageOf(of[0]), PageOf(other); a != b {
				t.Errorf("%s is %s, %s is %s", of[0], a, other, b)
			}
		}
		if other, ok := namedSo[PageOf(of[0])]; ok {
			t.Errorf("%s and %s have one name", of[0], other)
		}
		namedSo[PageOf(of[0])] = of[0]
	}
}

func BenchmarkPageOf(b *testing.B) {
	for b.Loop() {
		PageOf("https://www.example.org/2024/05/a-long-title-of-a-story?id=7&utm_source=x")
	}
}
