package mil

import "context"

// Pace has a call on a long program end with a context, and give way to more urgent work: after every PaceParts parts,
// which are tokens, statements, operands or elements, it calls the method Yield of a context that has one, on the
// goroutine of the caller, and looks whether the context has ended. A nil Pace does neither.
type Pace struct {
	ctx    context.Context
	yields interface{ Yield() }
	parts  int
	err    error
}

// PaceParts is the number of parts of a program between two looks at the context: some hundred microseconds.
const PaceParts = 4096

// NewPace returns a Pace for one call, or for several in a row.
func NewPace(ctx context.Context) *Pace {
	p := &Pace{ctx: ctx}
	p.yields, _ = ctx.(interface{ Yield() })
	return p
}

// Step counts one part. It returns the error of a context that has ended, and then does so for every part.
func (p *Pace) Step() error {
	if p == nil {
		return nil
	}
	if p.parts++; p.parts >= PaceParts && p.err == nil {
		p.look()
	}
	return p.err
}

func (p *Pace) look() {
	p.parts = 0
	if p.yields != nil {
		p.yields.Yield()
	}
	p.err = p.ctx.Err()
}

// Err returns the error with which Step has ended the call, or nil.
func (p *Pace) Err() error {
	if p == nil {
		return nil
	}
	return p.err
}

// Floats is v.Floats at this pace. Its error once the context has ended wraps that of the context, as those of Ints and
// Bools do.
func (p *Pace) Floats(v *Value) ([]float64, error) {
	return collect(p, v, DType.Float, "floating-point", float)
}

// Ints is v.Ints at this pace.
func (p *Pace) Ints(v *Value) ([]int64, error) {
	return collect(p, v, DType.Integer, "integer", integer)
}

// Bools is v.Bools at this pace.
func (p *Pace) Bools(v *Value) ([]bool, error) {
	return collect(p, v, func(d DType) bool { return d == Bool }, "bool", boolean)
}

// stopped returns the fault of a call that its context has ended, or nil.
func (p *Pace) stopped() *Error {
	if err := p.Step(); err != nil {
		return &Error{Msg: "not read to its end: " + err.Error(), Err: err}
	}
	return nil
}
