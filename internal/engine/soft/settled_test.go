package soft_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// settled makes all operands constants and one element of each result a setting. Where Analyze computes the element, it
// has the bits that an engine is to compute.
func (o operation) settled(t rapid.TB) {
	t.Helper()
	large := func(x nd) bool { return len(x.v) > 4096 }
	if slices.ContainsFunc(o.in, func(a operand) bool { return large(a.value) }) || slices.ContainsFunc(o.want, large) {
		return
	}
	fixed := o
	fixed.in = slices.Clone(o.in)
	for i := range fixed.in {
		fixed.in[i].fixed = true
	}
	for k, w := range o.want {
		if !slices.Contains([]mil.DType{mil.FP16, mil.FP32, mil.Bool, mil.Int32, mil.Int8, mil.UInt16}, w.d) {
			continue
		}
		i := turn * 7 % len(w.v)
		body, _, _ := strings.Cut(fixed.text(), "} -> (")
		body += fmt.Sprintf("%s l = reshape(x = o%d, shape = %s);\n"+
			"%s e = slice_by_index(x = l, begin = %s, end = %s);\n"+
			"%s y = fill(shape = %s, value = e);\n} -> (y);\n}\n", tensorType(w.d, []int{len(w.v)}), k,
			intVec(len(w.v)), tensorType(w.d, []int{1}), intVec(i), intVec(i+1), tensorType(w.d, []int{1}), intVec(1))
		p, err := mil.Parse("settled.mil", []byte(body))
		if err != nil {
			t.Fatalf("%v\n%s", err, clip(body))
		}
		g, err := ops.Analyze("settled.mil", p, "", nil)
		if err != nil {
			continue // settle does not compute it, or a rule refuses it for constants
		}
		got, want := g.Nodes[len(g.Nodes)-1].Attrs.(ops.Fill).Element, store(w.d, w.v[i])
		if string(got) != string(want) {
			t.Fatalf("result %d, element %d: a setting takes %x, want %x\n%s", k, i, got, want, clip(body))
		}
	}
}

// TestConcatScalars joins scalars, computed and constant, to a vector.
func TestConcatScalars(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.Int32, mil.Bool} {
		o := operation{op: "concat", settings: ", axis = int32(0), interleave = bool(false)", want: []nd{zeros(d, 3)}}
		for i := range 3 {
			x := zeros(d)
			x.v[0] = float64(i % 2)
			o.want[0].v[i] = x.v[0]
			o.in = append(o.in, operand{"values", x, i == 1})
		}
		o.exact(t)
	}
}
