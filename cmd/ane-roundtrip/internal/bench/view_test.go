package bench

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/internal/decoderbench"
	"github.com/anekit/anekit/internal/growthbench"
	"github.com/anekit/anekit/internal/weightbench"
	"github.com/anekit/anekit/unimem/safetensors"
)

// shown is an object as a terminal and a page show it.
func shown(t *testing.T, object []byte, view doc.View) (terminal, page string) {
	t.Setenv("COLUMNS", "")
	var text, html bytes.Buffer
	require.NoError(t, doc.Terminal(&text, object, view))
	require.NoError(t, doc.Write(&html, object, view))
	return text.String(), html.String()
}

func objectOf(t *testing.T, details any) []byte {
	object, err := json.Marshal(map[string]any{"command": "bench", "verdict": "pass", "details": details})
	require.NoError(t, err)
	return object
}

// A page has what the terminal has had while bench measured; after it the terminal has the caches.
func TestView(t *testing.T) {
	object, err := os.ReadFile("../../testdata/bench.json")
	require.NoError(t, err)
	text, page := shown(t, object, View)
	require.Contains(t, text, "2048 tokens reserved")
	require.Regexp(t, `\nverdict: fail\n$`, text)
	require.NotContains(t, text, "Tape take")
	for _, want := range []string{`data-json="/details/operations/0/ratio"`, `data-json="/details/sizes/0/write/bytes_per_s"`,
		`data-json="/details/evaluate/trips/2/p99_ns"`, `data-json="/details/cache/modes/0/steps/0/tokens"`,
		"skipped: cannot run", "broken"} {
		require.Contains(t, page, want)
	}
}

func TestWeightsView(t *testing.T) {
	m, _ := weightbench.Find("qwen3-8b-4bit")
	m = m.Scaled(1 << 30)
	d := &weightsDetails{Load: []weightbench.Loaded{{Model: m, Bytes: 64 << 20, Cold: true,
		Times: map[string]time.Duration{"map": 2e5, "touch": 3e6, "read": 6e6, "ring": 5e6}},
		{Model: m, Bytes: 64 << 20, Times: map[string]time.Duration{"map": 1e5, "touch": 3e6, "read": 3e6}}},
		Talk: []weightbench.Talked{{Model: m, Way: "map", Weights: 64 << 20, Load: 1e5, Prompt: 120.5}},
		Grow: []weightbench.Talked{{Model: m, First: 2e6, Peak: 3 << 20, Keys: decoderbench.Kept{Mode: "dynamic",
			Bytes: 36 << 20, Steps: []decoderbench.Point{{Tokens: 1, Bytes: 5}, {Tokens: 64, Bytes: 9 << 20}}}}},
		Choose: []weightbench.Chosen{{Bytes: 64 << 20, Resident: .5, Pressure: weightbench.Beyond, Mapped: true, Regret: 1,
			Times: map[safetensors.Mode]time.Duration{"map": 4e6, "auto": 5e6}}, {Pressure: weightbench.None, Regret: 1.5}},
		Skipped:   []skippedStep{{"load", "no room"}},
		Published: weightbench.Published()}
	d.Regret = regretOf(d.Choose)
	object := objectOf(t, d)
	text, page := shown(t, object, WeightsView)
	for _, want := range []string{`^model +layers +size +cache +map`, `\nqwen3-8b-4bit +[1-9] of 36 +64 MiB +warm +100 µs +3 ms +3 ms .* 1.00x\n`,
		` +64 MiB +cold +200 µs .* 2.00x\n`, `\nQwen3-14B-6bit +11.2 GB +3.70 s +5.39 s +0.690x\n`,
		` of 36 +map +64 MiB +100 µs +0 ns +12[01]/s`, `\n +9 MiB \| +`, ` of 36 +dynamic +2 ms .* 3 MiB `,
		`\nroom for 0.75 of a file +64 MiB +50 % +4 ms +killed +5 ms +map +1x\n`,
		`takes 1.25x the time of the better one in the mean, 1.50x at most`, `\nskipped: load: no room\n$`} {
		require.Regexp(t, want, text)
	}
	require.Contains(t, page, `data-json="/details/load/0/times_ns/ring"`)
	require.Contains(t, page, `data-json="/details/published/reserve/8/peak_gb"`)
	require.Contains(t, page, `data-json="/details/choose/0/resident"`)
	require.Contains(t, page, `data-json="/details/regret/worst"`)

	drawing, err := doc.Drawing(object, WeightsView, "Keys and values")
	require.NoError(t, err)
	require.NoError(t, xml.Unmarshal([]byte(drawing), new(struct{})))
	require.Contains(t, drawing, ">dynamic</text>")
	require.NotContains(t, drawing, "Time to load")
	require.NotContains(t, drawing, "var(")
	_, err = doc.Drawing(nil, WeightsView, "")
	require.Error(t, err)
}

func TestGenerateView(t *testing.T) {
	d := &generateDetails{Size: "tiny", Form: "compact", Published: decoderbench.Published()}
	d.Load, d.Step, d.ReadFloor, d.Prompt, d.Prefill, d.PromptFloor = 5e6, 2e6, 1e6, 40, 4e6, 2e6
	d.Keys = []decoderbench.Resident{{Mode: "grown", Tokens: 24, Bytes: 1 << 20}}
	d.Restores = []decoderbench.Restored{{Tokens: 24, Prefill: 8e6, Restore: 2e6, Same: true}, {Tokens: 60, Restore: 1}}
	text, page := shown(t, objectOf(t, d), GenerateView)
	for _, want := range []string{`\nload +5 ms +229 ms\n`, `\nprompt of 40 tokens +4 ms +- +1e\+04 tokens/s, .* takes 2 ms, 2.00x\n`,
		`\ntoken +2 ms +9 ms +500 tokens/s; reading the weights once takes 1 ms, 2.00x\n`, `\ngrown +24 +1 MiB `,
		`\n24, M1's GPU +1.51 MiB .* 10 of 10 tokens\n`, `\n24 .* 4 +yes\n60 .* no\n`, ` here it is 0 at 60\.\n$`} {
		require.Regexp(t, want, text)
	}
	require.Contains(t, page, `data-json="/details/published/restore/prefill_ns"`)
	require.Contains(t, page, `data-json="/details/weights/kv_bytes"`)
}

func TestGrowthView(t *testing.T) {
	d := &growthDetails{Growth: []growthbench.Growth{{Subject: "weights", Unit: "tensors", Exponent: 1.25, Last: 1.5,
		Expected: 1, Points: []growthbench.Point{{Size: 10, Cost: 2500}, {Size: 100, Cost: 44000}}}},
		Skipped: []skippedStep{{"broker", "no Linux"}}}
	text, page := shown(t, objectOf(t, d), GrowthView)
	for _, want := range []string{`\nweights +2 +1.25 +1.50 +1.00\n`, `\nweights +10 +tensors +2.50 µs +250ns\n`,
		`\nskipped: broker: no Linux\n$`} {
		require.Regexp(t, want, text)
	}
	require.Contains(t, page, `data-json="/details/growth/0/exponent_last"`)
	require.Contains(t, page, `data-json="/details/growth/0/points/1/cost_ns"`)
}

// An object of a failure has no details.
func TestViewsOfNothing(t *testing.T) {
	for _, view := range []doc.View{View, WeightsView, GenerateView, GrowthView} {
		_, page := shown(t, []byte(`{"command":"bench","verdict":"fail"}`), view)
		require.NotContains(t, page, "<svg")
	}
}
