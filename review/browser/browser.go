// Package browser drives Chromium in tests of pages, and collects what must not
// happen in it. Only tests import it.
//
// Without Chromium these tests are skipped. If NEARDUP_BROWSER is "required" or CI
// is set, they fail.
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience limits the use of one browser, since CI machines are slow.
const patience = 4 * time.Minute

var find = sync.OnceValue(func() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
})

// Need skips a test if there is no browser, or fails it if one is required.
func Need(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("a browser has nothing to show to the race detector that the tests of the handler do not")
	}
	if find() == "" {
		if os.Getenv("NEARDUP_BROWSER") == "required" || os.Getenv("CI") != "" {
			t.Fatal("there is no Chromium; .ci/run installs it")
		}
		t.Skip("there is no Chromium")
	}
}

// Tab is a browser page with the problems found in it. Its methods fail the test on
// an error.
type Tab struct {
	*testing.T
	Origin  string // of the pages, without a trailing slash
	Missing bool   // a missing page is requested: answers may be 404

	ctx   context.Context
	close []func()
	width int64 // width of the screen in pixels

	mu       sync.Mutex
	problems []string
}

// Open starts a browser with an empty profile for the pages below an origin:
// http://ADDRESS or file://DIRECTORY. The end of the test closes it, and fails the
// test if problems were collected.
func Open(t *testing.T, origin string) *Tab {
	t.Helper()
	Need(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(find()), chromedp.Flag("disable-dev-shm-usage", true))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	b := &Tab{T: t, Origin: origin}
	t.Cleanup(b.Close)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	b.close = append(b.close, cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	b.close = append(b.close, cancel)
	if err := chromedp.Listen(ctx, b.watch); err != nil { // it starts the browser
		t.Fatal(err)
	}
	b.ctx, cancel = context.WithTimeout(ctx, patience)
	b.close = append(b.close, cancel)
	Call(b, network.Enable, network.EnableParams{})
	Call(b, runtime.Enable, cdp.Empty{})
	Call(b, cdplog.Enable, cdp.Empty{})
	Call(b, page.Enable, page.EnableParams{})
	b.Screen(1280, 900, "light")
	return b
}

// Close closes the browser.
func (b *Tab) Close() {
	for _, p := range b.Problems() {
		b.Errorf("the browser had: %s", p)
	}
	for ; len(b.close) > 0; b.close = b.close[:len(b.close)-1] {
		b.close[len(b.close)-1]()
	}
}

// watch collects what must not happen: a dialog, a request to another origin, an
// error or a policy violation on the console, an exception.
func (b *Tab) watch(event any) {
	var what string
	switch e := event.(type) {
	case *page.EventJavascriptDialogOpening:
		what = "dialog: " + e.Message
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, b.Origin+"/") && u != "about:blank" {
			what = "request to " + u
		}
	case *network.EventResponseReceived:
		if e.Response.Status >= 500 {
			what = fmt.Sprintf("answer %d of %s", e.Response.Status, e.Response.URL)
		}
	case *runtime.EventExceptionThrown:
		what = "exception: " + e.ExceptionDetails.Text
	case *runtime.EventConsoleAPICalled:
		what = fmt.Sprintf("console: %v", e.Args)
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError || e.Entry.Level == cdplog.EntryLevelWarning {
			what = "log: " + e.Entry.Text
		}
	}
	if what != "" {
		b.mu.Lock()
		b.problems = append(b.problems, what)
		b.mu.Unlock()
	}
}

// Problems returns and clears the collected problems.
func (b *Tab) Problems() (out []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		if !b.Missing || !strings.Contains(p, "404") {
			out = append(out, p)
		}
	}
	b.problems = nil
	return out
}

// Do runs actions of chromedp.
func (b *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// Call sends a command of the browser's protocol.
func Call[P, R any](b *Tab, command cdp.Command[P, R], params P) R {
	b.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.Fatal(err)
	}
	return result
}

