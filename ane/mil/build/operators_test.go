package build_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/ops"
)

// values are the operands of the calls below.
type values struct{ f, x, y, img, k, n, v, i, w, row, half, b, c build.Value }

func inputs(f *build.Func) values {
	return values{
		x: f.Input("x", build.FP16, 1, 4, 2, 32), y: f.Input("x2", build.FP16, 1, 4, 1, 32),
		f: f.Input("f", build.FP32, 2, 3), i: f.Input("i", mil.Int32, 2, 3),
		img: f.Input("img", build.FP16, 1, 4, 8, 9),
		k:   f.Weight("k", make([]float32, 6*4*3*3), 6, 4, 3, 3), n: f.Weight("n", make([]float32, 32), 32),
		w: f.Weight("w", make([]float32, 8*32), 8, 32), v: f.Weight("v", make([]float32, 8), 8),
		row: f.Input("row", build.FP16, 1, 4, 9), half: f.Scalar(0.5),
		b: f.Input("truth", mil.Bool, 2, 3), c: f.Weight("each", make([]float32, 4), 4),
	}
}

// channels returns a weight of n numbers.
func channels(f *build.Func, name string, n int) build.Value {
	return f.Weight(name, make([]float32, n), n)
}

// ints returns a vector of integers.
func ints(d mil.DType, list ...int) *mil.Value { return mil.Ints(mil.TensorOf(d, len(list)), list) }

// cell returns the weights of a recurrent cell.
func cell(f *build.Func, suffix string, gates, n, in int) build.Cell {
	matrix := func(name string, rows, cols int) build.Value {
		return f.Weight(name+suffix, make([]float32, rows*cols), rows, cols)
	}
	return build.Cell{Input: matrix("ih", gates*n, in), Hidden: matrix("hh", gates*n, n),
		Bias: channels(f, "bias"+suffix, gates*n), Peephole: channels(f, "peephole"+suffix, 3*n)}
}

func back(f *build.Func) *build.Cell { c := cell(f, "2", 4, 2, 9); return &c }

// Each call writes one statement with inferred types, which the software engine
// compiles, in both dialects.
func TestOperators(t *testing.T) {
	seen := map[string]bool{"const": true}
	for _, c := range calls {
		kind := strings.TrimPrefix(c.want[:strings.Index(c.want, "(")], c.want[:strings.Index(c.want, "= ")+2])
		seen[kind] = true
		t.Run(kind, func(t *testing.T) {
			for _, options := range [][]build.Option{nil, {build.OldDialect()}} {
				b := build.New(options...)
				f := b.Func("main")
				y := c.call(f, inputs(f))
				f.Output("y", y)
				p, err := b.Program()
				require.NoError(t, err)
				requireSound(t, p)
				shape, _ := y.Type().Held().Shape()
				require.Equal(t, shape, append([]int(nil), y.Shape()...))
				if options == nil {
					require.Equal(t, c.want, statement(t, p, kind))
				} else {
					require.Contains(t, string(p.Text()), "program(1.0)")
					require.Contains(t, string(p.Text()), "func main<ios16>")
				}
				compile(t, p)
			}
		})
	}
	for _, kind := range ops.Names() {
		if !seen[kind] && !unbuilt(kind) {
			t.Run(kind, func(t *testing.T) { plain(t, kind) })
		}
	}
}

// plain calls a generated method that has no call above, with operands that are like one another.
func plain(t *testing.T, kind string) {
	b := build.New()
	f := b.Func("main")
	v := inputs(f)
	method := reflect.ValueOf(f).MethodByName(methodName(kind))
	require.True(t, method.IsValid(), "no method of %s", kind)
	var args []reflect.Value
	for _, p := range ops.Lookup(kind).Params {
		of := map[ops.Kind]any{ops.Tensor: v.x, ops.Number: 0.25, ops.Int: 1}[p.Kind]
		if slices.Equal(p.Types, []mil.DType{mil.Bool}) {
			of = v.b
		}
		require.NotNil(t, of, "no operand for %s of %s: give %s a call above", p.Name, kind, kind)
		args = append(args, reflect.ValueOf(of))
	}
	f.Output("y", method.Call(args)[0].Interface().(build.Value))
	p, err := b.Program()
	require.NoError(t, err)
	requireSound(t, p)
	compile(t, p)
}

