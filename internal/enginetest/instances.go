package enginetest

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
)

// instances makes instances of a program and of an instance, and closes the base first.
func instances(e *env) {
	d := e.device()
	base, err := weighted(99)
	e.need(err, "weights")
	m, err := d.Compile(e.ctx, e.source(d, base))
	e.need(err, "compile")
	e.later(func() error { return m.Close(context.Background()) }, "closing the base")
	e.need(m.Load(e.ctx), "load")
	of := func(m *ane.Model, seed int) (*ane.Model, *program) {
		p, err := weighted(seed)
		e.need(err, "weights")
		i, err := m.WithWeights(e.ctx, p.weights)
		if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, ane.ErrDenied) {
			e.must(m.Close(e.ctx), "closing the base")
			e.skip("the engine makes no instances here: " + err.Error())
		}
		e.need(err, "an instance")
		e.later(func() error { return i.Close(context.Background()) }, "closing an instance")
		return i, p
	}
	run := func(m *ane.Model, p *program, what string) {
		r, err := m.NewRequest(e.ctx)
		e.need(err, "a request of "+what)
		in := p.samples(3)
		q := &rig{env: e, program: p, model: m, request: r, in: []*ane.Tensor{r.Input("x")},
			out: []*ane.Tensor{r.Output("y")}}
		e.need(q.fill(in), "inputs")
		_, err = r.Evaluate(e.ctx)
		e.must(err, "evaluating %s", what)
		e.must(q.verify(p.reference(in)), "%s", what)
		e.must(r.Close(), "closing a request of %s", what)
	}
	first, p := of(m, 5)
	run(first, p, "an instance")
	run(m, base, "the base beside an instance")
	second, q := of(first, 7)
	run(second, q, "an instance of an instance")
	same, err := second.WithWeights(e.ctx, q.weights)
	e.need(err, "an instance with the same weights")
	e.later(func() error { return same.Close(context.Background()) }, "closing an instance")
	run(same, q, "an instance with the same weights")
	run(first, p, "an instance that has an instance")

	for _, w := range []ane.Weights{nil, files{}, files{weightPath + "x": []byte("short")}} {
		if _, err := m.WithWeights(e.ctx, w); !errors.Is(err, ane.ErrName) {
			e.errorf("weights without a file of the program are refused with %v, want ErrName", err)
		}
	}
	if _, err := m.WithWeights(e.ctx, files{weightPath: []byte("short")}); !errors.Is(err, ane.ErrCompile) {
		e.errorf("malformed weights are refused with %v, want ErrCompile", err)
	}
	e.must(m.Close(e.ctx), "closing the base before its instances")
	run(first, p, "an instance whose base is closed")
	run(second, q, "an instance whose base is closed")
}
