package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/browsertest"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/internal/leaktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hostile is a name that ends tags, attributes, styles and comments, colors a terminal and turns text round.
const hostile = "<img src=x " +
	"onerror=alert(1)>\"'`--></style></script></title></svg><script>alert(2)</script>\x1b[31m\u202e"

// objects are objects of every command; every text in them is name, if it is not empty.
func objects(t testing.TB, name string) map[string][]byte {
	all := map[string][]byte{}
	model := `{"name":"add","compile_ns":1500,"load_ns":20,"evaluate_p50_ns":1162,"evaluate_p99_ns":99999,` +
		`"max_error":null,"bytes_copied":0,"latency":{"edges_ns":[100,200,400],"counts":[3,1]},"surfaces":[` +
		`{"tensor":"x","side":"input","dtype":"fp16","shape":[1,4],"rows":1,"row_bytes":8,"row_stride":64,` +
		`"value_bytes":8,"tensor_bytes":64,"surface_bytes":16384}]}`
	head := `{"schema":"ane-roundtrip/1","command":"%s","args":["a","b"],"time":"2023-11-14T22:13:20Z","engine":` +
		`{"name":"soft","chip":"c","os_build":"o","numerics":"n","sharing":"s","cached":false,"notes":["n"]},` +
		`"numerics":"n","injected":["wrong"],"host":{"os":"linux","arch":"amd64","cpus":2,"page_bytes":4096,` +
		`"memory":"memfd","pinned":true,"fp16":"f16c","go":"go","version":"devel"},"checks":[{"name":"add/values",` +
		`"status":"fail","value":0.25,"unit":"bytes","allowed":{"max":0},"detail":"d"},{"name":"broker/x",` +
		`"status":"skip","value":null,"unit":"","allowed":null,"detail":"e"}],"verdict":"fail",` +
		`"error":{"message":"m",` +
		`"hint":"h","exit_code":1,"faults":[{"file":"f","line":3,"column":4,"message":"m","hint":"h"}]},` +
		`"dump":{"source":"s","data":{"known":{"opset":"ios18"},"self_check":[{"class":"c","selector":"s",` +
		`"expected":"e","found":"f","status":"ok"}],"round_trip":[` + model + `],"list":[1,null,"x",true]}},` +
		`"details":%s}`
	add := func(command, details string) { all[command] = fmt.Appendf(nil, head, command, details) }
	figure := `{"value":12.5,"evidence":"inferred","source":"s"}`
	add("cost", `{"file":"f","function":"main","chip":"m6","target":"h18g","call_ns":`+figure+`,"task_ns":`+figure+
		`,"clock_mhz":`+figure+`,"error":`+figure+`,"bound":"mac","tasks":2,"operators":[{"name":"n",`+
		`"operator":"conv",`+
		`"line":0,"column":0,"time_ns":`+figure+`,"bound":"mac","macs":100,"weight_bytes":5,"elements":3,"tasks":1,`+
		`"note":"n"}],"parts":[{"name":"p","time_ns":`+figure+`,"bound":"dispatch"}],"surface_bytes":1,`+
		`"largest_surface_bytes":1,"weight_bytes":1,"largest_intermediate_bytes":1,"budgets":[{"name":"b","used":2,`+
		`"limit":1,"over":true,"evidence":"e","source":"s"}],"coreml":{"engine_ns":`+figure+`,"cpu_ns":`+figure+
		`,"chosen_ns":`+figure+`,"operators_on_engine":1,"operators_on_cpu":2,"segments":3},"cpu_quicker":true,`+
		`"notes":["n"],"why":"w"}`)
	if name == "" {
		return all
	}
	for command, text := range all {
		var doc any
		require.NoError(t, json.Unmarshal(text, &doc), "%s", text)
		var walk func(v any, key string) any
		walk = func(v any, key string) any {
			switch v := v.(type) {
			case map[string]any:
				for k, sub := range v {
					v[k] = walk(sub, k)
				}
			case []any:
				for i, sub := range v {
					v[i] = walk(sub, key)
				}
			case string:
				if key != "command" && key != "row" {
					return name
				}
			}
			return v
		}
		walk(doc, "")
		text, err := json.Marshal(doc)
		require.NoError(t, err)
		all[command] = text
	}
	return all
}