// unbuilt reports whether a Builder has no method for an operator: it makes no blocks, and no lists for them.
func unbuilt(kind string) bool { d := ops.Lookup(kind); return d != nil && d.Family >= ops.Lists }

// Every operator has a method of the same name, but for those with blocks or lists.
func TestEveryOperatorHasItsMethod(t *testing.T) {
	methods := reflect.TypeFor[*build.Func]()
	for _, kind := range ops.Names() {
		name := methodName(kind)
		_, ok := methods.MethodByName(name)
		require.Equal(t, !unbuilt(kind), ok, "%s has no method %s", kind, name)
	}
}

// forms are operators with settings that exclude each other or depend on the shape of an operand.
var forms = map[string]bool{"split": true, "quantize": true, "dequantize": true, "constexpr_lut_to_dense": true,
	"constexpr_sparse_to_dense": true, "non_maximum_suppression": true}

// Every argument is written, except optional tensors.
func TestEveryArgumentIsWritten(t *testing.T) {
	all := map[string]map[string]bool{}
	for _, c := range calls {
		head, args, _ := strings.Cut(c.want, "(")
		kind := head[strings.LastIndex(head, " ")+1:]
		if all[kind] == nil {
			all[kind] = map[string]bool{}
		}
		for _, p := range ops.Lookup(kind).Params {
			if strings.Contains(", "+args, ", "+p.Name+" = ") {
				all[kind][p.Name] = true
			} else {
				require.True(t, p.Optional && !p.Const || forms[kind], "%s without %s", kind, p.Name)
			}
		}
	}
	for kind, given := range all {
		for _, p := range ops.Lookup(kind).Params {
			require.True(t, given[p.Name] || kind == "conv" && p.Name == "bias", "%s is never given %s", kind, p.Name)
		}
	}
}

// statement returns the last statement of an operator, with settings in place of their
// names.
func statement(t *testing.T, p *build.Program, kind string) string {
	settings := map[string]*mil.Value{}
	var last *mil.Op
	for _, op := range p.Funcs[0].Body {
		if v, ok := constant(op); ok && v.Blob() == nil {
			settings[op.Results[0].Name] = v
		} else if op.Kind == kind {
			last = op
		}
	}
	require.NotNil(t, last)
	shown := *last
	shown.Args, shown.Attrs, shown.Results = slices.Clone(last.Args), nil, slices.Clone(last.Results)
	for i, a := range shown.Args {
		if r, ok := a.Value.(mil.Ref); ok && settings[r.Name] != nil {
			shown.Args[i].Value = settings[r.Name]
		}
	}
	for i := range shown.Results {
		shown.Results[i].Name = ""
	}
	text := string(mil.Print(&mil.Program{Funcs: []*mil.Function{{Body: []*mil.Op{&shown}}}}))
	for line := range strings.Lines(text) {
		if strings.Contains(line, " = ") {
			line = strings.TrimSuffix(strings.TrimSpace(line), ";")
			return strings.ReplaceAll(strings.ReplaceAll(line, "  =", " ="), " ,", ",")
		}
	}
	return ""
}

func constant(op *mil.Op) (*mil.Value, bool) {
	if op.Kind != "const" {
		return nil, false
	}
	v, ok := op.Attr("val").Value.(*mil.Value)
	return v, ok
}

// requireSound checks a program: its text parses to the same tree, and ops.Analyze
// accepts it.
func requireSound(t *testing.T, p *build.Program) {
	t.Helper()
	text := p.Text()
	again, err := mil.Parse("built.mil", text)
	require.NoError(t, err, "%s", text)
	require.True(t, mil.Equal(p.Program, again), "%s", text)
	for _, f := range p.Funcs {
		_, err = ops.Analyze("built.mil", again, f.Name, p.Weights)
		require.NoError(t, err, "%s", text)
	}
}

// compile compiles the program on the software engine.
func compile(t *testing.T, p *build.Program) {
	t.Helper()
	d, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	m, err := d.Compile(t.Context(), ane.Source{Text: p.Text(), Weights: p.Weights})
	require.NoError(t, err, "%s", p.Text())
	require.NoError(t, m.Close(t.Context()))
	require.NoError(t, d.Close())
}
