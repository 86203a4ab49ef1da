package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/bench"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/check"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cost"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/generate"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/info"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/run"
)

// views are those of the commands that write pages.
func views() map[string]doc.View {
	return map[string]doc.View{"check": check.View(false), "run": run.View(), "cost": cost.View, "info": info.View("", nil),
		"generate": generate.View, "actor": generate.View, "bench": bench.View}
}

// pageOf is the body of the page of an object.
func pageOf(t *testing.T, command string, object []byte) string {
	var out bytes.Buffer
	require.NoError(t, doc.Write(&out, object, views()[command]), command)
	require.Equal(t, 1, strings.Count(out.String(), "</style>"), command)
	_, body, _ := strings.Cut(out.String(), "</style>")
	return body
}

// hostile is a name that ends tags, attributes, styles and comments, colors a terminal and turns text round.
const hostileName = "<img src=x " +
	"onerror=alert(1)>\"'`--></style></script></title></svg><script>alert(2)</script>\x1b[31m\u202e"

// objects are objects of every command; every text in them is name, if it is not empty.
func objects(t testing.TB, name string) map[string][]byte {
	all := map[string][]byte{}
	bench, err := os.ReadFile("testdata/bench.json")
	require.NoError(t, err)
	all["bench"] = bench
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
	timeline := `{"spans":[{"row":"submissions","name":"alloca 1","start_ns":5,"duration_ns":10},{"row":"engine",` +
		`"name":"dispatch","program":"add","start_ns":20,"duration_ns":30}],"memory":[{"at_ns":5,"bytes":4096},` +
		`{"at_ns":60,"bytes":0}]}`
	add("check", `{"models":[`+model+`,{"name":"bad","error":"e"}],"engines":[{"engine":"soft","models":[`+model+
		`],"memory":[{"step":"open","at_ns":0,"process_bytes":8000000,"block_bytes":0},{"step":"add","at_ns":900,`+
		`"process_bytes":null,"block_bytes":16384}]}],"timeline":`+timeline+`}`)
	add("run", `{"tensors":[{"name":"x","side":"input","dtype":"fp16","shape":[1,4],"min":null,"max":2,"nan":4,`+
		`"bytes_copied":8,"file":"f","notes":["n"]}],"compile_ns":1,"load_ns":2,"evaluate":{"repeat":4,"first_ns":9,`+
		`"min_ns":1,"p50_ns":2,"p99_ns":3,"bytes_copied":null,"allocs":0,"latency":{"edges_ns":[100,200,400],"counts":`+
		`[3,1]}},"surfaces":[],"timeline":`+timeline+`,"compare":{"modes":["reference","m6"],"compared":2,`+
		`"difference":`+
		`{"operator":"conv","value":"c","file":"f","line":1,"column":2,"dtype":"fp16","shape":[4],"index":[1],`+
		`"values":`+
		`[1,2],"shown":["1","2"],"ulps":3,"differ":1,"elements":4,"max_difference":1,"not_finite":0,"rules":["r"]},"operators":[`+
		`{"operator":"conv","value":"c","line":1,"elements":4,"differ":1,"max_difference":1,"not_finite":0,"relative":0.5}]}}`)
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
	add("info", `{"engines":[{"name":"soft","available":true,"what":"w","reason":"r"}],`+
		`"frameworks":[{"engine":"apple",`+
		`"error":"e","framework":"f","checks":[{"class":"c","expected":"e","found":"f","status":"ok",`+
		`"needed_for":"n"}]}`+
		`],"operators":["add","sub"]}`)
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

// Hostile texts stay texts, on a page and on a terminal: there is no element of theirs, and what hides in them is shown.
func TestHostileTexts(t *testing.T) {
	for command, object := range objects(t, hostileName) {
		if views()[command] == nil {
			continue
		}
		page := pageOf(t, command, object)
		require.Contains(t, page, html.EscapeString(cli.Visible(hostileName)), command)
		var terminal bytes.Buffer
		require.NoError(t, doc.Terminal(&terminal, object, views()[command]))
		require.Contains(t, terminal.String(), cli.Visible(hostileName), command)
		for _, bad := range []string{"<img", "<script", "\x1b", "\u202e"} {
			require.NotContains(t, page, bad, command)
			require.False(t, bad[0] != '<' && strings.Contains(terminal.String(), bad), command)
		}
	}
}

// A page is the same each time, has no address of another place, and each of its plots has a description. A figure that
// counts copies says which.
func TestPages(t *testing.T) {
	for command, object := range objects(t, "") {
		page := pageOf(t, command, object)
		require.Equal(t, page, pageOf(t, command, object), command)
		require.Equal(t, strings.Count(page, "<svg"), strings.Count(page, "</desc>"), command)
		require.NotRegexp(t, regexp.MustCompile(`https?:`), page, command)
		require.NotRegexp(t, regexp.MustCompile(`>copied</(dt|th)>`), page, command)
	}
}

// A page is headed Pass, in green, only where checks or a run have passed: no estimate, and no comparison that differs.
func TestEstimatesAreNoPass(t *testing.T) {
	const differs = `{"compare":{"modes":["reference","m6"],"compared":2,"difference":{"operator":"conv"}}}`
	for _, c := range []struct{ command, verdict, details, heading string }{
		{"check", "pass", `{}`, `<h1 class="pass"><span data-json="/verdict">pass</span></h1>`},
		{"run", "pass", `{"compare":{"modes":["reference","m6"],"compared":2}}`, `<h1 class="pass">`},
		{"run", "pass", differs, `<h1><span class="word">Different results</span></h1>`},
		{"run", "fail", differs, `<h1 class="fail">`},
		{"cost", "pass", `{}`, `<h1><span class="word">Estimate</span></h1>`},
		{"cost", "fail", `{}`, `<h1 class="fail">`},
		{"generate", "pass", `{"chip":"m4"}`, `<h1><span class="word">Plan</span></h1>`},
		{"generate", "pass", `{}`, `<h1 class="pass">`},
	} {
		object := `{"command":"` + c.command + `","verdict":"` + c.verdict + `","details":` + c.details + `}`
		require.Contains(t, pageOf(t, c.command, []byte(object)), c.heading, "%s %s", c.command, c.details)
	}
}

// A limit that is not known is no 0.
func TestUnknownLimitsAreNoZero(t *testing.T) {
	page := pageOf(t, "cost", []byte(`{"command":"cost","verdict":"pass","details":{"budgets":[{"name":"b","used":2,`+
		`"limit":null,"over":false,"evidence":"unknown","source":""}]}}`))
	require.Regexp(t, `data-json="/details/budgets/0/limit"[^>]*>–<`, page)
}

// Any JSON is a page or an error, without a panic, in bounded time.
func FuzzPages(f *testing.F) {
	for command, object := range objects(f, "") {
		f.Add(command, object)
	}
	f.Add("run", []byte(`{"details":{"evaluate":{"latency":{"edges_ns":[1e300,1e308],"counts":[1]}}}}`))
	f.Fuzz(func(t *testing.T, command string, object []byte) {
		var page, terminal bytes.Buffer
		view := views()[command]
		if doc.Write(&page, object, view) == nil {
			require.NotContains(t, page.String(), "<script")
			require.Equal(t, 1, strings.Count(page.String(), "</html>"))
		}
		if view != nil {
			_ = doc.Terminal(&terminal, object, view)
		}
	})
}
