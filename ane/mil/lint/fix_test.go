package lint_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/unimem"
)

// made are weight files with the entries that a program names, filled with small numbers.
type made struct{ needs map[string][]blob.Need }

func (m made) ReadFile(path string) ([]byte, error) {
	data, err := blob.Blank(path, 1<<24, m.needs[path])
	if err != nil {
		return nil, err
	}
	for _, n := range m.needs[path] {
		size, err := n.Bytes()
		if err != nil {
			return nil, err
		}
		for i := range size {
			data[int64(n.Offset)+blob.First+i] = byte(i * 7 % 60)
		}
	}
	return data, nil
}

func weightsFor(p *mil.Program) made {
	m := made{map[string][]blob.Need{}}
	for _, v := range p.Weights() {
		if path, offset, err := v.Blob().Entry(); err == nil {
			m.needs[path] = append(m.needs[path], blob.Need{Offset: offset, Type: v.Type})
		}
	}
	return m
}

// evaluate runs a program on soft and returns its outputs in the declared order. Input i holds the same numbers
// whatever its name.
func evaluate(t *testing.T, text []byte) (outputs [][]uint32) {
	ctx := context.Background()
	p, err := mil.Parse("p.mil", text)
	require.NoError(t, err)
	d, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	defer d.Close()
	m, err := d.Compile(ctx, ane.Source{File: "p.mil", Text: text, Weights: weightsFor(p)})
	require.NoError(t, err, string(text))
	defer m.Close(ctx)
	require.NoError(t, m.Load(ctx))
	bytes := 0
	layouts := append(append([]ane.Layout{}, m.Inputs()...), m.Outputs()...)
	for _, l := range layouts {
		bytes = max(bytes, l.Bytes())
	}
	grid, err := unimem.NewGrid(bytes, len(layouts), unimem.SurfacePerCell(), unimem.StaleOnClose())
	require.NoError(t, err)
	defer grid.Close()
	tensors := map[string]*ane.Tensor{}
	side := func(list []ane.Layout) map[string]*ane.Tensor {
		some := map[string]*ane.Tensor{}
		for _, l := range list {
			cell, err := grid.Take()
			require.NoError(t, err)
			tensors[l.Name], err = ane.OnCell(cell, l)
			require.NoError(t, err)
			some[l.Name] = tensors[l.Name]
		}
		return some
	}
	in, out := side(m.Inputs()), side(m.Outputs())
	f := p.Select("")
	for i, v := range f.Params {
		n, _ := v.Type.Elements()
		r := rand.New(rand.NewPCG(1, uint64(i)))
		list := make([]float32, n)
		for k := range list {
			list[k] = float32(r.NormFloat64())
		}
		_, err := tensors[v.Name].WriteFloat32(list)
		require.NoError(t, err)
	}
	request, err := m.Bind(in, out)
	require.NoError(t, err)
	defer request.Close()
	_, err = m.Evaluate(ctx, request)
	require.NoError(t, err)
	for _, v := range f.Results {
		l := out[v.Name].Layout()
		list := make([]float32, l.Elements())
		_, err := out[v.Name].ReadFloat32(list)
		require.NoError(t, err)
		bits := make([]uint32, len(list)) // NaN equals itself
		for i, f := range list {
			bits[i] = math.Float32bits(f)
		}
		outputs = append(outputs, bits)
	}
	return outputs
}

// A fixed program computes the same, breaks no rule that can be fixed, and is not changed again.
func TestFix(t *testing.T) {
	all := cases()
	more := map[string][]string{
		"bare-literal": {one("mul(x = x, y = 2)"), one("mul(x = 0.5, y = x)"), all["bare-literal"].breaks + "// end"},
		"missing-argument": {
			strings.Replace(conv(64, 1, 64, 1, 1), convArgs+", ", "", 1),
			strings.Replace(matmul(64), "transpose_x = bool(false), transpose_y = bool(false), ", "", 1),
			one("avg_pool(kernel_sizes = " + vec(1, 1) + ", x = x)"),
			op(t16(1, 64, 1, 64), t16(1, 64, 1, 32), "slice_by_index(begin = "+vec(0, 0, 0, 32)+", end = "+
				vec(1, 64, 1, 64)+", x = x)"),
			op(t16(1, 64, 1, 64), t16(), "reduce_sum(x = x)"), strings.Replace(old, "relu(", "softmax(", 1),
			one("layer_norm(axes = tensor<int32, [1]>([1]), x = x)")},
		"tile-poison": {
			op(t16(1, 2, 1, 64), t16(1, 8, 1, 64), "tile(reps = "+vec(1, 4, 1, 1)+", x = x)"),
			op(t16(1, 2, 2, 32), t16(1, 4, 6, 64), "tile(reps = "+vec(1, 2, 3, 2)+", x = x)"),
			op(t16(1, 2, 2, 32), t16(1, 2, 2, 32), "tile(reps = "+vec(1, 1, 1, 1)+", x = x)"),
		},
		"unsorted-inputs": {two("b", "a", "d", "c", 64, 64), two("i0_b", "a", "c", "d", 64, 64)},
		"reshape-open": {fn(t16(1, 64, 1, 64)+" x", "tensor<int32, [2]> s = const()[name = string(\"s\"), val = "+
			""+vec(64, -1)+"];\n"+
			t16(64, 64)+" y = reshape(shape = s, x = x)[name = string(\"y\")];", "y")},
		"epsilon-missing": {one("log(x = x)"), one("inverse(x = x)")},
		"nested-const": {one("mul(x = const(val = fp16(2)), y = x)"),
			one("mul(x = x, y = const ( ) [name = string(\"]\"), val = tensor<fp16, [1, 1]>([[0x1p-1]])])"),
			op(t16(1, 64, 1, 64), t16(1, 65, 1, 64),
				"concat(axis = const()[val = int32(1)], interleave = bool(false), "+
					"values = (x, const()[val = "+t16(1, 1, 1, 64)+"(["+strings.Repeat("1, ", 63)+"1])]))")},
	}
	for _, rule := range lint.Rules() {
		if !rule.Fixable {
			continue
		}
		for i, text := range append([]string{all[rule.ID].breaks}, more[rule.ID]...) {
			t.Run(rule.ID, func(t *testing.T) {
				fixed, done := lint.Fix("p.mil", []byte(text), lint.Options{})
				require.NotEmpty(t, done)
				require.NotEqual(t, text, string(fixed))
				if i == 0 {
					require.NotEmpty(t, of(done, rule.ID), string(fixed))
				}
				for _, f := range lint.Text("p.mil", fixed, lint.Options{}) {
					require.Empty(t, f.Edits, "%v in\n%s", &f, fixed)
				}
				again, done := lint.Fix("p.mil", fixed, lint.Options{})
				require.Empty(t, done)
				require.Equal(t, string(fixed), string(again))
				require.Equal(t, evaluate(t, []byte(text)), evaluate(t, fixed), "%s", fixed)
			})
		}
	}
}

