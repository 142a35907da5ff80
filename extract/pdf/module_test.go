package pdf

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

var update = flag.Bool("update", false, "write pdfium.wasm.br anew")

// pdfiumModule returns PDFium as go-pdfium has it.
func pdfiumModule(t *testing.T) []byte {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/klippa-app/go-pdfium/webassembly").Output()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "pdfium.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestModuleIsThatOfGoPdfium: pdfium.wasm.br is PDFium as go-pdfium of go.mod has
// it, with a countdown in its loops and nothing else.
func TestModuleIsThatOfGoPdfium(t *testing.T) {
	metered, err := meter(pdfiumModule(t))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		var b bytes.Buffer
		w := brotli.NewWriterOptions(&b, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 24})
		_, _ = w.Write(metered)
		_ = w.Close()
		if err := os.WriteFile("pdfium.wasm.br", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := unpack()
	if err != nil || !bytes.Equal(got, metered) {
		t.Errorf("another module, or %v; go test ./extract/pdf -run TestModule -update makes it", err)
	}
}
