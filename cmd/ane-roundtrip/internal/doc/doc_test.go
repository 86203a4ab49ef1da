package doc

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// shown is what a terminal shows of an object.
func shown(t *testing.T, object string, view View) string {
	var out bytes.Buffer
	require.NoError(t, Terminal(&out, []byte(object), view))
	return out.String()
}

// One view is what a terminal shows and a page: a column may be of the page alone, numbers have no separators on a
// terminal, and an empty line stands around tables.
func TestOneViewTwoPrinters(t *testing.T) {
	t.Setenv("COLUMNS", "")
	const object = `{"command":"x","verdict":"pass","details":{"n":12345,"s":"a\u001bb","rows":[{"t":1500,"st":"pass"},` +
		`{"t":null,"st":""}]}}`
	view := func(d *Doc, v *Value) {
		d.Terminal(Text("text ", v.Text("s")))
		d.Page("Page", nil, Text("on the page"))
		d.Section("Facts", nil, Remarks{Named("number", Counted(v.Plain("n"), "one", "several"))},
			Facts{Named("first", v.Plain("n").Brief("brief")), Named("gone", v.Text("none"))})
		table := NewTable("Rows", "#time|ns", "~#again", "status", ">note")
		for _, r := range v.Items("rows") {
			table.Row(r.Time("t"), r.Time("t"), r.Status("st"), r.Text("note"))
		}
		d.Section("Rows", nil, table)
		d.Terminal(Text("the end"))
	}
	require.Equal(t, "text a\\x1bb\nnumber: 12345 several\n\nfirst  brief\n\nns       status  note\n1.50 µs  pass\n-        -\n\nthe end\n",
		shown(t, object, view))
	var page bytes.Buffer
	require.NoError(t, Write(&page, []byte(object), view))
	for _, want := range []string{"on the page", `<data class="num" data-json="/details/n" data-raw="12345" data-unit="1" ` +
		`value="12345">12,345</data> several`, `>again</th>`, `data-raw="null"`, `<span class="status pass"`} {
		require.Contains(t, page.String(), want)
	}
	for _, not := range []string{"the end", "gone", ">note<", "brief"} {
		require.NotContains(t, page.String(), not)
	}
}

// A plot places values where they belong: equal steps of a value are equal steps on the paper, and so are equal
// factors on a logarithmic axis.
func TestPlotPlacesValues(t *testing.T) {
	for _, log := range []bool{false, true} {
		xs, ys := []float64{10, 20, 30, 40}, []float64{1, 3, 5, 2}
		if log {
			xs = []float64{10, 100, 1000, 10000}
		}
		c := &Chart{X: Axis{Log: log}}
		c.Add(Curve{Color: Series(0), X: xs, Y: ys})
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
		require.Less(t, py[2], py[0], "upwards")
	}
}

// Values without a place on an axis are left out, and a plot of none is none.
func TestPlotLeavesOut(t *testing.T) {
	c := &Chart{X: Axis{Log: true}}
	c.Add(Curve{X: []float64{0, -1, math.Inf(1), math.NaN(), 5}, Y: []float64{1, 1, 1, 1, math.NaN()}})
	require.Empty(t, c.draw("p", "t", "d"))
	c.Bars([]float64{0, 1}, []float64{1}, 0)
	require.Empty(t, c.draw("p", "t", "d"))
	c.Add(Curve{X: []float64{5}, Y: []float64{2}})
	require.NotEmpty(t, c.draw("p", "t", "d"))
}

func TestFigures(t *testing.T) {
	for raw, want := range map[string]string{
		"0": "0 ns", "7": "7 ns", "999": "999 ns", "1000": "1 µs", "1162": "1.16 µs", "99999": "100 µs",
		"2500000": "2.50 ms", "12300000000": "12.3 s", "7.394": "7.39 ns", "0.25": "0.250 ns", "0.0001": "1e−4 ns",
		"-1162": "−1.16 µs", "4560000000000": "4,560 s",
	} {
		c := (&Value{kind: number, Raw: raw}).Time()
		require.Equal(t, want, c.Number+" "+c.Unit, raw)
		require.Equal(t, raw, c.Raw)
	}
	for raw, want := range map[string]string{"0": "0 B", "1023": "1,023 B", "1024": "1 KiB", "-843776": "−824 KiB",
		"16777216": "16 MiB", "1610612736": "1.50 GiB"} {
		c := (&Value{kind: number, Raw: raw}).Size()
		require.Equal(t, want, c.Number+" "+c.Unit, raw)
	}
	for raw, want := range map[string]string{"16777216": "16,777,216", "-5": "−5", "0.00187816": "0.001878",
		"1.519e-05": "1.519e−5", "123456.7": "1.235e5", "12345.67": "12,346", "-98765.4": "−98,765",
		"1234.56": "1234.6", "1e3": "1,000",
		"18446744073709551615": "18,446,744,073,709,551,615"} {
		require.Equal(t, want, (&Value{kind: number, Raw: raw}).Plain().Number, raw)
	}
	require.Equal(t, dash, (&Value{kind: null}).Time().Number)
	require.Empty(t, (&Value{}).Time().Number)
}

// Pointers escape the characters that divide them.
func TestPointers(t *testing.T) {
	v, err := parse([]byte(`{"a/b":{"~":[1,{"":2}]}}`))
	require.NoError(t, err)
	require.Equal(t, "/a~1b/~0/1/", v.At("a/b", "~").Item(1).At("").path())
	require.Equal(t, "2", v.At("a/b", "~").Item(1).At("").Raw)
	require.Equal(t, missing, v.At("a", "b").Item(7).kind)
}

// A linear axis begins at 0, or ends there.
func TestLinearAxesHaveZero(t *testing.T) {
	for _, c := range [][4]float64{{40, 50, 0, 50}, {-50, -40, -50, 0}, {-1, 2, -1, 2}, {0, 0, 0, 1}, {3, 3, 0, 3}} {
		low, high := Axis{}.span(c[0], c[1])
		require.Equal(t, c[2:], []float64{low, high}, "%v", c)
	}
	low, high := Axis{Log: true}.span(40, 50)
	require.Equal(t, []float64{40, 50}, []float64{low, high})
}