// Each rule that says so can be fixed, and no other has edits.
func TestFixable(t *testing.T) {
	for id, c := range cases() {
		r, err := lint.Lookup(id)
		require.NoError(t, err)
		found := of(lint.Text("p.mil", []byte(c.breaks), c.o), id)
		require.Equal(t, r.Fixable, len(found) > 0 && len(found[0].Edits) > 0, id)
	}
}

// Renaming changes every place of a name, and no other name.
func TestFixRenames(t *testing.T) {
	fixed, _ := lint.Fix("p.mil", []byte(two("b", "a", "c", "d", 64, 64)), lint.Options{})
	p, err := mil.Parse("p.mil", fixed)
	require.NoError(t, err)
	f := p.Select("")
	require.Equal(t, "i0_b", f.Params[0].Name)
	require.Equal(t, "i1_a", f.Params[1].Name)
	require.Equal(t, "c", f.Results[0].Name)
	require.Equal(t, "i0_b", f.Body[0].Arg("x").Value.(mil.Ref).Name)
}

// Edits keep comments and layout.
func TestFixKeepsComments(t *testing.T) {
	text := header + "    // first\n    func main<ios18>(" + t16(1, 64, 1, 64) + " x) {\n        " + t16(1, 64, 1, 64) +
		" y = gelu( // mode?\n  x = x)[name = string(\"y\")]; // last\n    } -> (y);\n}\n"
	fixed, _ := lint.Fix("p.mil", []byte(text), lint.Options{Chips: []chip.Chip{chip.M4}})
	require.Contains(t, string(fixed), `y = gelu(mode = string("EXACT"),  // mode?`)
	require.Contains(t, string(fixed), "// first\n")
	require.Contains(t, string(fixed), "; // last\n")
}

// A nested const with a comment stays: its value alone would lose the comment.
func TestFixLeavesNestedComments(t *testing.T) {
	text := one("mul(x = x, y = const( // two\n)[val = fp16(2)])")
	require.Len(t, of(lint.Text("p.mil", []byte(text), lint.Options{}), "nested-const"), 1)
	fixed, _ := lint.Fix("p.mil", []byte(text), lint.Options{})
	require.Contains(t, string(fixed), "const( // two")
}

func TestFixLeavesBrokenText(t *testing.T) {
	fixed, done := lint.Fix("p.mil", []byte("program(1.3) {"), lint.Options{})
	require.Empty(t, done)
	require.Equal(t, "program(1.3) {", string(fixed))
}

func TestApply(t *testing.T) {
	src := []byte("abcdef")
	require.Equal(t, "aXcdYf", string(lint.Apply(src, []lint.Edit{{Start: 4, End: 5, New: "Y"}, {Start: 1, End: 2,
		New: "X"}})))
	require.Equal(t, "aXef", string(lint.Apply(src, []lint.Edit{{Start: 1, End: 4, New: "X"}, {Start: 2, End: 3,
		New: "Y"}})))
	require.Equal(t, "abcdef", string(lint.Apply(src, []lint.Edit{{Start: 5, End: 9}, {Start: 3, End: 2}, {Start: -1,
		End: 2}})))
	require.Equal(t, "Xabcdef", string(lint.Apply(src, []lint.Edit{{New: "X"}, {New: "X"}})))
}

// A habit that is repeated more often than findings are printed is fixed everywhere.
func TestFixWithoutLimit(t *testing.T) {
	text := chain(3000, []int{1, 64, 1, 64}, "softmax(x = %s)")
	fixed, done := lint.Fix("p.mil", []byte(text), lint.Options{})
	require.Len(t, of(done, "missing-argument"), 3000)
	again, done := lint.Fix("p.mil", fixed, lint.Options{})
	require.Empty(t, done)
	require.Equal(t, string(fixed), string(again))
}
