package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/bench"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/browsertest"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/decoderbench"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/membench"
)

// pageProgram has operators that two modes compute differently.
const pageProgram = `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 16, 4, 30]> x) {
        tensor<fp16, [1, 16, 4, 30]> s = sigmoid(x = x)[name = string("s")];
        tensor<fp16, [1, 16, 4, 30]> g = mul(x = x, y = s)[name = string("g")];
        tensor<fp16, [1, 16, 4, 30]> y = softmax(axis = int32(1), x = g)[name = string("y")];
    } -> (y);
}
`

// shown is a value of the object as a page shows it.
type shown struct {
	Path, Of, Raw, Unit, Text string
	Figure                    bool
}

// anyCode stands for the exit status of a run whose figures decide.
const anyCode = -1

// Every command's page, in a browser: nothing is wrong with it, each figure is that of the object, which --json prints
// in the same run, there are no other figures, and everybody can read it.
func TestReportPages(t *testing.T) {
	effort.NeedsFull(t, "a browser and every command")
	browser := browsertest.Open(t)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(file("m.mil"), []byte(pageProgram), 0o600))
	require.NoError(t, os.WriteFile(file("bad.mil"), []byte("program(1.3)\n{\n}}"), 0o600))
	runs := map[string]struct {
		code int
		args []string
	}{
		"check":   {0, []string{"check", "--repeat", "20"}},
		"failed":  {1, []string{"check", "--engine", engine.Soft, "--repeat", "2", "--inject", "wrong-result"}},
		"part":    {0, []string{"check", "--engine", engine.Soft, "--repeat", "2", "--only", "memory/*"}},
		"guests":  {anyCode, []string{"check", "--wasm", "--engine", engine.Soft, "--repeat", "3"}},
		"compare": {0, []string{"run", "--mil", file("m.mil"), "--fill", "random:1", "--compare", "reference,m6"}},
		"repeat": {0, []string{"run", "--engine", engine.Soft, "--mil", file("m.mil"), "--fill", "ones", "--repeat",
			"50"}},
		"bad":  {2, []string{"run", "--engine", engine.Soft, "--mil", file("bad.mil")}},
		"cost": {0, []string{"cost", file("m.mil"), "--gap-us", "50"}},
		"info": {0, []string{"info", "--engine", engine.Soft}},
	}
	for name, r := range runs {
		t.Run(name, func(t *testing.T) {
			page := file(name + ".html")
			var out, errw bytes.Buffer
			code := execute(t.Context(), append(r.args, "--json", "--report", page), &out, &errw)
			if r.code != anyCode {
				require.Equal(t, r.code, code, "%s", &errw)
			}
			lookAt(t, browser, page, out.Bytes())
		})
	}
	t.Run("bench", func(t *testing.T) {
		page := file("bench.html")
		var out, errw bytes.Buffer
		a := cli.New(rootCommand, []string{"bench", "--json"}, &out, &errw)
		a.Engine = engine.Soft
		a.ReportFile.Path = page
		f, err := a.CreateOutput("--report", page)
		require.NoError(t, err)
		a.ReportFile.File = f
		plan := bench.Plan{Cases: membench.Cases()[:2], Sizes: []int{4 << 10, 64 << 10}, Rounds: 1,
			Time: time.Millisecond, Caches: []int{2048}}
		_ = a.Conclude(t.Context(), bench.Run(a, t.Context(), plan)) // the figures decide
		lookAt(t, browser, page, out.Bytes())
	})
	model := file("model")
	require.NoError(t, os.Mkdir(model, 0o700))
	require.NoError(t, decoderbench.Make(model, smallest(t)))
	for name, args := range map[string][]string{
		"generate": {"generate", "--engine", engine.Soft, "--model", model, "--tokens", "1,5,7", "--max", "4",
			"--snapshot", file("talk")},
		"limits": {"generate", "--engine", engine.Soft, "--model", model, "--tokens", "1,5,7", "--max", "1", "--form",
			"engine", "--emulate", "m1"},
		"silent": {"generate", "--engine", engine.Soft, "--model", model, "--tokens", "1", "--max", "0"},
		"actor": {"actor", "freeze", "--engine", engine.Soft, "--model", model, "--tokens", "1,5,7", "--max", "4",
			"--snapshot", file("frozen")},
		"bench-generate": {"bench", "generate", "--engine", engine.Soft, "--size", "tiny", "--restore", "24,60",
			"--prompt", "40", "--steps", "3", "--rounds", "1", "--dir", dir},
	} {
		t.Run(name, func(t *testing.T) {
			page := file(name + ".html")
			var out, errw bytes.Buffer
			code := execute(t.Context(), append(args, "--json", "--report", page), &out, &errw)
			require.Equal(t, 0, code, "%s", &errw)
			lookAt(t, browser, page, out.Bytes())
		})
	}
	t.Run("weights", func(t *testing.T) {
		page := file("weights.html")
		var out, errw bytes.Buffer
		args := []string{"bench", "weights", "--max-mib", "64", "--rounds", "1", "--dir", dir, "--json", "--report",
			page}
		require.Equal(t, 0, execute(t.Context(), args, &out, &errw), "%s", &errw)
		lookAt(t, browser, page, out.Bytes())
	})
}

