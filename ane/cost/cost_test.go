package cost

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
)

// fn is a program of one function.
func fn(t testing.TB, params, body, results string) *mil.Program {
	t.Helper()
	p, err := mil.Parse("p.mil", []byte("program(1.3)\n{\n    func main<ios18>("+params+") {\n"+body+"\n    } -> ("+
		results+");\n}\n"))
	require.NoError(t, err)
	return p
}

// t16 is the type of an fp16 tensor.
func t16(shape ...int) string {
	return "tensor<fp16, " + strings.ReplaceAll(fmt.Sprint(shape), " ", ", ") + ">"
}

const settings = `dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = tensor<int32, [4]>([0, 0, 0, 0]), ` +
	`pad_type = string("same"), strides = tensor<int32, [2]>([1, 1])`

// chain is a chain of n convolutions with as many outputs as inputs; shared layers have one weight.
func chain(t testing.TB, n, channels, h, w, kh, kw int, shared bool) *mil.Program {
	t.Helper()
	var b strings.Builder
	x, file := "x", 0
	for i := range n {
		if i == 0 || !shared {
			file = i
			fmt.Fprintf(&b, "%[1]s w%[2]d = const()[val = %[1]s(BLOBFILE(path = string(\"@model_path/w%[2]d.bin\"), "+
				"offset = uint64(64)))];\n", t16(channels, channels, kh, kw), i)
		}
		fmt.Fprintf(&b, "%s v%d = conv(%s, weight = w%d, x = %s);\n", t16(1, channels, h, w), i, settings, file, x)
		x = fmt.Sprintf("v%d", i)
	}
	return fn(t, t16(1, channels, h, w)+" x", b.String(), x)
}

// of estimates a program.
func of(t testing.TB, p *mil.Program, o Options) *Estimate {
	t.Helper()
	e, err := Of(p, o)
	require.NoError(t, err)
	return e
}

// perLayer is what one more layer adds to the task.
func perLayer(t testing.TB, make func(n int) *mil.Program, o Options) float64 {
	t.Helper()
	return (of(t, make(60), o).Task.Value - of(t, make(40), o).Task.Value) / 20
}

// The published times of layers come out within the errors that the study states: 5 % for dense arithmetic, 5 to 10 %
// for weights.
func TestPublishedLayers(t *testing.T) {
	of := func(channels, h, w, kh, kw int, shared bool) float64 {
		return perLayer(t, func(n int) *mil.Program { return chain(t, n, channels, h, w, kh, kw, shared) }, Options{})
	}
	require.InEpsilon(t, 3.26, of(512, 1, 128, 1, 1, true), 0.01, "1x1, 512 channels, 1x128: us a layer")
	require.InEpsilon(t, 52.8, of(2048, 1, 32, 1, 1, false), 0.01, "1x1, 2048 channels, 32 pixels, 8.39 MB of weights")
	require.InEpsilon(t, 17, of(256, 1, 256, 1, 9, true), 0.05, "1x9, 256 channels: rewritten")
}

// The published times of chains of 1x1 come out within 24 % of the study's tables 6-5, 9-3, 10-1, 10-2 and 7-12: on one
// engine and on two, with a weight of their own or a shared one, from 4 layers to 384. Table 7-12 has whole TFLOPS and
// their first decimal, 0.6 % of the shortest chain.
func TestPublishedChains(t *testing.T) {
	type row struct {
		layers, channels, height, width int
		shared                          bool
		engines                         int
		us                              float64
	}
	var rows []row
	for layers, us := range map[int]float64{16: 227, 32: 263, 64: 371, 96: 503, 128: 710, 192: 992, 256: 1200,
		384: 1618} {
		rows = append(rows, row{layers, 512, 1, 128, true, 1, us})
	}
	for layers, us := range map[int]float64{4: 212, 8: 268, 16: 422, 24: 550, 32: 752, 48: 1012, 64: 1233, 96: 1676} {
		rows = append(rows, row{layers, 1024, 1, 128, true, 1, us})
	}
	for layers, us := range map[int][2]float64{16: {195, 163}, 32: {264, 164}, 64: {382, 195}, 128: {733, 271}} {
		rows = append(rows, row{layers, 512, 1, 16, false, 1, us[0]}, row{layers, 512, 1, 16, true, 1, us[1]})
	}
	for layers, us := range map[int][2]float64{16: {229, 227}, 48: {330, 388}, 128: {718, 806}, 256: {1178, 1234},
		384: {1595, 1669}} {
		rows = append(rows, row{layers, 512, 1, 128, true, 1, us[0]}, row{layers, 512, 1, 256, true, 2, us[1]})
	}
	for width, us := range map[int]float64{6144: 846, 8192: 1341, 12288: 1903, 16384: 2466} {
		rows = append(rows, row{40, 256, 1, width, true, -2, us})
	}
	for layers, tflops := range map[int]float64{4: 8.9, 8: 12.6, 16: 21, 32: 19.1, 48: 25.6} {
		rows = append(rows, row{layers, 512, 32, 32, false, 2, 2 * 512 * 512 * 1024 * float64(layers) / tflops / 1e6})
	}
	sum := 0.0
	for _, r := range rows {
		p := chain(t, r.layers, r.channels, r.height, r.width, 1, 1, r.shared)
		e := of(t, p, Options{Engines: max(r.engines, -r.engines)})
		got := e.Call.Value
		if r.engines < 0 { // the time of the longer task
			got = e.Task.Value
		}
		require.InEpsilon(t, r.us, got, 0.246, "%+v", r)
		sum += max(got/r.us-1, 1-got/r.us)
	}
	require.LessOrEqual(t, sum/float64(len(rows)), 0.09, "mean error")
}

