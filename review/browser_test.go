package review_test

import (
	"context"
	"fmt"
	"net/http/httptest"
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

	"neardup/review"
)

// Browser tests need Chromium. Without it they are skipped, but where
// NEARDUP_BROWSER is "required" or CI is set they fail.

// patience bounds a test: machines of checks are slow.
const patience = 4 * time.Minute

var findBrowser = sync.OnceValue(func() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
})

// tab is a page of a browser that shows an archive, and what went wrong in it.
type tab struct {
	*testing.T
	ctx    context.Context
	origin string

	mu       sync.Mutex
	problems []string
	missing  bool // a page that is not there was asked for
}

// open starts a browser and a server for it.
func open(t *testing.T, a review.Archive) *tab {
	t.Helper()
	if raced {
		t.Skip("a browser has nothing to show to the race detector that the tests of the handler do not")
	}
	path := findBrowser()
	if path == "" {
		if os.Getenv("NEARDUP_BROWSER") == "required" || os.Getenv("CI") != "" {
			t.Fatal("there is no Chromium; .ci/run installs it")
		}
		t.Skip("there is no Chromium")
	}
	server := httptest.NewServer(review.New(a, review.Options{Name: "site.ws", Version: "test", Failed: func(err error) { t.Error(err) }}))
	t.Cleanup(server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.Flag("disable-dev-shm-usage", true), chromedp.WindowSize(1280, 900))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx, origin: server.URL}
	if err := chromedp.Listen(ctx, b.watch); err != nil { // starts the browser
		t.Fatal(err)
	}
	b.ctx, cancel = context.WithTimeout(ctx, patience)
	t.Cleanup(cancel)
	call(b, network.Enable, network.EnableParams{})
	call(b, runtime.Enable, cdp.Empty{})
	call(b, cdplog.Enable, cdp.Empty{})
	call(b, page.Enable, page.EnableParams{})
	t.Cleanup(b.clean)
	return b
}

// watch collects what must not happen: a dialog, a request to elsewhere, an
// error or a violation of the policy on the console, an exception.
func (b *tab) watch(event any) {
	var what string
	switch e := event.(type) {
	case *page.EventJavascriptDialogOpening:
		what = "dialog: " + e.Message
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; !strings.HasPrefix(u, b.origin+"/") && u != "about:blank" {
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
	if what != "" && !(b.missing && strings.Contains(what, "404")) {
		b.mu.Lock()
		b.problems = append(b.problems, what)
		b.mu.Unlock()
	}
}

// clean fails the test for what watch has collected.
func (b *tab) clean() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.Errorf("the browser had: %s", p)
	}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// call gives a command of the protocol.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.Fatal(err)
	}
	return result
}

// at opens an address of the server.
func (b *tab) at(path string) {
	b.Helper()
	b.do(chromedp.Navigate(b.origin + path))
	b.until("document.readyState === 'complete' && document.querySelector('main')")
}

// eval gives the value of an expression of the page.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return out
}

// until waits for an expression to be true, also over the loading of a page.
func (b *tab) until(expression string) {
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

// keys presses keys, one after another.
func (b *tab) keys(keys string) {
	b.Helper()
	for _, r := range keys {
		if r < ' ' || r > '~' {
			b.do(chromedp.KeyEvent(string(r)))
			continue
		}
		// As of a keyboard: the browser types the letter unless the page takes the key.
		key := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: string(r), Text: string(r)}
		call(b, input.DispatchKeyEvent, key)
		key.Type, key.Text = input.DispatchKeyEventTypeKeyUp, ""
		call(b, input.DispatchKeyEvent, key)
	}
}

// screen sets the size of the window and the colour scheme.
func (b *tab) screen(width, height int64, scheme string) {
	b.Helper()
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600})
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// shoot keeps a picture of the page where NEARDUP_SHOTS names a directory.
func (b *tab) shoot(name string) {
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

// full keeps a picture of all of the page, up to some length.
func (b *tab) full(name string) {
	b.Helper()
	height := min(3200, eval[int64](b, "document.documentElement.scrollHeight"))
	width := eval[int64](b, "innerWidth")
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600})
	b.shoot(name)
}

// script turns the scripts of pages on or off; those of the test run still.
func (b *tab) script(on bool) {
	b.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}