// Hostile texts stay texts: the browser sees no element, no script and no dialog of theirs, and the page shows what
// hides in them.
func TestHostileTexts(t *testing.T) {
	leaktest.SkipEmulated(t)
	for command, object := range objects(t, hostile) {
		var out bytes.Buffer
		require.NoError(t, Write(&out, object), command)
		text := out.String()
		for _, bad := range []string{"<img", "<script", "\x1b", "\u202e"} {
			require.False(t, strings.Contains(text, bad), "%s: %q at %.200q", command, bad,
				text[max(0, strings.Index(text, bad)-100):])
		}
		require.True(t, strings.Contains(text, html.EscapeString(page.Visible(hostile))), command)
		require.Equal(t, 1, strings.Count(text, "</style>"), command)
	}
	browser := browsertest.Open(t)
	for command, object := range objects(t, hostile) {
		file := filepath.Join(t.TempDir(), command+".html")
		var out bytes.Buffer
		require.NoError(t, Write(&out, object))
		require.NoError(t, os.WriteFile(file, out.Bytes(), 0o600))
		p := browser.Page(t, (&url.URL{Scheme: "file", Path: file}).String(), browsertest.Screen{Width: 360,
			Height: 740})
		var found struct {
			Foreign, Width int
			Shown          bool
		}
		p.Eval(`({foreign: document.querySelectorAll("img, script").length, width: document.documentElement.scrollWidth,
			shown: document.body.textContent.includes("\\x1b[31m\\u202e")})`, &found)
		require.Zero(t, found.Foreign, command)
		require.LessOrEqual(t, found.Width, 360, command)
		require.True(t, found.Shown, command)
		require.Empty(t, p.Faults(), command)
	}
}

// A page is the same each time, its plots have colors of the style sheet alone, and each has a title.
func TestWrite(t *testing.T) {
	for command, object := range objects(t, "") {
		var one, two bytes.Buffer
		require.NoError(t, Write(&one, object))
		require.NoError(t, Write(&two, object))
		require.Equal(t, one.String(), two.String(), command)
		text := one.String()
		_, body, ok := strings.Cut(text, "</style>")
		require.True(t, ok)
		require.Empty(t, regexp.MustCompile(`#[0-9A-F]{6}`).FindString(body), command)
		require.False(t, strings.Contains(body, "Liberation"), command)
		svg := strings.Count(body, "<svg")
		require.Equal(t, svg, strings.Count(body, "</desc>"), command)
		require.Positive(t, svg, command)
		require.Empty(t, regexp.MustCompile(`.{0,40}https?:.{0,40}`).FindString(body), command)
		for name := range hueNames() {
			require.Contains(t, style, name+":", "the style sheet defines every color")
		}
	}
	require.Error(t, Write(&bytes.Buffer{}, []byte(`{"a":`)))
	require.NoError(t, Write(&bytes.Buffer{}, []byte(`[]`)), "an object with nothing is a page with nothing")
}

func hueNames() map[string]bool {
	names := map[string]bool{}
	for h := ink; h <= tint(5); h++ {
		if h < first+6 || h >= tint(0) {
			names[h.name()] = true
		}
	}
	return names
}

// A plot places values where they belong: equal steps of a value are equal steps on the paper, and so are equal
// factors on a logarithmic axis.
func TestPlotPlacesValues(t *testing.T) {
	for _, log := range []bool{false, true} {
		xs, ys := []float64{10, 20, 30, 40}, []float64{1, 3, 5, 2}
		if log {
			xs = []float64{10, 100, 1000, 10000}
		}
		c := &chart{x: axis{log: log}, y: axis{}}
		c.add(curve{color: series(0), x: xs, y: ys})
		svg := string(c.draw("p1", "title", "text"))
		path := regexp.MustCompile(`d="(M[^"]*)"\s*style="[^"]*--s1`).FindStringSubmatch(svg)
		require.NotNil(t, path, svg)
		var px, py []float64
		for _, point := range regexp.MustCompile(`[ML]([-0-9.]+),([-0-9.]+)`).FindAllStringSubmatch(path[1], -1) {
			x, _ := strconv.ParseFloat(point[1], 64)
			y, _ := strconv.ParseFloat(point[2], 64)
			px, py = append(px, x), append(py, y)
		}
		require.Len(t, px, 4)
		require.InDelta(t, px[1]-px[0], px[2]-px[1], .02)
		require.InDelta(t, px[1]-px[0], px[3]-px[2], .02)
		require.Greater(t, px[1], px[0])
		require.InDelta(t, (py[1]-py[0])/2, (py[2]-py[0])/4, .02)
		require.InDelta(t, (py[1]-py[0])/2, py[3]-py[0], .02)
		require.Greater(t, py[2], py[0], "upwards, in a group that is turned")
	}
}

