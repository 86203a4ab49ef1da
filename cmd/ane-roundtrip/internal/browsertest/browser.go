// Package browsertest has tests look at pages in a headless browser. It drives Chromium or Chrome by chromedp; tests
// are skipped, with the reason, where there is none.
package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// patience is how long a test may look at one page on a busy machine.
const patience = 5 * time.Minute

// Browser is a running browser.
type Browser struct{ ctx context.Context }

// Open starts a browser, which ends with the test. It skips the test where there is none.
func Open(t testing.TB) *Browser {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path),
			chromedp.DisableGPU)
		allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, closed := chromedp.NewContext(allocator)
		t.Cleanup(func() {
			closed()
			end()
		})
		require.NoError(t, chromedp.Do(ctx))
		return &Browser{ctx}
	}
	t.Skip("no browser: install the package chromium-headless-shell, or chromium")
	return nil
}

// Screen is what a page is shown on.
type Screen struct {
	Width, Height int
	Dark          bool // the reader prefers a dark color scheme
	Print         bool // the styles of print
}

// Page is an open page.
type Page struct {
	t   testing.TB
	ctx context.Context

	mu     sync.Mutex // guards faults
	faults []string
}

// Page opens a page and waits until it is loaded.
func (b *Browser) Page(t testing.TB, url string, s Screen) *Page {
	t.Helper()
	limited, cancel := context.WithTimeout(b.ctx, patience)
	p := &Page{t: t}
	p.ctx, _ = chromedp.NewContext(limited, chromedp.WithListener(p.event))
	t.Cleanup(func() {
		require.NoError(t, chromedp.Cancel(p.ctx))
		cancel()
	})
	p.Show(s)
	require.NoError(t, chromedp.Do(p.ctx, chromedp.Navigate(url)))
	return p
}

// Show shows the page on another screen.
func (p *Page) Show(s Screen) {
	p.t.Helper()
	media := emulation.SetEmulatedMediaParams{Media: "screen",
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}}
	if s.Dark {
		media.Features[0].Value = "dark"
	}
	if s.Print {
		media.Media = "print"
	}
	var kind []chromedp.EmulateViewportOption
	if s.Width < 600 {
		kind = append(kind, chromedp.EmulateMobile)
	}
	require.NoError(p.t, chromedp.Do(p.ctx, chromedp.EmulateViewport(int64(s.Width), int64(s.Height), kind...)))
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, media)
	require.NoError(p.t, err)
}

// Eval evaluates an expression of JavaScript and decodes its value.
func (p *Page) Eval(expression string, into any) {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err)
	require.NoError(p.t, json.Unmarshal(value, into))
}

// Picture returns a part of the page as PNG, of a height in pixels from a place on.
func (p *Page) Picture(top, height int) []byte {
	p.t.Helper()
	var width float64
	p.Eval(`document.documentElement.clientWidth`, &width)
	beyond := true
	picture, err := chromedp.Call(p.ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		CaptureBeyondViewport: &beyond,
		Clip:                  &page.Viewport{Y: float64(top), Width: width, Height: float64(height), Scale: 1}})
	require.NoError(p.t, err)
	return picture.Data
}

// PDF returns the page as it prints.
func (p *Page) PDF() []byte {
	p.t.Helper()
	file, err := chromedp.Run(p.ctx, chromedp.PrintToPDF(chromedp.PDFPreferCSSPageSize()))
	require.NoError(p.t, err)
	return file
}

// Faults lists what the console of the page has reported, exceptions, dialogs, and each request beside the page itself.
func (p *Page) Faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.faults)
}

// event notes an event of the page if it is a fault.
func (p *Page) event(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if e.Type == network.ResourceTypeDocument {
			return
		}
	case *page.EventJavascriptDialogOpening, *runtime.EventExceptionThrown, *runtime.EventConsoleAPICalled,
		*log.EventEntryAdded:
	default:
		return
	}
	text, err := json.Marshal(event)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, fmt.Sprintf("%T: %s %v", event, text, err))
}
