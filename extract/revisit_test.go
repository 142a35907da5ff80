package extract

import (
	"slices"
	"testing"

	"neardup/extract/container"
)

func revisitRecord(block string, changes ...string) *container.Raw {
	revisit := []string{"WARC-Type: revisit", "WARC-Record-ID: <urn:uuid:0f3a0e31-0000-4000-8000-000000000002>",
		"WARC-Date: 2021-02-03T04:05:06Z", "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"}
	return rawRecord(block, fields(append(revisit, changes...)...)...)
}

func TestRevisitSharesAKeyWithItsCapture(t *testing.T) {
	const digest = "sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"
	original := document(t, response("WARC-Payload-Digest: "+digest))
	keys := original.Keys()
	for name, c := range map[string]struct {
		changes []string
		first   int // of the revisit's keys that the document has, -1: none has it
	}{
		"record id":            {[]string{"WARC-Refers-To: <urn:uuid:0f3a0e31-0000-4000-8000-000000000001>"}, 0},
		"another record id":    {[]string{"WARC-Refers-To: <urn:uuid:0f3a0e31-0000-4000-8000-000000000009>"}, -1},
		"URI and date":         {[]string{"WARC-Refers-To-Target-URI: http://www.example.co.uk/a?b=c", "WARC-Refers-To-Date: 2020-02-03T04:05:06Z"}, 0},
		"fractions of seconds": {[]string{"WARC-Refers-To-Target-URI: <http://www.example.co.uk/a?b=c>", "WARC-Refers-To-Date: 2020-02-03T04:05:06.123Z"}, 1}, // to the second
		"another date":         {[]string{"WARC-Refers-To-Target-URI: http://www.example.co.uk/a?b=c", "WARC-Refers-To-Date: 2020-02-03T04:05:07Z"}, -1},
		"URI alone":            {[]string{"WARC-Refers-To-Target-URI: http://www.example.co.uk/a?b=c"}, -1},
		"payload":              {[]string{"WARC-Payload-Digest: " + digest}, 0},
		"hexadecimal":          {[]string{"WARC-Payload-Digest: SHA1:0e973b59f476007fd10f87f347c3956065516fc0"}, 0},
		"payload elsewhere":    {[]string{"WARC-Payload-Digest: " + digest, "WARC-Target-URI: http://other.example/"}, 1},
		"another payload":      {[]string{"WARC-Payload-Digest: sha1:AAAAWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"}, -1},
		"no digest":            {[]string{"WARC-Payload-Digest: sha1:"}, -1},
	} {
		d := document(t, revisitRecord("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", c.changes...))
		if d.Repeats == nil || d.Text != "" || d.Repeats.Unresolved != ReasonUnresolved {
			t.Errorf("%s: %+v", name, d)
			continue
		}
		first := slices.IndexFunc(d.Repeats.Keys(d.TargetURI), func(k Key) bool { return slices.Contains(keys, k) })
		if first != c.first {
			t.Errorf("%s: key %d leads to the capture, want %d", name, first, c.first)
		}
	}
}

func TestRevisitOfWhatIsNoPage(t *testing.T) {
	for name, c := range map[string]struct {
		block      string
		reason     Reason
		unresolved Reason
	}{
		"page":         {"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n", ReasonNone, ReasonUnresolved},
		"not modified": {"HTTP/1.1 304 Not Modified\r\n\r\n", ReasonNone, ReasonUnresolved},
		"picture":      {"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n", ReasonNone, ReasonMediaType},
		"vague type":   {"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n", ReasonNone, ReasonUnresolved},
		"no type":      {"HTTP/1.1 200 OK\r\n\r\n", ReasonNone, ReasonUnresolved},
		"no header":    {"", ReasonNone, ReasonUnresolved},
		"not found":    {"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n", ReasonStatus, ReasonNone},
	} {
		d, reason := NewExtractor(options).Document(revisitRecord(c.block))
		if reason != c.reason || reason == ReasonNone && d.Repeats.Unresolved != c.unresolved {
			t.Errorf("%s: %q %+v", name, reason, d.Repeats)
		}
	}
	if _, reason := NewExtractor(options).Document(revisitRecord("", "WARC-Target-URI")); reason != ReasonNoURI {
		t.Errorf("without URI: %q", reason)
	}
}

