package numerics

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

// probe is one measurement; testdata/README.md says what the fields mean.
type probe struct {
	ID, Chip, Op, Kind, Status string
	Inputs                     map[string]any
	Expected                   any
	ExpectedBits               string `json:"expected_bits"`
}

func probes(t testing.TB) []probe {
	data, err := os.ReadFile("testdata/probes.json")
	require.NoError(t, err)
	var all struct{ Probes []probe }
	require.NoError(t, json.Unmarshal(data, &all))
	return all.Probes
}

var chips = map[string]Mode{"h13": M1, "h14g": M1, "h16g": M4, "h17": M5, "h18g": M6}

func halfOf(t testing.TB, v any) fp16.Bits {
	switch v := v.(type) {
	case string:
		if v == "inf" {
			return fp16.Inf
		}
		n, err := strconv.ParseUint(v, 0, 16)
		require.NoError(t, err)
		return fp16.Bits(n)
	case float64:
		return HalfAway.Round(v)
	}
	t.Fatalf("not a half: %v", v)
	return 0
}

// half returns an input by name, from its bits where there are any.
func (p probe) half(t testing.TB, name string) fp16.Bits {
	if b, ok := p.Inputs[name+"_bits"]; ok {
		return halfOf(t, b)
	}
	return halfOf(t, p.Inputs[name])
}

// conv returns the operands of a conv probe: 64 channels.
func (p probe) conv(t testing.TB) (x, w []fp16.Bits, bias fp16.Bits) {
	x, w = make([]fp16.Bits, 64), make([]fp16.Bits, 64)
	for i, b := range p.Inputs["x_bits"].([]any) {
		x[i] = halfOf(t, b)
	}
	if b, ok := p.Inputs["w_bits"]; ok {
		if list, ok := b.([]any); ok {
			for i, b := range list {
				w[i] = halfOf(t, b)
			}
		} else {
			w[0] = halfOf(t, b)
		}
	} else {
		require.Equal(t, "ones", p.Inputs["w"])
		for i := range w {
			w[i] = 0x3c00
		}
	}
	if b, ok := p.Inputs["bias_bits"]; ok {
		bias = halfOf(t, b)
	}
	for i := range x { // the host quieted the signaling NaN before the chip saw it
		if x[i] == 0x7c01 {
			x[i] = 0x7e01
		}
	}
	return x, w, bias
}

// terms expands the formula of a matmul probe.
func terms(t testing.TB, formula string) []fp16.Bits {
	switch formula {
	case "[4096] + [1]*1024":
		return append(terms(t, "[4096]*1"), terms(t, "[1]*1024")...)
	case "one 8192 followed by 16 ones":
		return append(terms(t, "[8192]*1"), terms(t, "[1]*16")...)
	case "fp16 output of a sum equal to 2049", "reshape -> reduce_sum with integer total 2049":
		return append(terms(t, "[2048]*1"), terms(t, "[1]*1")...)
	case "reduce_sum total 65504":
		return terms(t, "[8188]*8")
	case "output magnitude 32752, K=1, K=2 and two-channel conv":
		return terms(t, "[16376]*2")
	case "output magnitude 32768, K=1, K=2 and two-channel conv":
		return terms(t, "[16384]*2")
	}
	list, times, ok := strings.Cut(strings.TrimSuffix(formula, " @ ones"), "]*")
	require.True(t, ok, formula)
	n, err := strconv.Atoi(times)
	require.NoError(t, err, formula)
	var one, all []fp16.Bits
	for _, s := range strings.Split(strings.TrimPrefix(list, "["), ",") {
		f, err := strconv.ParseFloat(s, 64)
		require.NoError(t, err, formula)
		one = append(one, Rules(0).Round(f))
	}
	for range n {
		all = append(all, one...)
	}
	return all
}

func ones(n int) []fp16.Bits {
	w := make([]fp16.Bits, n)
	for i := range w {
		w[i] = 0x3c00
	}
	return w
}

// TestProbes evaluates every probe that has bits as its result.
func TestProbes(t *testing.T) {
	done := map[string]int{}
	for _, p := range probes(t) {
		if p.ExpectedBits == "" || p.Status == "device-uncertain" {
			continue
		}
		r := chips[p.Chip].Rules()
		want := halfOf(t, p.ExpectedBits)
		var got fp16.Bits
		switch p.Op {
		case "conv":
			x, w, bias := p.conv(t)
			got = r.MAC(x, w, bias)
		case "add":
			got = r.Round(float64(r.Value(p.half(t, "a"))) + float64(r.Value(p.half(t, "b"))))
		case "sub":
			got = r.Round(float64(r.Value(p.half(t, "a"))) - float64(r.Value(p.half(t, "b"))))
		case "mul":
			got = r.Round(float64(r.Value(p.half(t, "a"))) * float64(r.Value(p.half(t, "b"))))
		case "relu":
			got = r.Round(max(0, float64(r.Value(p.half(t, "x")))))
		case "matmul", "linear/conv":
			x := terms(t, p.Inputs["x"].(map[string]any)["formula"].(string))
			got = r.MAC(x, ones(len(x)), 0)
		case "reduce_sum":
			sum := 0.0
			for _, b := range terms(t, p.Inputs["x"].(map[string]any)["formula"].(string)) {
				sum += float64(r.Value(b))
			}
			got = (r | HalfAway).Round(sum)
		case "conv-w8a8":
			got = r.Round(r.ScaleInt8(int64(p.Inputs["S"].(float64)), math.Ldexp(1, -2*int(p.Inputs["k"].(float64)))))
		case "slice_by_index":
			got = r.SliceInside(p.half(t, "x"))
		case "gelu", "silu": // unpublished: see TestUnpublishedTables
			continue
		default:
			var ok bool
			got, ok = r.Unary(p.Op, p.half(t, "x"), 0)
			require.True(t, ok, "%s: %s", p.ID, p.Op)
		}
		done[p.Op]++
		if got != want {
			t.Errorf("%s: %s %v gives %#04x, not %#04x", p.ID, p.Op, p.Inputs, uint16(got), uint16(want))
		}
	}
	t.Log(done)
	require.Equal(t, 388, done["conv"])
	require.Equal(t, 29, done["conv-w8a8"])
}

// What a mode leaves exact is no function that Unary knows, and each table of which an error is published is one or the
// other.
func TestLeaves(t *testing.T) {
	for _, m := range Modes() {
		r := m.Rules()
		for _, f := range []string{"gelu", "silu", "elu", "pow", "real_div"} {
			require.Equal(t, m != Reference, r.Leaves(f), "%v %s", m, f)
			require.False(t, r.Defines(f), "%v %s", m, f)
		}
		for _, f := range []string{"exp", "round", "softplus", "relu", "add", "nonsense"} {
			require.False(t, r.Leaves(f), "%v %s", m, f)
		}
	}
}
