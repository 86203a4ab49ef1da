package models

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/anekit/anekit/ane/mil"
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
	b := mil.NewBuilder()
	f := b.Func("main")
	for _, in := range inputs {
		f.InputOf(in.Name, in.Type)
	}
	for i, p := range pairs {
		f.Output(p.emit(f, fmt.Sprintf("step%d_", i)))
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
				return coins(name, n, seed)
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
	}.finish(b)
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

// emit writes the statements of the pair; labels start with prefix.
func (p pair) emit(f *mil.FuncBuilder, prefix string) mil.Ref {
	at := mil.Ref{Name: p.in.Name}
	have, _ := p.in.Type.Shape()
	step := func(kind string, shape []int, args ...mil.Arg) {
		at = f.Op(kind, mil.TensorOf(mil.FP16, shape...), prefix+kind, append(args, mil.A("x", at))...)
		have = shape
	}
	if p.in.Type.DType != mil.FP16 {
		at = f.Op("cast", mil.TensorOf(mil.FP16, have...), prefix+"half",
			mil.A("dtype", f.Const(prefix+"half_dtype", mil.StringScalar("fp16"))), mil.A("x", at))
	}
	if !slices.Equal(have, p.from) {
		step("reshape", p.from, mil.A("shape", f.Const(prefix+"shape", mil.Int32s(p.from...))))
	}
	if !slices.Equal(p.from, p.common) {
		step("slice_by_size", p.common,
			mil.A("begin", f.Const(prefix+"begin", mil.Int32s(make([]int, len(p.common))...))),
			mil.A("size", f.Const(prefix+"size", mil.Int32s(p.common...))))
	}
	if !slices.Equal(p.common, p.to) {
		border := make([]int, 0, 2*len(p.to))
		for i := range p.to {
			border = append(border, 0, p.to[i]-p.common[i])
		}
		step("pad", p.to, mil.A("constant_val", f.Const(prefix+"zero", mil.FP16Scalar(0))),
			mil.A("mode", f.Const(prefix+"mode", mil.StringScalar("constant"))),
			mil.A("pad", f.Const(prefix+"border", mil.Int32s(border...))))
	}
	final, _ := p.out.Type.Shape()
	if !slices.Equal(p.to, final) {
		args := mil.A("shape", f.Const(prefix+"final", mil.Int32s(final...)))
		at = f.Op("reshape", mil.TensorOf(mil.FP16, final...), prefix+"lowered", args, mil.A("x", at))
	}
	if d := p.out.Type.DType; d != mil.FP16 {
		return f.Op("cast", p.out.Type, p.out.Name,
			mil.A("dtype", f.Const(prefix+"dtype", mil.StringScalar(d.String()))), mil.A("x", at))
	}
	return f.Op("mul", p.out.Type, p.out.Name, mil.A("x", at), mil.A("y", f.Const(prefix+"one", mil.FP16Scalar(1))))
}

// reference computes the output from the input.
func (p pair) reference(x []float64) []float64 {
	volume := 1
	for _, n := range p.to {
		volume *= n
	}
	y := make([]float64, volume)
	index := make([]int, len(p.common))
	for {
		from, to := 0, 0
		for i, n := range index {
			from, to = from*p.from[i]+n, to*p.to[i]+n
		}
		if y[to] = x[from]; p.out.Type.DType == mil.Bool && y[to] != 0 {
			y[to] = 1
		}
		axis := len(index) - 1
		for ; axis >= 0; axis-- {
			if index[axis]++; index[axis] < p.common[axis] {
				break
			}
			index[axis] = 0
		}
		if axis < 0 {
			return y
		}
	}
}

// coins generates zeros and ones.
func coins(name string, n int, seed uint64) []float64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	r := rand.New(rand.NewPCG(seed, h.Sum64()))
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(r.IntN(2))
	}
	return out
}
