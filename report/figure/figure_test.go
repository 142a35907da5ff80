package figure

import (
	"bytes"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// A title has room of its own, above the panels; without one there is none.
func TestTitle(t *testing.T) {
	draw := func(title string) string {
		var b bytes.Buffer
		f := Figure{Title: title, Width: 4 * vg.Inch, LegendWidth: vg.Inch, PanelHeight: 2 * vg.Inch, Panels: []Panel{NewPanel("x", "y")}}
		if err := f.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	with, without := draw("what it shows"), draw("")
	if !strings.Contains(with, ">what it shows<") || strings.Contains(without, ">what it shows<") {
		t.Error("the title is not drawn, or without being asked for")
	}
	if !strings.Contains(without, `height="144pt"`) || !strings.Contains(with, `height="176.4pt"`) {
		t.Errorf("two inches, and a title's room: %.200s; %.200s", without, with)
	}
}
