package inputs_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"neardup/pipeline/inputs"
)

func TestReadList(t *testing.T) {
	got, err := inputs.ReadList(strings.NewReader("# crawls\na.warc.gz\n\n  b.warc \n"))
	if err != nil || !slices.Equal(got, []string{"a.warc.gz", "b.warc"}) {
		t.Errorf("%q %v", got, err)
	}
	for _, list := range []string{"\ufeffa.warc.gz\n\ufeffb.warc\n", "\ufeff# crawls\na.warc.gz\n\ufeffb.warc"} {
		got, err := inputs.ReadList(strings.NewReader(list))
		if err != nil || strings.Join(got, "|") != "a.warc.gz|\ufeffb.warc" { // a name may begin so on other lines
			t.Errorf("%q: %q %v", list, got, err)
		}
	}
	if _, err := inputs.ReadList(io.LimitReader(zeros{}, 4<<20)); err == nil {
		t.Error("an endless name passed")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