// 3x3 convolutions reach 31 TFLOPS with Winograd, and 62 with 8-bit activations and weights.
func TestWinograd(t *testing.T) {
	p := &product{macs: 512 * 512 * 9 * 256, cin: 512, cout: 512, conv: true, kh: 3, kw: 3, height: 16, width: 16, batch: 1,
		weight: &weight{density: 1}, plain: true}
	require.InEpsilon(t, 31, 2*p.macs/1e6/p.macTime(1, 1).Value, 0.05)
	p.eight = true
	require.InEpsilon(t, 62, 2*p.macs/1e6/p.macTime(1, 1).Value, 0.05)
	p.eight, p.plain = false, false
	require.Less(t, 2*p.macs/1e6/p.macTime(1, 1).Value, 20.0, "none when strided")
	p.plain, p.height, p.width = true, 8, 16
	require.Less(t, p.efficiency(1, 1).Value, 0.91, "256 channels, 8x16: none")
}

// The form of a call: 30 and the completion around the task.
func TestCall(t *testing.T) {
	short := of(t, chain(t, 1, 64, 1, 64, 1, 1, true), Options{})
	require.InDelta(t, 180, short.Call.Value-short.Task.Value, 1e-9)
	require.Equal(t, Dispatch, short.Bound)
	require.Equal(t, 150.0, completion(350).Value)
	require.Equal(t, 320.0, completion(660).Value)
	require.Equal(t, 320.0, completion(6600).Value)
	require.InDelta(t, 235, completion(505).Value, 1e-9)
	hidden := of(t, chain(t, 1, 64, 1, 64, 1, 1, true), Options{InFlight: 2})
	require.InDelta(t, 30, hidden.Call.Value-hidden.Task.Value, 1e-9)
	sum := short.Parts[0].Time.Value
	for _, p := range short.Parts[1:] {
		sum += p.Time.Value
	}
	for _, op := range short.Ops {
		sum += op.Time.Value
	}
	require.InDelta(t, short.Call.Value, sum, 1e-9, "operators and parts add up to the call")
	require.Equal(t, chip.Measured, short.Error.Degree)
}

// A call of the Linux driver is a row of its own where it was measured, and no part of the estimate.
func TestLinuxCall(t *testing.T) {
	for c, want := range map[chip.Chip]string{
		chip.M1: "microseconds of a call: 24.8 to 33.2 (measured, dump linux-m1-submit-times: submits of small programs) " +
			"with the Linux driver, 190 to 230 (measured, guide, forge) on macOS",
		chip.M2: "microseconds of a call: 257 (measured, dump linux-m2max-call-times: an add on M2 Max) with the Linux " +
			"driver, 100 (measured, forge) on macOS",
	} {
		require.Contains(t, of(t, chain(t, 1, 64, 1, 64, 1, 1, true), Options{Chip: c}).Notes, want)
	}
	for _, c := range []chip.Chip{chip.M3, chip.M4, chip.M5, chip.M6} {
		notes := of(t, chain(t, 1, 64, 1, 64, 1, 1, true), Options{Chip: c}).Notes
		require.NotContains(t, strings.Join(notes, ""), "Linux", c)
	}
}

