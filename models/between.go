package models

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
)

// Between builds a program with given inputs and outputs, to test tensors without
// a known program. Output i is input i modulo the number of inputs: as much of it as
// fits along every axis, and zeros beyond. So each output element identifies its input
// element. Types are fp16, fp32 or bool; shapes of different rank are aligned at the
// last axis.
//
// The error says which input or output has another type, or a rank that does not fit, or that there are none.
func Between(name string, inputs, outputs []mil.Var) (Model, error) {
	if len(inputs) == 0 || len(outputs) == 0 {
		return Model{}, fmt.Errorf("models: %s: %d inputs and %d outputs, at least one of each is needed", name,
			len(inputs), len(outputs))
	}
	pairs := make([]pair, len(outputs))
	for i, out := range outputs {
		p, err := pairOf(inputs[i%len(inputs)], out)
		if err != nil {
			return Model{}, fmt.Errorf("models: %s: %w", name, err)
		}
		pairs[i] = p
	}
	types := map[string]mil.DType{}
	for _, in := range inputs {
		types[in.Name] = in.Type.DType
	}
	return Model{
		Name: name, About: fmt.Sprintf("%d inputs, %d outputs, each a part of an input", len(inputs), len(outputs)),
		Tolerance: exactly("every result is a value of an input, or zero"),
		Input: func(name string, n int, seed uint64) []float64 {
			if types[name] == mil.Bool {
				return multiples(1, 0, 1)(name, n, seed)
			}
			return steps(16)(name, n, seed)
		},
		Reference: func(in map[string][]float64) map[string][]float64 {
			out := map[string][]float64{}
			for _, p := range pairs {
				out[p.out.Name] = p.reference(in[p.in.Name])
			}
			return out
		},
	}.built(func(f *build.Func) {
		values := map[string]build.Value{}
		for _, in := range inputs {
			shape, _ := in.Type.Shape()
			values[in.Name] = f.Input(in.Name, in.Type.DType, shape...)
		}
		for _, p := range pairs {
			f.Output(p.out.Name, p.of(f, values[p.in.Name]))
		}
	})
}

// pair is an output with its input, both with shapes of one rank.
type pair struct {
	in, out      mil.Var
	from, common []int // shape of the input, and of the part that fits into the output
	to           []int // shape of the output
}

func pairOf(in, out mil.Var) (pair, error) {
	p := pair{in: in, out: out}
	for _, v := range []mil.Var{in, out} {
		if d := v.Type.DType; d != mil.FP16 && d != mil.FP32 && d != mil.Bool {
			return p, fmt.Errorf("%s is of type %s; fp16, fp32 and bool are possible", v.Name, v.Type)
		}
		if _, static := v.Type.Shape(); !static {
			return p, fmt.Errorf("%s is of type %s; its shape is not fixed", v.Name, v.Type)
		}
	}
	p.from, _ = in.Type.Shape()
	p.to, _ = out.Type.Shape()
	rank := max(len(p.from), len(p.to), 1)
	p.from, p.to = raised(p.from, rank), raised(p.to, rank)
	for i := range p.from {
		p.common = append(p.common, min(p.from[i], p.to[i]))
	}
	return p, nil
}

// raised returns a shape with leading axes of length 1.
func raised(shape []int, rank int) []int {
	return append(slices.Repeat([]int{1}, rank-len(shape)), shape...)
}

// of computes the output from the input.
func (p pair) of(f *build.Func, x build.Value) build.Value {
	if p.in.Type.DType != mil.FP16 {
		x = f.Cast(x, mil.FP16)
	}
	if have, _ := p.in.Type.Shape(); !slices.Equal(have, p.from) {
		x = f.Reshape(x, p.from...)
	}
	if !slices.Equal(p.from, p.common) {
		x = f.SliceBySize(x, make([]int, len(p.common)), p.common)
	}
	if !slices.Equal(p.common, p.to) {
		border := make([]int, 0, 2*len(p.to))
		for i := range p.to {
			border = append(border, 0, p.to[i]-p.common[i])
		}
		x = f.Pad(x, border)
	}
	if want, _ := p.out.Type.Shape(); !slices.Equal(p.to, want) {
		x = f.Reshape(x, want...)
	}
	if d := p.out.Type.DType; d != mil.FP16 {
		return f.Cast(x, d)
	}
	return f.Mul(x, f.Scalar(1))
}

// reference computes the output from the input.
func (p pair) reference(x []float64) []float64 {
	volume := 1
	for _, n := range p.to {
		volume *= n
	}
	y := make([]float64, volume)
	for i := range y {
		from, stride, rest, inside := 0, 1, i, true
		for axis := len(p.to) - 1; axis >= 0; axis-- {
			at := rest % p.to[axis]
			inside = inside && at < p.common[axis]
			from, stride, rest = from+at*stride, stride*p.from[axis], rest/p.to[axis]
		}
		if !inside {
			continue
		}
		if y[i] = x[from]; p.out.Type.DType == mil.Bool && y[i] != 0 {
			y[i] = 1
		}
	}
	return y
}
