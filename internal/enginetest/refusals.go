package enginetest

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/step"
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
	const y, mul = "tensor<fp16, [1, 2, 2, 32]> y = ", `mul(x = x, y = fp16(0x1p+0))[name = string("y")];`
	d := e.device()
	for what, c := range map[string]struct {
		body string
		line int
	}{
		"a syntax error":          {y + "mul(x = x, y = ;", 4},
		"an unknown operator":     {"\n" + y + `frobnicate(x = x)[name = string("y")];`, 5},
		"an undefined value":      {y + `add(x = x, y = nowhere)[name = string("y")];`, 4},
		"a wrong type of a value": {strings.Replace(y, "32", "33", 1) + mul, 4},
		"a missing weight file": {`tensor<fp16, [2]> w = const()[val = tensor<fp16, [2]>(BLOBFILE(path = ` +
			`string("@model_path/none.bin"), offset = uint64(64)))]; ` + y + mul, 4},
	} {
		text := fmt.Sprintf("program(1.3)\n{\n    func main<ios18>(tensor<fp16, [1, 2, 2, 32]> x) {\n%s\n    } -> (y);\n}\n",
			c.body)
		m, err := d.Compile(e.Ctx, ane.Source{Text: []byte(text)})
		if faults := e.refuses(m, err, what); len(faults) > 0 && faults[0].Pos.Line != c.line {
			e.errorf("%s on line %d is reported on line %d: %v", what, c.line, faults[0].Pos.Line, err)
		}
	}
	e.report(e.fresh(d, identity(1, 2, 2, 32), inBlock()).round(e.Ctx, 1), "after refused programs")
}

// says reports an error that does not match all of matches, or lacks one of parts.
func (e *env) says(err error, what string, parts []any, matches ...error) {
	e.expect(err, what, matches...)
	for _, p := range parts {
		if err != nil && !strings.Contains(err.Error(), fmt.Sprint(p)) {
			e.errorf("%s returns %v, which does not say %v", what, err, p)
		}
	}
}

// refused binds and returns the error. The check closes a request that is made nevertheless.
func (e *env) refused(m *ane.Model, in, out []*ane.Tensor) error {
	r, err := m.Bind(named(in), named(out))
	if err == nil {
		e.Closing(r.Close)
	}
	return err
}

func short(e *env) {
	m := e.loaded(e.device(), identity(1, 64, 8, 32))
	l := m.Inputs()[0]
	b := step.Must(unimem.Open(l.Bytes() / 2))
	e.Closing(b.Close)
	_, err := ane.OnBlock(b, l)
	e.says(err, "a tensor on a Block that is too short", []any{l.Bytes(), b.Size()}, ane.ErrShort)
	small := step.Must(ane.NewLayout("x", l.DType, 1, 64, 4, 32))
	in := step.Must(ane.OnBlock(b, small))
	err = e.refused(m, []*ane.Tensor{in}, []*ane.Tensor{e.tensor(m.Outputs()[0])})
	e.says(err, "Bind of a tensor that is too short", []any{l.Bytes(), small.Bytes()}, ane.ErrShort)
}

func mismatches(e *env) {
	m := e.loaded(e.device(), order())
	zeta := e.tensor(step.Must(ane.NewLayout("zeta", mil.FP16, 1, 4, 3, 64)))
	stranger := e.tensor(step.Must(ane.NewLayout("stranger", mil.FP16, 1, 4, 3, 64)))
	e.says(e.refused(m, []*ane.Tensor{zeta, stranger}, nil),
		"Bind of a wrong, two missing and an unknown input with no outputs",
		[]any{"zeta", "beta", "alpha", "rest", "all", "stranger"}, ane.ErrMismatch, ane.ErrUnbound, ane.ErrName)
}

func aliases(e *env) {
	m := e.loaded(e.device(), order())
	var in []*ane.Tensor
	for _, l := range m.Inputs() {
		in = append(in, e.tensor(l))
	}
	first, second := m.Outputs()[0], e.tensor(m.Outputs()[1])
	for what, t := range map[string]*ane.Tensor{"an output on an input's memory": in[0],
		"two outputs on the same memory": second} {
		out := []*ane.Tensor{step.Must(ane.OnBlock(t.Block(), first)), second}
		e.expect(e.refused(m, in, out), "Bind of "+what, ane.ErrAlias)
	}
}

func stale(e *env) {
	m := e.loaded(e.device(), identity(1, 2, 2, 32))
	g := step.Must(unimem.NewGrid(m.Inputs()[0].Bytes(), 1, unimem.SurfacePerCell()))
	e.Closing(g.Close)
	c := step.Must(g.Take())
	e.staleAfter(m, step.Must(ane.OnCell(c, m.Inputs()[0])), "a returned cell", func() { step.NoError(g.Give(c)) })
}

func staleSpan(e *env) {
	m := e.loaded(e.device(), identity(1, 2, 2, 32))
	l := m.Inputs()[0]
	tape := step.Must(unimem.Start(l.Bytes()))
	e.Closing(tape.Close)
	span := step.Must(tape.Take(l.Bytes(), ane.RowAlign))
	e.staleAfter(m, step.Must(ane.OnSpan(tape, span, l)), "a span of a cleared tape", func() {
		tape.Clear()
		step.Must(tape.Take(l.Bytes(), ane.RowAlign)) // the same bytes again
	})
}

// staleAfter evaluates with an input, and again after its memory is gone.
func (e *env) staleAfter(m *ane.Model, in *ane.Tensor, what string, gone func()) {
	out := e.tensor(m.Outputs()[0])
	r := step.Must(m.Bind(named([]*ane.Tensor{in}), named([]*ane.Tensor{out})))
	e.Closing(r.Close)
	_, err := m.Evaluate(e.Ctx, r)
	e.report(err, "Evaluate before the memory is gone")
	gone()
	_, err = m.Evaluate(e.Ctx, r)
	e.expect(err, "Evaluate on "+what, ane.ErrStale)
	e.expect(e.refused(m, []*ane.Tensor{in}, []*ane.Tensor{out}), "Bind of a tensor on "+what, ane.ErrStale)
}