// Values without a place on an axis are left out, and a plot of none is none.
func TestPlotLeavesOut(t *testing.T) {
	c := &chart{x: axis{log: true}, y: axis{}}
	c.add(curve{x: []float64{0, -1, math.Inf(1), math.NaN(), 5}, y: []float64{1, 1, 1, 1, math.NaN()}})
	require.Empty(t, c.draw("p", "t", "d"))
	c.bars([]float64{0, 1}, []float64{1}, 0)
	require.Empty(t, c.draw("p", "t", "d"))
	c.add(curve{x: []float64{5}, y: []float64{2}})
	require.NotEmpty(t, c.draw("p", "t", "d"))
}

func TestFigures(t *testing.T) {
	for raw, want := range map[string]string{
		"0": "0 ns", "7": "7 ns", "999": "999 ns", "1000": "1 µs", "1162": "1.16 µs", "99999": "100 µs",
		"2500000": "2.50 ms", "12300000000": "12.3 s", "7.394": "7.39 ns", "0.25": "0.250 ns", "0.0001": "1e−4 ns",
		"-1162": "−1.16 µs", "4560000000000": "4,560 s",
	} {
		c := nanoseconds(&value{kind: number, raw: raw})
		require.Equal(t, want, c.Number+" "+c.Unit, raw)
		require.Equal(t, raw, c.Raw)
	}
	for raw, want := range map[string]string{"0": "0 B", "1023": "1,023 B", "1024": "1 KiB", "-843776": "−824 KiB",
		"16777216": "16 MiB", "1610612736": "1.50 GiB"} {
		c := size(&value{kind: number, raw: raw})
		require.Equal(t, want, c.Number+" "+c.Unit, raw)
	}
	for raw, want := range map[string]string{"16777216": "16,777,216", "-5": "−5", "0.00187816": "0.001878",
		"1.519e-05": "1.519e−5", "123456.7": "1.235e5", "12345.67": "12,346", "-98765.4": "−98,765",
		"1234.56": "1234.6", "1e3": "1,000",
		"18446744073709551615": "18,446,744,073,709,551,615"} {
		require.Equal(t, want, plain(&value{kind: number, raw: raw}).Number, raw)
	}
	require.Equal(t, dash, nanoseconds(&value{kind: null}).Number)
	require.Empty(t, nanoseconds(&value{}).Number)
}

// Pointers escape the characters that divide them.
func TestPointers(t *testing.T) {
	v, err := parse([]byte(`{"a/b":{"~":[1,{"":2}]}}`))
	require.NoError(t, err)
	require.Equal(t, "/a~1b/~0/1/", v.at("a/b", "~").item(1).at("").path)
	require.Equal(t, "2", v.at("a/b", "~").item(1).at("").raw)
	require.Equal(t, missing, v.at("a", "b").item(7).kind)
}

// Any JSON is a page or an error, without a panic, in bounded time.
func FuzzWrite(f *testing.F) {
	for _, object := range objects(f, "") {
		f.Add(object)
	}
	f.Add([]byte(`{"command":"run","details":{"evaluate":{"latency":{"edges_ns":[1e300,1e308],"counts":[1]}}}}`))
	f.Fuzz(func(t *testing.T, object []byte) {
		var out bytes.Buffer
		if Write(&out, object) == nil {
			require.False(t, strings.Contains(out.String(), "<script"))
			require.Equal(t, 1, strings.Count(out.String(), "</html>"))
		}
	})
}

// The first lines of the body of a page.
func ExampleWrite() {
	object := `{"command": "check", "verdict": "pass", "checks": [{"name": "add/values", "status": "pass"}]}`
	var page bytes.Buffer
	if err := Write(&page, []byte(object)); err != nil {
		fmt.Println(err)
		return
	}
	_, body, _ := strings.Cut(page.String(), "<header>\n")
	for i, line := range strings.SplitN(body, "\n", 3) {
		if i < 2 {
			fmt.Println(line)
		}
	}
	// Output:
	// <p class="kicker">ane-roundtrip check</p>
	// <h1 class="pass"><span data-json="/verdict">pass</span></h1>
}