// smallest is the shape of a model that takes no time.
func smallest(t *testing.T) decoderbench.Shape {
	s, ok := decoderbench.Find("tiny")
	require.True(t, ok)
	return s
}

// The picture of a page in the documentation is small. ANEKIT_PICTURE=write draws it again: the page of check, wide and
// light, and on a dark telephone.
func TestReportPicture(t *testing.T) {
	const file = "../../docs/report.png"
	if os.Getenv("ANEKIT_PICTURE") == "write" {
		leaktest.SkipEmulated(t)
		browser := browsertest.Open(t)
		name := filepath.Join(t.TempDir(), "check.html")
		var out, errw bytes.Buffer
		require.Equal(t, 0, execute(t.Context(), []string{"check", "--quiet", "--report", name}, &out, &errw), "%s",
			&errw)
		p := browser.Page(t, (&url.URL{Scheme: "file", Path: name}).String(),
			browsertest.Screen{Width: 960, Height: 800})
		const height = 1560
		wide, err := png.Decode(bytes.NewReader(p.Picture(0, height)))
		require.NoError(t, err)
		p.Show(browsertest.Screen{Width: 390, Height: 800, Dark: true})
		var spans float64
		p.Eval(`[...document.querySelectorAll("h2")].find(h => h.textContent === "Engine spans")
			.getBoundingClientRect().top`, &spans)
		narrow, err := png.Decode(bytes.NewReader(p.Picture(int(spans)-24, height)))
		require.NoError(t, err)
		both := image.NewRGBA(image.Rect(0, 0, wide.Bounds().Dx()+narrow.Bounds().Dx(), height))
		draw.Draw(both, wide.Bounds(), wide, image.Point{}, draw.Src)
		draw.Draw(both, narrow.Bounds().Add(image.Pt(wide.Bounds().Dx(), 0)), narrow, image.Point{}, draw.Src)
		var small bytes.Buffer
		require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, fewColors(both)))
		require.NoError(t, os.WriteFile(file, small.Bytes(), 0o644))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Less(t, len(text), 200<<10)
	_, err = png.Decode(bytes.NewReader(text))
	require.NoError(t, err)
}

// fewColors is a picture with its most frequent colors.
func fewColors(m *image.RGBA) *image.Paletted {
	count := map[color.RGBA]int{}
	for y := range m.Rect.Dy() {
		for x := range m.Rect.Dx() {
			count[m.RGBAAt(x, y)]++
		}
	}
	var all color.Palette
	for _, c := range slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int { return count[b] - count[a] }) {
		if len(all) < 96 {
			all = append(all, c)
		}
	}
	few := image.NewPaletted(m.Rect, all)
	draw.Draw(few, few.Rect, m, image.Point{}, draw.Src)
	return few
}

// lookAt looks at a page on several screens.
func lookAt(t *testing.T, browser *browsertest.Browser, file string, object []byte) {
	p := lookOn(t, browser, file, object, browsertest.Screen{Width: 1280, Height: 800},
		browsertest.Screen{Width: 1280, Height: 800, Dark: true}, browsertest.Screen{Width: 800, Height: 800},
		browsertest.Screen{Width: 360, Height: 740}, browsertest.Screen{Width: 360, Height: 740, Dark: true},
		browsertest.Screen{Width: 320, Height: 640},              // WCAG 1.4.10
		browsertest.Screen{Width: 688, Height: 990, Print: true}, // A4 and margins
		browsertest.Screen{Width: 688, Height: 990, Print: true, Dark: true})
	require.NotEmpty(t, p.PDF())
}