// With a gap the clock falls to 2580 d / 3.35 g, between 852 and 2580 MHz.
func TestClock(t *testing.T) {
	for _, c := range []struct{ d, gap, want float64 }{
		{100, 200, 852}, {100, 100, 2580 / 3.35}, {300, 150, 2580 * 2 / 3.35}, {600, 150, 2580},
		{600, 200, 2580 * 3 / 3.35},
		{400, 300, 2580 * 4 / 3 / 3.35},
	} {
		want := min(max(c.want, 852), 2580)
		require.InDelta(t, want, clockAt(c.d, c.gap).Value, 1e-9, "%+v", c)
	}
	require.Equal(t, chip.Inferred, clockAt(600, 1001).Degree)
	p := chain(t, 60, 512, 1, 128, 1, 1, true)
	full, slow := of(t, p, Options{}), of(t, p, Options{Gap: 200})
	require.Less(t, slow.Clock.Value, full.Clock.Value)
	require.InEpsilon(t, full.Task.Value*clock/slow.Clock.Value, slow.Task.Value, 1e-9)
}

// What a program has to wait for is named.
func TestBounds(t *testing.T) {
	require.Equal(t, MAC, of(t, chain(t, 40, 512, 1, 256, 1, 1, true), Options{InFlight: 2}).Bound)
	require.Equal(t, Weights, of(t, chain(t, 8, 2048, 1, 32, 1, 1, false), Options{}).Bound)
	big := fn(t, t16(1, 64, 256, 1024)+" x", t16(1, 64, 256, 1024)+" y = relu(x = x);", "y")
	require.Equal(t, Activations, of(t, big, Options{}).Bound)
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "%s v%d = mul(x = v%d, y = v%d);\n", t16(1, 64, 64, 128), i+1, i, i)
	}
	body := strings.Replace(b.String(), "mul(x = v0, y = v0)", "add(x = x, y = z)", 1)
	e := of(t, fn(t, t16(1, 64, 64, 128)+" x, "+t16(1, 64, 64, 128)+" z", body, "v40"), Options{})
	require.Equal(t, PE, e.Bound)
}

// A bias and a function after a convolution are a part of its layer; two functions in a row share a pass.
func TestFusion(t *testing.T) {
	shape := t16(1, 64, 8, 64)
	body := t16(64, 64, 1, 1) + " w = const()[val = " + t16(64, 64, 1, 1) +
		`(BLOBFILE(path = string("@model_path/w"), ` +
		"offset = uint64(64)))];\n" + t16(1, 64, 1, 1) + " b = const()[val = " + t16(1, 64, 1, 1) + "([" +
		strings.TrimSuffix(strings.Repeat("1, ", 64), ", ") + "])];\n" +
		shape + " c = conv(" + settings + ", weight = w, x = x);\n" + shape + " d = add(x = c, y = b);\n" +
		shape + " e = relu(x = d);\n" + shape + " f = tanh(x = e);\n" + shape + " y = sqrt(x = f);"
	e := of(t, fn(t, shape+" x", body, "y"), Options{})
	require.Len(t, e.Ops, 5)
	require.Positive(t, e.Ops[0].Time.Value)
	for i, note := range map[int]string{1: "the bias of c", 2: "the function of c"} {
		require.Zero(t, e.Ops[i].Time.Value)
		require.Equal(t, note, e.Ops[i].Note)
	}
	require.InDelta(t, passBase+64*8*64/passRate, e.Ops[3].Time.Value, 1e-9)
	require.Zero(t, e.Ops[4].Time.Value, "shares the pass of tanh")
	require.NotEmpty(t, e.Ops[4].Note)
}

// Weights count by what is stored, once for layers that share them.
func TestWeights(t *testing.T) {
	shared, own := of(t, chain(t, 10, 64, 1, 64, 1, 1, true), Options{}), of(t, chain(t, 10, 64, 1, 64, 1, 1, false),
		Options{})
	require.EqualValues(t, 64*64*2, shared.Memory.Weights)
	require.EqualValues(t, 10*64*64*2, own.Memory.Weights)
	require.EqualValues(t, 2*49152, shared.Memory.Surfaces)
	sparse := fn(t, t16(1, 64, 1, 64)+" x", t16(64, 64, 1, 1)+" w = constexpr_sparse_to_dense(mask = "+
		"tensor<uint1, [64, 64, 1, 1]>(BLOBFILE(path = string(\"@model_path/m\"), offset = uint64(64))), "+
		"nonzero_data = "+
		t16(1024)+"(BLOBFILE(path = string(\"@model_path/v\"), offset = uint64(64))));\n"+
		t16(1, 64, 1, 64)+" y = conv("+settings+", weight = w, x = x);", "y")
	e := of(t, sparse, Options{})
	require.EqualValues(t, 64*64/8+2*1024, e.Ops[0].Weights, "0.31 of a dense weight at 75 %")
	require.Contains(t, e.Ops[0].Note, "75 %")
	require.EqualValues(t, e.Ops[0].Weights, e.Memory.Weights)
}

