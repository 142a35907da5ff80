package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	table := Table{[]string{"method", "pairs"}, [][]string{{"<a & b>", "1,234"}, {"", "-"}, {"x|y", ".5"}}}
	var b, again bytes.Buffer
	if err := table.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	if _ = table.WriteSVG(&again); !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("another picture the second time")
	}
	texts, d := []string{}, xml.NewDecoder(bytes.NewReader(b.Bytes()))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := token.(xml.CharData); ok && strings.TrimSpace(string(c)) != "" {
			texts = append(texts, string(c))
		}
	}
	if got := strings.Join(texts, ";"); got != "method;pairs;<a & b>;1,234;-;x|y;.5" {
		t.Error(got)
	}
	if !table.isWords(0) || table.isWords(1) {
		t.Error("words are to the left, numbers to the right")
	}
	if got := table.Markdown(); got != "| method | pairs |\n|---|---|\n| <a & b> | 1,234 |\n|  | - |\n| x\\|y | .5 |\n" {
		t.Error(got)
	}
}
