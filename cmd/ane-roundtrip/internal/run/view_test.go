package run

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/tensorfile"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// body is the body of the page of an object.
func body(t *testing.T, object string) string {
	t.Helper()
	var page bytes.Buffer
	require.NoError(t, doc.Write(&page, []byte(object), View()))
	_, text, _ := strings.Cut(page.String(), "</style>")
	return text
}

// The page has the tensors, the times with their histogram, the timeline, and the operators of --compare.
func TestPage(t *testing.T) {
	text := body(t, `{"command":"run","verdict":"pass","details":{"tensors":[{"name":"x","side":"input","dtype":"fp16",`+
		`"shape":[1,4],"min":null,"max":2,"nan":4,"bytes_copied":8,"file":"f","notes":["n"]}],"compile_ns":1,`+
		`"load_ns":2,"evaluate":{"repeat":4,"first_ns":9,"min_ns":1,"p50_ns":2,"p99_ns":3,"bytes_copied":0,"allocs":0,`+
		`"latency":{"edges_ns":[100,200,400],"counts":[3,1]}},"surfaces":[],"timeline":{"spans":[{"row":"engine",`+
		`"name":"dispatch","program":"add","start_ns":20,"duration_ns":30}],"memory":[]},"compare":{"modes":["reference",`+
		`"m6"],"compared":2,"difference":{"operator":"conv","value":"c","file":"f","line":1,"column":2,"dtype":"fp16",`+
		`"shape":[4],"index":[1],"values":[1,2],"shown":["1","2"],"ulps":3,"differ":1,"elements":4,"max_difference":1,`+
		`"not_finite":0,"rules":["r"]},"operators":[{"operator":"conv","value":"c","line":1,"elements":4,"differ":1,`+
		`"max_difference":1,"not_finite":0,"relative":0.5}]}}}`)
	for _, want := range []string{`reached through a copy</dt>`, `between file and tensor</th>`, `Go allocations of each`,
		`data-json="/details/tensors/0/max" data-raw="2"`, `data-json="/details/evaluate/p99_ns" data-raw="3"`,
		`data-json="/details/compare/difference/shown/1">2`, `data-json="/details/timeline/spans/0/duration_ns"`} {
		require.Contains(t, text, want)
	}
	require.Equal(t, 3, strings.Count(text, "<svg"))
	require.NotRegexp(t, `>copied</(dt|th)>`, text, "the column says what copied means")
}

// A comparison that differs has proved nothing: its page is not headed Pass.
func TestDifferentResultsAreNoPass(t *testing.T) {
	const page = `{"command":"run","verdict":"%s","details":{"compare":{"modes":["reference","m6"],"compared":2%s}}}`
	const differs = `,"difference":{"operator":"conv"}`
	for _, c := range []struct{ verdict, difference, heading string }{
		{"pass", "", `<h1 class="pass">`}, {"pass", differs, `<h1><span class="word">Different results</span></h1>`},
		{"fail", differs, `<h1 class="fail">`},
	} {
		require.Contains(t, body(t, fmt.Sprintf(page, c.verdict, c.difference)), c.heading)
	}
}

// A result that differs by NaN alone has no length for a bar: its label says so, and it is among those that are shown.
func TestBarsOfWhatIsNotFinite(t *testing.T) {
	operators := []string{`{"operator":"log","value":"lost","line":1,"elements":4,"differ":4,"max_difference":null,` +
		`"not_finite":4,"relative":0}`}
	for i := range 60 {
		operators = append(operators, fmt.Sprintf(`{"operator":"add","value":"v%d","line":1,"elements":4,"differ":1,`+
			`"max_difference":1,"not_finite":0,"relative":%d}`, i, i+1))
	}
	_, plot, ok := strings.Cut(body(t, `{"command":"run","details":{"compare":{"modes":["reference","m6"],"compared":61,`+
		`"difference":{},"operators":[`+strings.Join(operators, ",")+`]}}}`), "<svg")
	require.True(t, ok)
	plot, _, _ = strings.Cut(plot, "</svg>")
	require.Contains(t, plot, "lost (4 not finite)")
	require.NotContains(t, plot, ">v0<", "the smallest of 61")
	require.Contains(t, plot, ">v59<")
}

// A terminal shows the times in a line, and of an element that is infinite in a mode no difference.
func TestTerminal(t *testing.T) {
	t.Setenv("COLUMNS", "")
	var out bytes.Buffer
	require.NoError(t, doc.Terminal(&out, []byte(`{"engine":{"name":"soft"},"checks":[{"name":"expect/y","status":"fail",`+
		`"detail":"d"}],"details":{"tensors":[{"name":"x","side":"input","dtype":"fp16","shape":[2],"min":1024.5,"max":null,`+
		`"nan":0,"bytes_copied":8}],"compile_ns":1500,"load_ns":2,"evaluate":{"repeat":1000,"first_ns":9,`+
		`"min_ns":1,"p50_ns":2,"p99_ns":3,"bytes_copied":null,"allocs":0},"compare":{"modes":["reference","m6"],"compared":1,`+
		`"difference":{"operator":"add","value":"y","ulps":1,"shown":["+Inf","2050"],"differ":2,"elements":2,"not_finite":2,`+
		`"max_difference":0,"rules":["a","b"]}}}}`),
		View(tensorfile.Extent{Max: trial.Number(math.Inf(1))})))
	for _, want := range []string{"x       input  fp16  [2]    1024.5  +Inf  0",
		"\nengine soft: compile 1.50 µs, load 2 ns, evaluate 1000 times: min 1 ns, p50 2 ns, p99 3 ns, copies unknown, " +
			"0 allocations each\n", "apart         1 ulp\n", "differ        2 of 2 elements; 2 infinite or NaN\n", "rule          a + b\n",
		"expect/y: fail, d\n"} {
		require.Contains(t, out.String(), want)
	}
}
