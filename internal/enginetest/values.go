package enginetest

import (
	"errors"
	"fmt"
	"math"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/step"
)

func values() []check {
	compares := func(name, what string, programs ...*program) check {
		return check{"values-" + name, what, func(e *env) { e.compare(programs) }}
	}
	return []check{
		compares("identity", "multiplying by one returns the input", identity(1, 8, 4, 32)),
		compares("add", "the sum of two inputs", addition(1, 8, 4, 32)),
		compares("order", "inputs and outputs bind by name, in any alphabetical order", order()),
		compares("split", "two outputs of one layout are not swapped", splitting()),
		compares("cast", "fp32 inputs and outputs around fp16", casting(1, 4, 2, 16), casting(1, 2, 3, 5)),
		compares("matmul", "a matrix product of two inputs", multiplication(4, 32, 32), multiplication(3, 20, 7)),
		compares("conv", "a convolution with weights from a file", convolution()),
		compares("padded", "rows that do not fill 64 bytes start at the next multiple of 64", padded()...),
		{"instances", "an instance computes with its own weights, and its base with the original ones", instances},
		{"functions", "the functions of one text are Models of their own; to unload or close one leaves the others",
			functions},
		{"tree", "a tree computes the same as its text; a faulty tree is refused with a mil.ErrorList", tree},
		{"rounding", "every fp16 value is kept, also subnormals; a sum rounds once, to nearest even", rounding},
	}
}

// compare runs programs on cells and on Blocks and compares all elements.
func (e *env) compare(programs []*program) {
	d := e.device()
	for _, p := range programs {
		m := e.loaded(d, p)
		for name, where := range kinds() {
			e.report(e.rig(m, p, where).round(e.Ctx, 1), "on %s", name)
		}
	}
}

// instances makes instances of a program and of an instance, and closes the base first.
func instances(e *env) {
	d := e.device()
	base := weighted(99)
	m := e.loaded(d, base)
	of := func(m *ane.Model, p *program) *ane.Model {
		i, err := m.WithWeights(e.Ctx, p.Weights)
		if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, ane.ErrDenied) {
			e.skip("the engine makes no instances here: " + err.Error())
		}
		step.NoError(err)
		return e.own(d, i)
	}
	run := func(m *ane.Model, p *program, what string) {
		r := step.Must(m.NewRequest(e.Ctx)) // loads the instance
		q := &rig{program: p, model: m, request: r, in: []*ane.Tensor{r.Input("x")}, out: []*ane.Tensor{r.Output("y")}}
		e.report(q.round(e.Ctx, 3), "%s", what)
		e.report(r.Close(), "closing a request of %s", what)
	}
	p, q := weighted(5), weighted(7)
	first := of(m, p)
	run(first, p, "an instance")
	run(m, base, "the base beside an instance")
	second := of(first, q)
	run(second, q, "an instance of an instance")
	run(of(second, q), q, "an instance with the same weights")
	run(first, p, "an instance that has an instance")

	for _, w := range []ane.Weights{nil, ane.Files{}, ane.Files{blob.WeightFile + "x": []byte("short")}} {
		_, err := m.WithWeights(e.Ctx, w)
		e.expect(err, "WithWeights without a file of the program", ane.ErrName)
	}
	_, err := m.WithWeights(e.Ctx, ane.Files{blob.WeightFile: []byte("short")})
	e.expect(err, "WithWeights of malformed weights", ane.ErrCompile)
	e.report(m.Close(e.Ctx), "closing the base before its instances")
	run(first, p, "an instance whose base is closed")
	run(second, q, "an instance whose base is closed")
}

// functions compiles functions of one text to Models, whose lives are independent.
func functions(e *env) {
	d, b := e.device(), build.New()
	programs := []*program{order(), addition(1, 8, 4, 32), splitting()} // no name of a tensor occurs twice
	for _, p := range programs {
		p.write(b.Func(p.name))
	}
	src := source(d, &program{Program: step.Must(b.Program()), name: "bank"})
	var rigs []*rig
	for _, p := range append(programs, programs[1]) {
		src.Function = p.name
		rigs = append(rigs, e.rig(e.load(e.own(d, step.Must(d.Compile(e.Ctx, src)))), p, inBlock()))
	}
	rounds := func(what string, rigs ...*rig) {
		for i, r := range rigs {
			e.report(r.round(e.Ctx, i), "%s, function %s", what, r.program.name)
		}
	}
	rounds("with all functions loaded", rigs...)
	for i, r := range rigs {
		step.NoError(r.model.Unload(e.Ctx))
		e.expect(r.run(e.Ctx), "Evaluate of an unloaded function while others are loaded", ane.ErrNotLoaded)
		rounds("after an Unload of others", rigs[i+1:]...)
	}
	for i, r := range rigs {
		e.load(r.model)
		rounds("after a Load", rigs[:i+1]...)
	}
	for i, r := range rigs {
		e.report(r.request.Close(), "closing the request")
		e.report(r.model.Close(e.Ctx), "closing the model")
		rounds("after a Close of others", rigs[i+1:]...)
	}
}

// tree compiles trees.
func tree(e *env) {
	d := e.device()
	for _, p := range programs() {
		m := step.Must(d.Compile(e.Ctx, ane.Source{File: p.name + ".mil", Program: p.Tree(), Weights: p.Weights}))
		e.report(e.rig(e.load(e.own(d, m)), p, inBlock()).round(e.Ctx, 1), "as a tree")
	}
	for what, bad := range map[string]*mil.Program{
		"without functions": {Version: "1.3"},
		"with an undefined result": {Version: "1.3",
			Funcs: []*mil.Function{{Name: "main", Opset: "ios18", Results: []mil.Ref{{Name: "y"}}}}},
	} {
		m, err := d.Compile(e.Ctx, ane.Source{File: "tree.mil", Program: bad})
		e.refuses(m, err, "a tree "+what)
	}
}

// refuses reports a program that compiles, and an error that is not that of faulty programs. It returns the faults.
func (e *env) refuses(m *ane.Model, err error, what string) (faults mil.ErrorList) {
	if err == nil {
		e.errorf("%s compiles", what)
		e.Later(m.Close)
		return nil
	}
	e.expect(err, "Compile of "+what, ane.ErrCompile)
	if !errors.As(err, &faults) || len(faults) == 0 {
		e.errorf("Compile of %s returns %v, which has no mil.ErrorList", what, err)
	}
	return faults
}

// rounding multiplies all halves by one, and adds pairs of them.
func rounding(e *env) {
	d := e.device()
	var halves, others [1 << 16]float64
	for i := range halves {
		halves[i] = float64(fp16.Bits(i).Float32())
		others[i] = float64(fp16.Bits(i * 40503 % (1 << 16)).Float32())
	}
	sums := zip(halves[:], others[:], func(a, b float64) float64 { return float64(fp16.FromFloat64(a + b).Float32()) })
	e.exact(e.fresh(d, identity(1, 1, 256, 256), inBlock()), halves[:], halves[:])
	e.exact(e.fresh(d, addition(1, 1, 256, 256), inBlock()), sums, halves[:], others[:])
}

// exact runs r on in and compares with want, including signs of zeros.
func (e *env) exact(r *rig, want []float64, in ...[]float64) {
	step.NoError(r.fill(in))
	step.NoError(r.run(e.Ctx))
	e.report(r.verify([][]float64{want}), "rounding")
	for i, v := range step.Must(r.out[0].Float32s()) {
		if want[i] == 0 && math.Signbit(want[i]) != math.Signbit(float64(v)) {
			step.NoError(fmt.Errorf("%s: the sign of a zero is lost", r.program.name))
		}
	}
}
