// Package extractors makes the program's extractors: those of package extract,
// which are pure, with the parts that need a place on disk.
package extractors

import (
	"os"
	"path/filepath"
	"runtime/debug"
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

// engine returns the PDF reader that all extractors share. It takes a quarter of the
// memory limit, and what one large document needs. It is not started before the first PDF
// document. It keeps its compiled code in the user's cache directory;
// without one, each process compiles it again.
var engine = sync.OnceValue(func() *pdf.Engine {
	e := &pdf.Engine{Instances: int(min(1024, max(1, debug.SetMemoryLimit(-1)/4/pdf.MaxSpare)))}
	if dir, err := os.UserCacheDir(); err == nil {
		e.CacheDir = filepath.Join(dir, "neardup", "pdfium")
		e.Discard = func() { _ = os.RemoveAll(e.CacheDir) }
	}
	return e
})
