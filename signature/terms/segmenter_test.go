package terms

import (
	"slices"
	"strings"
	"testing"

	"neardup/signature/internal/hash"
)

func TestSegmenter(t *testing.T) {
	for text, terms := range map[string]string{
		"":              "",
		"，。 !":          "",
		"中国人民银行今天宣布":    "中国人民银行 今天 宣布",
		"我们的 WARC 文件":   "我们 的 warc 文件",
		"the red and 7": "the red and 7", // function words and numbers are terms, too
	} {
		for w := 1; w <= 3; w++ {
			var hashes []uint64
			for _, term := range strings.Fields(terms) {
				hashes = append(hashes, hash.String(term))
			}
			want := hash.Windows([]uint64{5}, hashes, w)
			if got := NewSegmenter(w).Append([]uint64{5}, text); !slices.Equal(got, want) {
				t.Errorf("%q, runs of %d: %x, want those of %q, %x", text, w, got, terms, want)
			}
		}
	}
}