// Which programs the compiler splits for two engines is published.
func TestSplit(t *testing.T) {
	split := func(channels, h, w, layers int) bool {
		return of(t, chain(t, layers, channels, h, w, 1, 1, true), Options{Engines: 2}).Split
	}
	require.False(t, split(512, 1, 1, 16))
	require.False(t, split(512, 1, 64, 16))
	require.False(t, split(512, 1, 128, 16))
	require.False(t, split(512, 4, 32, 16))
	require.True(t, split(512, 1, 256, 16))
	require.True(t, split(512, 64, 64, 16))
	matmul := func(m int) bool {
		p := fn(t, t16(m, 1024)+" x", t16(1024, 1024)+" w = const()[val = "+t16(1024, 1024)+
			`(BLOBFILE(path = string("@model_path/w"), offset = uint64(64)))];`+"\n"+t16(m, 1024)+
			" y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = w);", "y")
		return of(t, p, Options{Engines: 2}).Split
	}
	require.False(t, matmul(1))
	require.False(t, matmul(64))
	for width, first := range map[int]int{300: 128, 375: 128, 640: 384, 256: 128} {
		a, ok := cut(width)
		require.True(t, ok)
		require.Equal(t, first, a, width)
	}
	for _, width := range []int{1, 100, 128} {
		_, ok := cut(width)
		require.False(t, ok, width)
	}
	one, two := of(t, chain(t, 60, 512, 64, 64, 1, 1, true), Options{}), of(t, chain(t, 60, 512, 64, 64, 1, 1, true),
		Options{Engines: 2})
	require.InEpsilon(t, 1.92, one.Task.Value/two.Task.Value, 0.05, "resident weights")
}

// The anchors of the other chips.
func TestAnchors(t *testing.T) {
	p := chain(t, 1, 512, 64, 64, 3, 3, true)
	macs := 512.0 * 512 * 9 * 64 * 64
	for c, want := range map[chip.Chip]float64{
		chip.M1: 220 + 2*macs/3.25e6, chip.M2: 100 + 2*macs/7.3e6, chip.M5: 110 + 2*macs/8.9e6,
	} {
		e := of(t, p, Options{Chip: c})
		require.InEpsilon(t, want, e.Call.Value, 0.001, c)
		require.Equal(t, chip.Measured, e.Call.Degree)
	}
	require.Equal(t, chip.Inferred, of(t, p, Options{Chip: chip.M3}).Call.Degree)
	require.Equal(t, chip.Inferred, of(t, p, Options{Chip: chip.M4}).Call.Degree)
	for _, c := range chip.All() {
		e := of(t, p, Options{Chip: c, Idle: 1e7, Gap: 1})
		sum := 0.0
		for _, part := range e.Parts {
			sum += part.Time.Value
			require.NotEmpty(t, part.Time.Source)
		}
		for _, op := range e.Ops {
			sum += op.Time.Value
			require.NotEmpty(t, op.Time.Source)
			require.NotZero(t, op.Time.Degree)
		}
		require.InEpsilon(t, e.Call.Value, sum, 1e-9, c)
		require.NotEmpty(t, e.Error.Source)
	}
}

// Core ML's rule: a segment at an end has to save 250 us, and what is never on the engine stays on the CPU.
func TestPlacement(t *testing.T) {
	small := of(t, chain(t, 1, 64, 32, 32, 3, 3, true), Options{Chip: chip.M4})
	require.InEpsilon(t, 4.67, small.Place.Engine.Value, 0.01)
	require.InEpsilon(t, 100.06, small.Place.CPU.Value, 0.01)
	require.Zero(t, small.Place.OnEngine, "saves 95 us of 250")
	require.True(t, small.CPU)
	two, three := of(t, chain(t, 2, 64, 32, 32, 3, 3, true), Options{}), of(t, chain(t, 3, 64, 32, 32, 3, 3, true),
		Options{})
	require.Zero(t, two.Place.OnEngine)
	require.Equal(t, 3, three.Place.OnEngine, "saves 286 us")
	require.Equal(t, 1, three.Place.Segments)
	large := chain(t, 20, 64, 32, 32, 3, 3, true)
	f := large.Funcs[0]
	op := *f.Body[len(f.Body)-1]
	op.Kind = "cumsum"
	f.Body[len(f.Body)-1] = &op
	e := of(t, large, Options{})
	require.Equal(t, 19, e.Place.OnEngine)
	require.Equal(t, 1, e.Place.OnCPU)
	require.False(t, e.CPU && e.Place.CPU.Value > e.Call.Value)
}

