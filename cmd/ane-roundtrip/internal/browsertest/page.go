package browsertest

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"
)

// Screen is what a page is shown on.
type Screen struct {
	Width, Height int
	Dark          bool // the reader prefers a dark color scheme
	Print         bool // the styles of print
}

// Page is an open page.
type Page struct {
	t       testing.TB
	browser *Browser
	session string
	loaded  chan struct{}

	mu     sync.Mutex // guards faults
	once   sync.Once
	faults []string
}

// Page opens a page and waits until it is loaded.
func (b *Browser) Page(t testing.TB, url string, s Screen) *Page {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var target struct{ TargetID string }
	must(b.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target))
	var attached struct{ SessionID string }
	must(b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached))
	p := &Page{t: t, browser: b, session: attached.SessionID, loaded: make(chan struct{})}
	b.mu.Lock()
	b.pages[p.session] = p
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		must(b.call(p.session, domain+".enable", nil, nil))
	}
	p.Show(s)
	must(b.call(p.session, "Page.navigate", map[string]any{"url": url}, nil))
	select {
	case <-p.loaded:
	case <-time.After(patience):
		t.Fatalf("%s does not load", url)
	}
	t.Cleanup(func() { _ = b.call("", "Target.closeTarget", map[string]any{"targetId": target.TargetID}, nil) })
	return p
}

// Show shows the page on another screen.
func (p *Page) Show(s Screen) {
	p.t.Helper()
	scheme, media := "light", "screen"
	if s.Dark {
		scheme = "dark"
	}
	if s.Print {
		media = "print"
	}
	for method, params := range map[string]map[string]any{
		"Emulation.setDeviceMetricsOverride": {"width": s.Width, "height": s.Height, "deviceScaleFactor": 1,
			"mobile": s.Width < 600},
		"Emulation.setEmulatedMedia": {"media": media,
			"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}},
	} {
		if err := p.browser.call(p.session, method, params, nil); err != nil {
			p.t.Fatal(err)
		}
	}
}

// Eval evaluates an expression of JavaScript and decodes its value.
func (p *Page) Eval(expression string, into any) {
	p.t.Helper()
	var answer struct {
		Result    struct{ Value json.RawMessage }
		Exception *struct {
			Text      string
			Exception struct{ Description string }
		} `json:"exceptionDetails"`
	}
	err := p.browser.call(p.session, "Runtime.evaluate", map[string]any{"expression": expression,
		"returnByValue": true, "awaitPromise": true}, &answer)
	if err == nil && answer.Exception != nil {
		err = fmt.Errorf("%s %s", answer.Exception.Text, answer.Exception.Exception.Description)
	}
	if err == nil {
		err = json.Unmarshal(answer.Result.Value, into)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// Picture returns a part of the page as PNG, from a place on; all that follows for a height of 0.
func (p *Page) Picture(top, height int) []byte {
	p.t.Helper()
	var page struct{ W, H float64 }
	p.Eval(`({w: document.documentElement.clientWidth, h: document.documentElement.scrollHeight})`, &page)
	page.H -= float64(top)
	if height > 0 {
		page.H = float64(height)
	}
	var picture struct{ Data []byte }
	err := p.browser.call(p.session, "Page.captureScreenshot", map[string]any{"format": "png",
		"captureBeyondViewport": true,
		"clip":                  map[string]any{"x": 0, "y": top, "width": page.W, "height": page.H, "scale": 1}},
		&picture)
	if err != nil {
		p.t.Fatal(err)
	}
	return picture.Data
}

// PDF returns the page as it prints.
func (p *Page) PDF() []byte {
	p.t.Helper()
	var file struct{ Data []byte }
	err := p.browser.call(p.session, "Page.printToPDF", map[string]any{"preferCSSPageSize": true}, &file)
	if err != nil {
		p.t.Fatal(err)
	}
	return file.Data
}

// Faults lists what the console of the page has reported, exceptions, dialogs, and each request beside the page itself.
func (p *Page) Faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.faults...)
}

// event handles an event of the page.
func (p *Page) event(m message) {
	fault := func(format string, args ...any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.faults = append(p.faults, fmt.Sprintf(format, args...))
	}
	switch m.Method {
	case "Page.loadEventFired":
		p.once.Do(func() { close(p.loaded) })
	case "Page.javascriptDialogOpening", "Runtime.exceptionThrown", "Runtime.consoleAPICalled":
		fault("%s: %s", m.Method, m.Params)
	case "Log.entryAdded":
		fault("log: %s", m.Params)
	case "Network.requestWillBeSent":
		var r struct{ Type string }
		_ = json.Unmarshal(m.Params, &r)
		if r.Type != "Document" {
			fault("request: %s", m.Params)
		}
	}
}