// Eval returns the value of an expression of the page.
func Eval[T any](b *Tab, expression string) T {
	b.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return out
}

// At opens a page by its path and query.
func (b *Tab) At(path string) {
	b.Helper()
	b.Do(chromedp.Navigate(b.Origin + path))
	b.Until("document.readyState === 'complete' && document.querySelector('main')")
}

// Arrived waits for a page that key presses have led to.
func (b *Tab) Arrived(path string) {
	b.Helper()
	b.Until(fmt.Sprintf("document.readyState === 'complete' && location.pathname === %q", path))
}

// Follow clicks on what a selector finds, and waits for a page whose path and query
// begin with to.
func (b *Tab) Follow(selector, to string) {
	b.Helper()
	b.Do(chromedp.Click(chromedp.CSS(selector)))
	b.Until(fmt.Sprintf("document.readyState === 'complete' && (location.pathname + location.search).startsWith(%q)", to))
}

// Until waits until an expression is true, also while a page loads.
func (b *Tab) Until(expression string) {
	b.Helper()
	for {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean("+expression+")"))
		if ok && err == nil {
			return
		}
		select {
		case <-b.ctx.Done():
			at, _ := chromedp.Run(context.WithoutCancel(b.ctx), chromedp.Location())
			b.Fatalf("waited for %s at %s: %v", expression, at, err)
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// Type puts text into the field that a selector finds.
func (b *Tab) Type(selector, text string) {
	b.Helper()
	b.Do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// Keys presses keys, one after another.
func (b *Tab) Keys(keys string) {
	b.Helper()
	for _, r := range keys {
		if r < ' ' || r > '~' {
			b.Do(chromedp.KeyEvent(string(r)))
			continue
		}
		// Like a keyboard: the browser types the letter unless the page handles the
		// key.
		key := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: string(r), Text: string(r)}
		Call(b, input.DispatchKeyEvent, key)
		key.Type, key.Text = input.DispatchKeyEventTypeKeyUp, ""
		Call(b, input.DispatchKeyEvent, key)
	}
}

// focused describes the focused element.
const focused = `(() => { const e = document.activeElement; return [e.localName, e.name || "", e.value || e.getAttribute("href") || e.textContent.trim()].join(" ").slice(0, 80) })()`

// TabTo presses Tab until an element has the focus whose name and value, URL or
// text begin with want.
func (b *Tab) TabTo(want string) {
	b.Helper()
	var seen []string
	for range 120 {
		b.Keys("\t")
		at := Eval[string](b, focused)
		if strings.HasPrefix(at, want) {
			return
		}
		seen = append(seen, at)
	}
	b.Fatalf("Tab does not reach %s: %s", want, strings.Join(seen, "; "))
}

// Unfold opens everything that is folded.
func (b *Tab) Unfold() {
	b.Helper()
	Eval[bool](b, "document.querySelectorAll('details').forEach(d => { d.open = true }), true")
}

// Screen sets the size of the window, in pixels, and the colour scheme: light or
// dark.
func (b *Tab) Screen(width, height int64, scheme string) {
	b.Helper()
	b.width = width
	Call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600})
	Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// Script turns the scripts of pages on or off. Scripts of the test still run.
func (b *Tab) Script(on bool) {
	b.Helper()
	Call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// Shoot saves a picture of the page if NEARDUP_SHOTS names a directory.
func (b *Tab) Shoot(name string) {
	b.Helper()
	dir := os.Getenv("NEARDUP_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(dir+"/"+name+".png", png, 0o644); err != nil {
		b.Fatal(err)
	}
}

// Full saves a picture of the whole page, up to some length.
func (b *Tab) Full(name string) {
	b.Helper()
	height := min(3200, Eval[int64](b, "document.documentElement.scrollHeight"))
	width := Eval[int64](b, "innerWidth")
	Call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600})
	b.Shoot(name)
}