func TestBadOptions(t *testing.T) {
	p := chain(t, 1, 64, 1, 64, 1, 1, true)
	for _, o := range []Options{{Chip: 9}, {Engines: 3}, {Chip: chip.M4, Engines: 2}, {Gap: -1}, {Idle: 1e13},
		{Function: "other"}} {
		_, err := Of(p, o)
		var e *Error
		require.ErrorAs(t, err, &e, "%+v", o)
		require.NotEmpty(t, e.Hint)
	}
	_, err := Of(nil, Options{})
	require.Error(t, err)
	_, err = Of(&mil.Program{}, Options{})
	require.Error(t, err)
}

// A program that was made in Go may hold nil where a function, a statement or a value is needed. The error says so.
func TestNilInPrograms(t *testing.T) {
	for what, spoil := range map[string]func(p *mil.Program){
		"function":  func(p *mil.Program) { p.Funcs = append(p.Funcs, nil) },
		"first":     func(p *mil.Program) { p.Funcs = append([]*mil.Function{nil}, p.Funcs...) },
		"statement": func(p *mil.Program) { p.Funcs[0].Body = append(p.Funcs[0].Body, nil) },
		"argument":  func(p *mil.Program) { p.Funcs[0].Body[1].Args[0].Value = nil },
		"value":     func(p *mil.Program) { p.Funcs[0].Body[1].Args[0].Value = (*mil.Value)(nil) },
		"list":      func(p *mil.Program) { p.Funcs[0].Body[1].Args[0].Value = (*mil.Values)(nil) },
		"attribute": func(p *mil.Program) { p.Funcs[0].Body[0].Attrs[0].Value = nil },
		"weight":    func(p *mil.Program) { p.Funcs[0].Body[0].Attrs[0].Value = &mil.Value{} },
		"program's": func(p *mil.Program) { p.Attrs = append(p.Attrs, mil.Arg{Name: "a"}) },
	} {
		p := chain(t, 1, 64, 1, 64, 1, 1, true)
		spoil(p)
		for _, o := range []Options{{}, {Function: "main"}, {Function: "other"}} {
			_, err := Of(p, o)
			var e *Error
			require.ErrorAs(t, err, &e, "%s %+v", what, o)
			require.NotEmpty(t, e.Hint, what)
		}
	}
}

// A program whose axes have no fixed length has no estimate; the error names the first such value.
func TestOpenAxes(t *testing.T) {
	for _, c := range []struct {
		param, result string
		line          int
	}{
		{"tensor<fp16, [1, ?, 1, 64]>", "tensor<fp16, [1, 64, 1, 64]>", 3},
		{"tensor<fp16, [1, 64, 1, 64]>", "tensor<fp16, [1, n, 1, 64]>", 4},
		{"state<tensor<fp16, [?]>>", "tensor<fp16, [1, 64, 1, 64]>", 3},
	} {
		text := "program(1.3)\n{\n func main<ios18>(" + c.param + " s, tensor<fp16, [1, 64, 1, 64]> x) {\n " +
			c.result +
			" y = relu(x = x);\n} -> (y);\n}\n"
		p, err := mil.Parse("open.mil", []byte(text))
		require.NoError(t, err)
		_, err = Of(p, Options{})
		var e *Error
		require.ErrorAs(t, err, &e, text)
		require.Contains(t, e.What, "has an axis without a length")
		require.Equal(t, c.line, e.Pos.Line)
	}
}

// Budgets name what is too much.
func TestBudgets(t *testing.T) {
	e := of(t, chain(t, 3, 2048, 1, 32, 1, 1, false), Options{})
	over := map[string]bool{}
	for _, b := range e.Budgets {
		over[b.Name] = b.Over()
	}
	require.True(t, over["bytes of weights"])
	require.True(t, over["bytes of streamed weights"])
	require.False(t, over["loaded programs of the machine"])
	require.False(t, over["bytes of one surface"])
}