// lookOn looks at a page on screens.
func lookOn(t *testing.T, browser *browsertest.Browser, file string, object []byte,
	screens ...browsertest.Screen) *browsertest.Page {
	address := (&url.URL{Scheme: "file", Path: file}).String()
	p := browser.Page(t, address, browsertest.Screen{Width: 1280, Height: 800})
	var doc any
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	require.NoError(t, d.Decode(&doc), "%s", object)
	var values []shown
	p.Eval(`[...document.querySelectorAll("[data-json]")].map(e => ({path: e.dataset.json, of: e.dataset.of || "",
		raw: e.dataset.raw || "", unit: e.dataset.unit || "", text: e.textContent,
			figure: "raw" in e.dataset}))`, &values)
	require.Greater(t, len(values), 10)
	for _, v := range values {
		sameAsObject(t, doc, v)
	}
	var stray []string
	p.Eval(strayFigures, &stray)
	for _, text := range stray {
		for _, word := range strings.Fields(text) {
			word = strings.Trim(word, ".,:;()")
			if strings.Contains(word, `\`) { // an escaped character of a name
				continue
			}
			if strings.ContainsAny(word, "0123456789") && !knownWord.MatchString(word) {
				t.Errorf("%q in %q is a figure without a place in the object", word, text)
			}
		}
	}
	var form []string
	p.Eval(formFaults, &form)
	require.Empty(t, form)
	for _, s := range screens {
		p.Show(s)
		var faint []string
		p.Eval(faintTexts, &faint)
		require.Empty(t, faint, "texts without contrast on %+v", s)
		var wide []string
		p.Eval(wideElements, &wide)
		require.Empty(t, wide, "beyond the right edge on %+v", s)
	}
	require.Empty(t, p.Faults())
	return p
}

// knownWord matches words with digits that are names.
var knownWord = regexp.MustCompile(`^(p50|p99|fp16|M1|M4|16|KiB|1|2|3|4|tables|m[1-6])$`)

// sameAsObject compares a value of a page with the object.
func sameAsObject(t *testing.T, doc any, v shown) {
	t.Helper()
	at := doc
	for _, key := range strings.Split(v.Path, "/")[1:] {
		key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		var ok bool
		switch parent := at.(type) {
		case map[string]any:
			at, ok = parent[key]
		case []any:
			i, err := strconv.Atoi(key)
			if ok = err == nil && i < len(parent); ok {
				at = parent[i]
			}
		}
		require.True(t, ok, "the object has no %s", v.Path)
	}
	switch value := at.(type) {
	case json.Number:
		require.True(t, v.Figure, "%+v", v)
		require.Equal(t, value.String(), v.Raw, v.Path)
		require.True(t, says(v), "%+v", v)
	case nil:
		require.Equal(t, "null", v.Raw, v.Path)
	case string:
		require.False(t, v.Figure, v.Path)
		require.Equal(t, cli.Visible(value), v.Text, v.Path)
	case bool:
		require.Contains(t, []string{fmt.Sprint(value), map[bool]string{true: "yes", false: "no"}[value]}, v.Text,
			v.Path)
	case []any:
		if !v.Figure { // a list as one text
			for _, item := range value {
				require.Contains(t, v.Text, cli.Visible(fmt.Sprint(item)), v.Path)
			}
			return
		}
		field, want, selects := strings.Cut(v.Of, "=")
		n := 0
		for _, item := range value {
			if !selects || item.(map[string]any)[field] == want {
				n++
			}
		}
		require.Equal(t, strconv.Itoa(n), v.Raw, v.Path)
		require.True(t, says(v), "%+v", v)
	default:
		t.Errorf("%s is %T", v.Path, at)
	}
}

// says reports whether the text of a figure is its value, rounded to the digits that it has.
func says(v shown) bool {
	if v.Raw == "null" {
		return v.Text == "–"
	}
	raw, err := strconv.ParseFloat(v.Raw, 64)
	if err != nil {
		return false
	}
	text := strings.TrimLeft(v.Text, "≤≥ ")
	text = strings.NewReplacer("−", "-", ",", "", "\u202f", " ", "\u00a0", " ").Replace(text)
	number, unit, _ := strings.Cut(text, " ")
	if e := strings.IndexAny(number, "×%"); e >= 0 {
		number, unit = number[:e], number[e:]
	}
	got, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	scale := 1.0
	factors := map[string]map[string]float64{
		"ns": {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}, "us": {"ns": 1e-3, "µs": 1, "ms": 1e3, "s": 1e6},
		"ms": {"ns": 1e-6, "µs": 1e-3, "ms": 1, "s": 1e3}, "s": {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1},
		"bytes":   {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40},
		"bytes/s": {"B/s": 1, "KB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12},
	}
	if of := factors[v.Unit]; of != nil {
		scale = of[strings.TrimSpace(unit)]
	} else if strings.HasPrefix(strings.TrimSpace(unit), "%") {
		scale = .01
	}
	return math.Abs(got*scale-raw) <= .0051*math.Abs(raw)
}

// strayFigures lists the texts with digits outside of values of the object, and beside the labels of plots.
const strayFigures = `(() => {
	const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; n = walk.nextNode();)
		if (/[0-9]/.test(n.data) && !n.parentElement.closest("[data-json], svg")) found.push(n.data);
	return found;
})()`

// formFaults lists what a reader with a screen reader would miss.
const formFaults = `(() => {
	const faults = [], all = s => [...document.querySelectorAll(s)];
	if (document.documentElement.lang !== "en") faults.push("no language");
	if (!document.title) faults.push("no title");
	if (all("h1").length !== 1) faults.push("not one h1");
	if (all("script, img, iframe, link, object, embed, form").length) faults.push("foreign elements");
	if (performance.getEntriesByType("resource").length) faults.push("resources");
	for (const e of document.querySelectorAll("*")) for (const a of e.attributes)
		if (/^on/i.test(a.name) || (/^(src|href|xlink:href)$/.test(a.name) && !a.value.startsWith("#")))
			faults.push(e.tagName + " " + a.name);
	for (const t of all("table")) if (!t.caption || !t.caption.textContent) faults.push("a table without a caption");
	for (const t of all("td, tbody th")) if (!t.closest("tr").querySelector("th[scope=row]")) 
		faults.push("no row head");
	for (const s of all("svg")) if (!s.querySelector("title") || !s.querySelector("desc"))
		faults.push("a plot without title or description");
	for (const e of all("[aria-labelledby]")) for (const id of e.getAttribute("aria-labelledby").split(" "))
		if (!document.getElementById(id)) faults.push("no element " + id);
	const ids = all("[id]").map(e => e.id);
	if (new Set(ids).size !== ids.length) faults.push("an id twice");
	for (const a of all("a")) if (!document.querySelector(a.getAttribute("href"))) faults.push("a dead link");
	for (const s of all("section")) if (!s.querySelector("h2")) faults.push("a section without a heading");
	if (/NaN|undefined|%!|ZgotmplZ/.test(document.body.textContent.replace("#NaN", ""))) {
		const words = document.body.textContent.match(/.{20}(undefined|%!|ZgotmplZ).{20}/);
		if (words) faults.push(words[0]);
	}
	return faults;
})()`

// faintTexts lists texts whose contrast is below that of WCAG 2.2 AA: 4.5, or 3 for large ones.
const faintTexts = `(() => {
	const channels = c => (c.match(/[0-9.]+/g) || []).map(Number);
	const light = c => { const [r, g, b] = channels(c).slice(0, 3).map(v => v / 255).map(v =>
		v <= .04045 ? v / 12.92 : Math.pow((v + .055) / 1.055, 2.4)); return .2126 * r + .7152 * g + .0722 * b; };
	const clear = c => { const v = channels(c); return v.length === 4 && v[3] === 0; };
	const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
		if (!clear(c)) return c; } return "rgb(255, 255, 255)"; };
	const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; n = walk.nextNode();) {
		const e = n.parentElement;
		if (!n.data.trim() || !e.getClientRects().length || e.closest("title, desc")) continue;
		const s = getComputedStyle(e), svg = e instanceof SVGElement, ink = svg ? s.fill : s.color;
		const a = light(ink), b = light(behind(e)), size = parseFloat(s.fontSize);
		const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		const large = size >= 24 || size >= 18.66 && s.fontWeight >= 700;
		if (ratio < (large ? 3 : 4.5)) found.push(n.data.trim().slice(0, 40) + " " + ratio.toFixed(2) + " " + ink);
	}
	return found;
})()`

// wideElements lists elements beyond the right edge that the reader has to scroll to.
const wideElements = `(() => {
	const found = [], width = document.documentElement.clientWidth;
	if (document.documentElement.scrollWidth > width) found.push("the page: " + document.documentElement.scrollWidth);
	for (const e of document.querySelectorAll("body *")) {
		const r = e.getBoundingClientRect();
		if (r.width && (r.right > width + 1 || r.left < -1) && !e.closest("thead, .scroll") )
			found.push(e.tagName + " " + e.textContent.trim().slice(0, 40) + " " + r.left + " to " + r.right);
	}
	return found;
})()`
