package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/bench"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/browsertest"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/check"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cost"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/generate"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/info"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/run"
	"github.com/anekit/anekit/internal/decoderbench"
	"github.com/anekit/anekit/internal/effort"
)

// changed is a copy of an object in which f has changed the values. Fields that say which page it is stay.
func changed(v any, f func(key string, v any) any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		all := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			switch k {
			case "command", "schema", "status", "verdict":
				all[k] = v[k]
			default:
				all[k] = changed(v[k], f, k)
			}
		}
		return f(key, all)
	case []any:
		all := []any{}
		for _, one := range v {
			all = append(all, changed(one, f, key))
		}
		return f(key, all)
	}
	return f(key, v)
}

// hostile are changes of objects: what names, figures and lists may be.
func hostile() map[string]func(key string, v any) any {
	text := func(name string) func(string, any) any {
		return func(_ string, v any) any {
			if _, ok := v.(string); ok {
				return name
			}
			return v
		}
	}
	figure := func(n string) func(string, any) any {
		return func(_ string, v any) any {
			if _, ok := v.(json.Number); ok {
				return json.Number(n)
			}
			return v
		}
	}
	return map[string]func(key string, v any) any{
		"markup": text(`</style></title><script>alert(document)</script><img src=x onerror=alert(name)>` +
			`"'&{{.}}<!--`),
		"right":       text("\u202egnp.\u05d0\u05d1\u2066\u0000\u001b[31m\r\n\t\ufeff"),
		"long":        text(strings.Repeat("Wx", 2048)),
		"long words":  text(strings.Repeat("many words ", 372)),
		"empty":       text(""),
		"zero":        figure("0"),
		"negative":    figure("-1"),
		"huge":        figure("1e308"),
		"tiny":        figure("-4.9e-324"),
		"whole":       figure("18446744073709551615"),
		"beyond":      figure("1e400"),
		"no numbers":  func(_ string, v any) any { return orNull[json.Number](v) },
		"no texts":    func(_ string, v any) any { return orNull[string](v) },
		"empty lists": func(_ string, v any) any { return orEmpty(v) },
		"no lists":    func(_ string, v any) any { return orNull[[]any](v) },
		"no objects": func(key string, v any) any {
			if key == "" || key == "details" {
				return v
			}
			return orNull[map[string]any](v)
		},
	}
}

func orNull[T any](v any) any {
	if _, ok := v.(T); ok {
		return nil
	}
	return v
}

func orEmpty(v any) any {
	if _, ok := v.([]any); ok {
		return []any{}
	}
	return v
}

// Pages of objects whose names, figures and lists are as bad as they can be: nothing runs or loads, nothing is beyond
// the edge of a telephone, and each value shown is that of the object.
func TestPagesOfHostileObjects(t *testing.T) {
	effort.NeedsFull(t, "a browser and nine commands")
	browser := browsertest.Open(t)
	views := map[string]doc.View{"check": check.View(false), "compare": run.View(), "missing": run.View(), "cost": cost.View,
		"info": info.View("", nil), "generate": generate.View, "actor": generate.View, "bench": bench.GenerateView}
	// The browser takes time, so it looks at some of the pages.
	looked := map[string]bool{"check": true, "missing": true, "generate": true, "compare": true}
	seen := map[string]bool{"markup": true, "right": true, "long": true, "huge": true}
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(file("m.mil"), []byte(pageProgram), 0o600))
	require.NoError(t, os.Mkdir(file("model"), 0o700))
	require.NoError(t, decoderbench.Make(file("model"), smallest(t)))
	for name, args := range map[string][]string{
		"check":    {"check", "--engine", engine.Soft, "--repeat", "2", "--inject", "wrong-result"},
		"compare":  {"run", "--mil", file("m.mil"), "--fill", "random:1", "--compare", "reference,m6"},
		"cost":     {"cost", file("m.mil")},
		"info":     {"info", "--engine", engine.Soft},
		"missing":  {"run", "--engine", engine.Soft, "--mil", file("none.mil"), "--fill", "ones"},
		"generate": {"generate", "--engine", engine.Soft, "--model", file("model"), "--tokens", "1,5", "--max", "3"},
		"actor":    {"actor", "run", "--engine", engine.Soft, "--model", file("model"), "--tokens", "1", "--max", "2"},
		"bench": {"bench", "generate", "--engine", engine.Soft, "--size", "tiny", "--restore", "24", "--prompt", "40",
			"--steps", "2", "--rounds", "1", "--dir", dir},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errw bytes.Buffer
			execute(t.Context(), append(args, "--json", "--report", file(name+".json")), &out, &errw)
			var parsed any
			d := json.NewDecoder(&out)
			d.UseNumber()
			require.NoError(t, d.Decode(&parsed), "%s", &errw)
			for how, change := range hostile() {
				t.Run(how, func(t *testing.T) {
					object, err := json.Marshal(changed(parsed, change, ""))
					require.NoError(t, err)
					page := file("hostile.html")
					f, err := os.Create(page)
					require.NoError(t, err)
					require.NoError(t, doc.Write(f, object, views[name]))
					require.NoError(t, f.Close())
					if looked[name] && seen[how] {
						lookOn(t, browser, page, object, browsertest.Screen{Width: 320, Height: 640, Dark: true})
					}
				})
			}
		})
	}
}
