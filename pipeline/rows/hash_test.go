package rows

import (
	"hash/fnv"
	"io"
	"testing"
)

func TestHashIsFNV(t *testing.T) {
	for _, s := range []string{"", "a", "https://example.com/a?b=c", "例子\x00\xff"} {
		h := fnv.New64a()
		_, _ = io.WriteString(h, s)
		if got, want := Hash(s), h.Sum64(); got != want {
			t.Errorf("Hash(%q) = %x, want %x", s, got, want)
		}
	}
}
