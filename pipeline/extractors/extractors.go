// Package extractors makes the program's extractors: those of package extract,
// which are pure, with the parts that need a place on disk.
package extractors

import (
	"os"
	"path/filepath"
	"sync"

	"neardup/extract"
	"neardup/extract/pdf"
)

// New returns an extractor that also reads PDF documents. The options must be
// valid.
func New(o extract.Options) *extract.Extractor {
	x := extract.NewExtractor(o)
	x.ReadPDF(engine())
	return x
}

// engine returns the PDF reader that all extractors share. It is not started before
// the first PDF document. It keeps its compiled code in the user's cache directory;
// without one, each process compiles it again.
var engine = sync.OnceValue(func() *pdf.Engine {
	dir, err := os.UserCacheDir()
	if err != nil {
		return &pdf.Engine{}
	}
	dir = filepath.Join(dir, "neardup", "pdfium")
	return &pdf.Engine{CacheDir: dir, Discard: func() { _ = os.RemoveAll(dir) }}
})
