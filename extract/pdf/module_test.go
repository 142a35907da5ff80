package pdf

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

var update = flag.Bool("update", false, "write pdfium.wasm.zst anew")

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

// TestModuleIsThatOfGoPdfium: pdfium.wasm.zst is PDFium as go-pdfium of go.mod has
// it, with a countdown in its loops and nothing else.
func TestModuleIsThatOfGoPdfium(t *testing.T) {
	metered, err := meter(pdfiumModule(t))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("pdfium.wasm.zst", w.EncodeAll(metered, nil), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := unpack()
	if err != nil || !bytes.Equal(got, metered) {
		t.Errorf("another module, or %v; go test ./extract/pdf -run TestModule -update makes it", err)
	}
}