func TestARevisitIsNoSecondWitnessOfItsPayload(t *testing.T) {
	const digest = "WARC-Payload-Digest: sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"
	if n := len(document(t, revisitRecord("", digest)).Keys()); n != 2 {
		t.Errorf("a revisit has %d keys, want those of its record and capture", n)
	}
	if n := len(document(t, response(digest)).Keys()); n != 4 {
		t.Errorf("a response has %d keys", n)
	}
}

// A capture of which the crawler says that it did not store all is clipped. Of a revisit,
// the field only says that the payload is elsewhere.
func TestTruncatedIsClipped(t *testing.T) {
	if d := document(t, response("WARC-Truncated: length")); !d.Clipped || d.Text != pageText {
		t.Errorf("%+v", d)
	}
	if d := document(t, response("WARC-Truncated")); d.Clipped {
		t.Error("an empty field clips")
	}
	if d := document(t, revisitRecord("HTTP/1.1 200 OK\r\n\r\n", "WARC-Refers-To: <urn:a>", "WARC-Truncated: length")); d.Clipped {
		t.Error("a revisit is clipped")
	}
}

// What a revisit has of its own is not read. So part of the page may be unknown.
func TestRevisitWithAPayloadIsClipped(t *testing.T) {
	for block, want := range map[string]bool{"": false, "HTTP/1.1 200 OK\r\nA: b\r\n\r\n": false, "HTTP/1.1 200 OK\r\nA: b\r\n\r\n\r\n": false, "HTTP/1.1 200 OK": false,
		"HTTP/1.1 200 OK\r\nA: b\r\n\r\n<p>Changed.": true, "<p>Changed.": true} {
		if d := document(t, revisitRecord(block)); d.Clipped != want {
			t.Errorf("%q: %v", block, d.Clipped)
		}
	}
}

// A revisit repeats its capture only by a profile that says so.
func TestProfilesOfRevisits(t *testing.T) {
	for profile, want := range map[string]Reason{
		"http://netpreserve.org/warc/1.0/revisit/identical-payload-digest": "", "<http://netpreserve.org/warc/1.1/revisit/Server-Not-Modified>": "",
		"http://netpreserve.org/warc/1.0/revisit/uri-agnostic-identical-payload-digest": "", "": "",
		"http://example.org/revisit/patch": ReasonProfile, "http://netpreserve.org/warc/1.1/revisit/identical": ReasonProfile, "server-not-modified": ReasonProfile,
	} {
		if d, reason := NewExtractor(options).Document(revisitRecord("", "WARC-Profile: "+profile)); reason != want || reason == "" && d.Repeats == nil {
			t.Errorf("%q: %q", profile, reason)
		}
	}
}

// Fractions of seconds tell captures apart where both sides have them.
func TestFractionsOfSeconds(t *testing.T) {
	const uri = "http://a.example/"
	for _, c := range []struct {
		refers, date string
		want         int // first of the reference's keys that the capture has
	}{
		{"2020-01-01T00:00:00.9Z", "2020-01-01T00:00:00.900Z", 0}, {"20200101000000900", "2020-01-01T00:00:00.9Z", 0}, {"2020-01-01T00:00:00.9Z", "2020-01-01T00:00:00.1Z", 1},
		{"2020-01-01T00:00:00.9Z", "2020-01-01T00:00:00Z", 1}, {"2020-01-01T00:00:00Z", "2020-01-01T00:00:00.9Z", 0}, {"2020-01-01T00:00:00.000Z", "2020-01-01T00:00:00Z", 0},
		{"2020-01-01T00:00:01Z", "2020-01-01T00:00:00.9Z", -1}, {"2020", "2020", 0}, {"2020", "2021", -1},
	} {
		keys := Document{TargetURI: uri, Date: c.date}.Keys()
		if got := slices.IndexFunc(Reference{URI: uri, Date: c.refers}.Keys(""), func(k Key) bool { return slices.Contains(keys, k) }); got != c.want {
			t.Errorf("%s to %s: %d, want %d", c.refers, c.date, got, c.want)
		}
	}
}

func TestFirstSegmentIsFlagged(t *testing.T) {
	d := document(t, response("WARC-Segment-Number: 1"))
	if !d.Clipped || d.Choices != ChoiceFirstSegment || d.Text != pageText {
		t.Errorf("%+v", d)
	}
	raw := rawRecord("the rest", fields("WARC-Type: continuation", "WARC-Segment-Number: 2")...)
	if _, reason := NewExtractor(options).Document(raw); reason != "continuation" {
		t.Errorf("continuation: %q", reason)
	}
}
