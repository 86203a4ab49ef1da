package models_test

import (
	"bytes"
	"fmt"
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/models"
)

// tensor is a value of a program: numbers in row-major order, or a word.
type tensor struct {
	shape []int
	at    []float64
	word  string
}

// filled returns a tensor of the shape; f returns each element.
func filled(shape []int, f func(i int) float64) *tensor {
	t := &tensor{shape: shape, at: make([]float64, volume(shape))}
	for i := range t.at {
		t.at[i] = f(i)
	}
	return t
}

func volume(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// ints are the elements as whole numbers.
func (t *tensor) ints() []int {
	n := make([]int, len(t.at))
	for i, v := range t.at {
		n[i] = int(v)
	}
	return n
}

func (t *tensor) yes() bool { return t.at[0] != 0 }

// evaluation is one run of a program on a chip.
type evaluation struct {
	chip
	files  blob.Files
	values map[string]*tensor
	// reach is the largest sum of the magnitudes of products: no order of addition
	// gives a larger partial sum.
	reach float64
}

// operators holds every operator that the models use.
var operators = map[string]func(e *evaluation, op *mil.Op) []*tensor{
	"const": (*evaluation).constant,
	"mul":   (*evaluation).mul, "add": (*evaluation).add, "abs": (*evaluation).abs, "sqrt": (*evaluation).root,
	"cast":    (*evaluation).cast,
	"reshape": (*evaluation).reshape, "transpose": (*evaluation).transpose, "slice_by_size": (*evaluation).slice,
	"split":  (*evaluation).split,
	"matmul": (*evaluation).matmul, "conv": (*evaluation).conv,
	"softmax": (*evaluation).softmax, "layer_norm": (*evaluation).layerNorm,
}

// evaluate runs m on c and returns the outputs and the reach of its sums.
func evaluate(c chip, m models.Model, in map[string][]float64) (out map[string][]float64, reach float64, err error) {
	p, err := mil.Parse(m.Name, m.Text)
	if err != nil {
		return nil, 0, err
	}
	defer func() { // a missing argument, or an unreadable file
		if r := recover(); r != nil {
			err = fmt.Errorf("%s on %s: %v", m.Name, c.name, r)
		}
	}()
	f := p.Funcs[0]
	e := &evaluation{chip: c, files: m.Weights, values: map[string]*tensor{}}
	for _, v := range f.Params {
		shape, _ := v.Type.Shape()
		e.values[v.Name] = filled(shape, func(i int) float64 { return in[v.Name][i] })
	}
	for _, op := range f.Body {
		run := operators[op.Kind]
		if run == nil {
			return nil, 0, fmt.Errorf("no operator %s", op.Kind)
		}
		for i, t := range run(e, op) {
			e.values[op.Results[i].Name] = t
		}
	}
	out = map[string][]float64{}
	for _, r := range f.Results {
		out[r.Name] = e.values[r.Name].at
	}
	return out, e.reach, nil
}

// arg is the argument called name.
func (e *evaluation) arg(op *mil.Op, name string) *tensor {
	switch o := op.Arg(name).Value.(type) {
	case mil.Ref:
		return e.values[o.Name]
	case *mil.Value:
		return e.literal(o)
	default:
		panic("unexpected operand " + name)
	}
}

func (e *evaluation) constant(op *mil.Op) []*tensor {
	return []*tensor{e.literal(op.Attr("val").Value.(*mil.Value))}
}

// literal reads a value from the text or from a weight file.
func (e *evaluation) literal(v *mil.Value) *tensor {
	t := &tensor{}
	t.shape, _ = v.Type.Shape()
	var err error
	switch d := v.Type.DType; {
	case v.Blob() != nil:
		t.at, err = e.weights(v)
	case d == mil.String:
		var words []string
		if words, err = v.Strings(); err == nil {
			t.word = words[0]
		}
	case d == mil.Bool:
		var all []bool
		all, err = v.Bools()
		for _, b := range all {
			t.at = append(t.at, map[bool]float64{true: 1}[b])
		}
	case d.Integer():
		var all []int64
		all, err = v.Ints()
		for _, i := range all {
			t.at = append(t.at, float64(i))
		}
	default:
		t.at, err = v.Floats()
		for i, f := range t.at {
			t.at[i] = round(f, 10, true) // the compiler's rounding, not the chip's
		}
	}
	if err != nil {
		panic(err)
	}
	return t
}

// weights reads fp16 from a weight file.
func (e *evaluation) weights(v *mil.Value) ([]float64, error) {
	path, offset, err := v.Blob().Entry()
	if err != nil {
		return nil, err
	}
	data := e.files[path]
	f, err := blob.NewReader(bytes.NewReader(data), int64(len(data)), path)
	if err != nil {
		return nil, err
	}
	raw, err := f.Tensor(offset, v.Type)
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(raw)/2)
	for i := range values {
		values[i] = element.Load(mil.FP16, raw[2*i:])
		if math.IsInf(values[i], 0) || math.IsNaN(values[i]) {
			return nil, fmt.Errorf("weight %d is %v", i, values[i])
		}
	}
	return values, nil
}
