package pagecheck

import (
	"strings"
	"testing"
)

const good = `<!DOCTYPE html><html><head><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self' file:; base-uri 'none'; form-action 'none'">
<title>x</title><link rel="stylesheet" href="style.css"></head><body><h1 id="top">x</h1><a href="#top">x</a><p id="p">y</p></body></html>`

// Each kind of mistake is found.
func TestCheck(t *testing.T) {
	if problems := Check(map[string]string{"index.html": good, "style.css": ""}); len(problems) > 0 {
		t.Errorf("a page that is right: %v", problems)
	}
	for old, bad := range map[string]string{
		`<p id="p">`:       `<p id="top">`,
		`y</p>`:            `y`,
		`<p `:              `<p onclick="x()" `,
		`<p i`:             `<p style="color:red" i`,
		`y`:                `<script>y</script>`,
		`href="#top"`:      `href="#gone"`,
		`href="style.css"`: `href="gone.css"`,
		`<a href="#top">`:  `<a href="http://a.example/">`,
		`<a h`:             `<a href="//a.example/"></a><a h`,
		`<a hr`:            `<a href="javascript:x()"></a><a hr`,
		`<h1`:              `<img src="x"><h1`,
		`default-src`:      `img-src`,
		`<p id="p`:         `<p aria-labelledby="gone" id="p`,
		`>y`:               `><!-- y -->y`,
		`h1`:               `h2`,
		`<p id="`:          `<svg></svg><p id="`,
	} {
		content := strings.ReplaceAll(good, old, bad)
		if content == good {
			t.Fatalf("%q does not occur", old)
		}
		if len(Check(map[string]string{"index.html": content, "style.css": ""})) == 0 {
			t.Errorf("not found: %s", bad)
		}
	}
}
