package browser

import "fmt"

// Fits fails the test if the page scrolls sideways on its screen.
func (b *Tab) Fits(what string) {
	b.Helper()
	// A page that is too wide for a small screen also enlarges innerWidth.
	sizes := Eval[[3]int64](b, "[document.documentElement.scrollWidth, document.documentElement.clientWidth, innerWidth]")
	if sizes[0] <= sizes[1] && sizes[2] == b.width {
		return
	}
	wide := Eval[string](b, fmt.Sprintf(`[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > %d).slice(-3).map(e => e.outerHTML.slice(0, 150)).join("\n")`, b.width+1))
	b.Errorf("%s is %d wide on a screen of %d:\n%s", what, sizes[0], b.width, wide)
}

// Clips fails the test for crawled text whose marks would be drawn over what is around
// it: a box around it, in main, has to clip it.
func (b *Tab) Clips(what string) {
	b.Helper()
	if drawn := Eval[string](b, `[...document.querySelectorAll("main .crawled, main .uri")].filter(e => {
  const clips = (style) => style.overflowY !== "visible" && style.display !== "inline";
  while (e.localName !== "main" && !clips(getComputedStyle(e))) e = e.parentElement;
  return e.localName === "main";
}).slice(0, 3).map(e => e.parentElement.outerHTML.slice(0, 300)).join("\n")`); drawn != "" {
		b.Errorf("%.200s: nothing clips\n%s", what, drawn)
	}
}

// contrasts returns the elements with text of their own whose contrast with their
// background is under 4.5 (large text: 3), after WCAG 2.
const contrasts = `(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const d = canvas.getImageData(0, 0, 1, 1).data;
    return [d[0], d[1], d[2], d[3] / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const behind = (e) => {
    const layers = [];
    for (let p = e; p; p = p.parentElement) layers.push(rgba(getComputedStyle(p).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const luminance = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4 }); return 0.2126 * r + 0.7152 * g + 0.0722 * b };
  const low = [];
  for (const e of document.querySelectorAll("body *")) {
    const text = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!text || !e.checkVisibility() || e.closest("svg, .vh, .skip, :disabled")) continue;
    const style = getComputedStyle(e), below = behind(e), a = luminance(over(rgba(style.color), below)), b = luminance(below);
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), size = parseFloat(style.fontSize);
    if (contrast < (size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5)) low.push(contrast.toFixed(2) + " " + e.outerHTML.slice(0, 120));
  }
  return low.slice(0, 5).join("\n");
})()`

// Legible fails the test for text with too little contrast.
func (b *Tab) Legible(what string) {
	b.Helper()
	b.Until("document.getAnimations().length === 0")
	if low := Eval[string](b, contrasts); low != "" {
		b.Errorf("%s: low contrast:\n%s", what, low)
	}
}
