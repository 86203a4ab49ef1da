package enginetest

import (
	"errors"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// refusals check bad programs and tensors.
func refusals() []check {
	return []check{
		{"bad-programs", "faulty programs are refused with ErrCompile and a mil.ErrorList that has the line",
			badPrograms},
		{"short", "a surface or tensor shorter than the layout is refused with both numbers", short},
		{"mismatches", "Bind reports all mismatches at once", mismatches},
		{"aliases", "an output that shares bytes with another tensor is refused", aliases},
		{"stale", "a request whose memory was returned is refused", stale},
		{"stale-span", "a request whose tape was cleared is refused", staleSpan},
	}
}

func badPrograms(e *env) {
	d := e.device()
	good := identity(1, 2, 2, 32)
	for _, c := range []struct {
		what string
		body string
		line int
	}{
		{"syntax error", "tensor<fp16, [1, 2, 2, 32]> y = mul(x = x, y = ;", 5},
		{"unknown operator", "\n" + good.out[0].String() + ` = frobnicate(x = x)[name = string("y")];`, 6},
		{"undefined value", good.out[0].String() + ` = add(x = x, y = nowhere)[name = string("y")];`, 5},
		{"wrong type of a result", `tensor<fp16, [1, 2, 2, 33]> y = mul(x = x, y = fp16(0x1p+0))[name = string("y")];`,
			5},
		{"missing weight file", `tensor<fp16, [2]> w = const()[val = tensor<fp16, [2]>(BLOBFILE(path = string("@model_path/none.bin"), offset = uint64(64)))]; ` + good.body, 5},
	} {
		p := *good
		p.body = c.body
		m, err := d.Compile(e.ctx, p.source())
		if err == nil {
			e.errorf("%s: compiles", c.what)
			e.must(m.Close(e.ctx), "close")
			continue
		}
		var list mil.ErrorList
		switch {
		case !errors.Is(err, ane.ErrCompile):
			e.errorf("%s: %v does not match ErrCompile", c.what, err)
		case !errors.As(err, &list) || len(list) == 0:
			e.errorf("%s: %v has no mil.ErrorList", c.what, err)
		case list[0].Pos.Line != c.line:
			e.errorf("%s on line %d is reported on line %d: %v", c.what, c.line, list[0].Pos.Line, err)
		}
	}
	m := e.loaded(d, good) // the device still works
	e.must(e.rig(m, good, inBlock()).round(e.ctx, 1), "after refused programs")
}

// says reports whether err matches match and contains all numbers.
func says(err, match error, numbers ...int) bool {
	if !errors.Is(err, match) {
		return false
	}
	for _, n := range numbers {
		if !strings.Contains(err.Error(), strconv.Itoa(n)) {
			return false
		}
	}
	return true
}

func short(e *env) {
	p := identity(1, 64, 8, 32)
	m := e.loaded(e.device(), p)
	l := m.Inputs()[0]
	b, err := unimem.Open(l.Bytes() / 2)
	e.need(err, "memory")
	e.laterMemory(b.Close, "closing a Block")
	if _, err := ane.OnBlock(b, l); !says(err, ane.ErrShort, l.Bytes(), b.Size()) {
		e.errorf("a tensor of %d bytes on a Block of %d returns %v, want ErrShort with both numbers", l.Bytes(),
			b.Size(), err)
	}
	small, err := ane.NewLayout("x", l.DType, 1, 64, 4, 32)
	e.need(err, "layout")
	in, err := ane.OnBlock(b, small)
	e.need(err, "tensor")
	out, _ := inBlock()(e, m.Outputs()[0], true)
	e.refused(m, named([]*ane.Tensor{in}), named([]*ane.Tensor{out}),
		func(err error) bool { return says(err, ane.ErrShort, l.Bytes(), small.Bytes()) }, "a tensor too short")
}

// refused binds and expects an error that ok accepts.
func (e *env) refused(m *ane.Model, in, out map[string]*ane.Tensor, ok func(error) bool, what string) {
	r, err := m.Bind(in, out)
	if err == nil {
		e.errorf("%s is bound", what)
		e.later(r.Close, "closing the request")
	} else if !ok(err) {
		e.errorf("%s: unexpected error %v", what, err)
	}
}

func mismatches(e *env) {
	p := order()
	m := e.loaded(e.device(), p)
	in, out := map[string]*ane.Tensor{}, map[string]*ane.Tensor{}
	other, err := ane.NewLayout("zeta", mil.FP16, 1, 4, 3, 64)
	e.need(err, "layout")
	in["zeta"], _ = inBlock()(e, other, false)
	in["stranger"], _ = inBlock()(e, other, false)
	e.refused(m, in, out, func(err error) bool {
		for _, s := range []error{ane.ErrMismatch, ane.ErrUnbound, ane.ErrName} {
			if !errors.Is(err, s) {
				return false
			}
		}
		for _, name := range []string{"zeta", "beta", "alpha", "rest", "all", "stranger"} {
			if !strings.Contains(err.Error(), name) {
				return false
			}
		}
		return true
	}, "a wrong, two missing and an unknown input with no outputs")
}

func aliases(e *env) {
	p := order()
	m := e.loaded(e.device(), p)
	r := &rig{}
	for _, l := range m.Inputs() {
		t, _ := inBlock()(e, l, false)
		r.in = append(r.in, t)
	}
	alias := func(err error) bool { return errors.Is(err, ane.ErrAlias) }
	outs := m.Outputs()
	free, _ := inBlock()(e, outs[1], true)
	on := func(t *ane.Tensor, l ane.Layout) *ane.Tensor {
		u, err := ane.OnBlock(t.Block(), l)
		e.need(err, "tensor")
		return u
	}
	e.refused(m, named(r.in), named([]*ane.Tensor{on(r.in[0], outs[0]), free}), alias, "an output on an input's memory")
	e.refused(m, named(r.in), named([]*ane.Tensor{on(free, outs[0]), free}), alias, "two outputs on the same memory")
}

func stale(e *env) {
	p := identity(1, 2, 2, 32)
	m := e.loaded(e.device(), p)
	l := m.Inputs()[0]
	g, err := unimem.NewGrid(l.Bytes(), 1, unimem.SurfacePerCell())
	e.need(err, "memory")
	e.laterMemory(g.Close, "closing a Grid")
	c, err := g.Take()
	e.need(err, "cell")
	in, err := ane.OnCell(c, l)
	e.need(err, "tensor")
	out, _ := inBlock()(e, m.Outputs()[0], true)
	r, err := m.Bind(named([]*ane.Tensor{in}), named([]*ane.Tensor{out}))
	e.need(err, "bind")
	e.later(r.Close, "closing the request")
	e.need(g.Give(c), "returning the cell")
	if _, err := m.Evaluate(e.ctx, r); !errors.Is(err, ane.ErrStale) {
		e.errorf("evaluating on a returned cell returns %v, want ErrStale", err)
	}
	e.refused(m, named([]*ane.Tensor{in}), named([]*ane.Tensor{out}),
		func(err error) bool { return errors.Is(err, ane.ErrStale) }, "a tensor on a returned cell")
}

func staleSpan(e *env) {
	p := identity(1, 2, 2, 32)
	m := e.loaded(e.device(), p)
	l := m.Inputs()[0]
	tape, err := unimem.Start(l.Bytes())
	e.need(err, "memory")
	e.laterMemory(tape.Close, "closing a Tape")
	span, err := tape.Take(l.Bytes(), ane.RowAlign)
	e.need(err, "span")
	in, err := ane.OnSpan(tape, span, l)
	e.need(err, "tensor")
	out, _ := inBlock()(e, m.Outputs()[0], true)
	r, err := m.Bind(named([]*ane.Tensor{in}), named([]*ane.Tensor{out}))
	e.need(err, "bind")
	e.later(r.Close, "closing the request")
	_, err = m.Evaluate(e.ctx, r)
	e.must(err, "evaluating on a span")
	tape.Clear()
	_, err = tape.Take(l.Bytes(), ane.RowAlign) // the same bytes again
	e.need(err, "span")
	if _, err := m.Evaluate(e.ctx, r); !errors.Is(err, ane.ErrStale) {
		e.errorf("evaluating on a span of a cleared tape returns %v, want ErrStale", err)
	}
	e.refused(m, named([]*ane.Tensor{in}), named([]*ane.Tensor{out}),
		func(err error) bool { return errors.Is(err, ane.ErrStale) }, "a tensor on a span of a cleared tape")
}
