package soft

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// executable is a plan with, while it is loaded, the scratch memory for one run
// at a time.
type executable struct {
	engine *engine
	plan   *plan

	tape    *unimem.Tape // nil while unloaded or when nothing is needed
	scratch []byte
	loads   int           // counts Loads, so that invocations notice a new scratch
	turn    chan struct{} // holds a token while a run uses the scratch
}

func newExecutable(e *engine, p *plan) *executable {
	return &executable{engine: e, plan: p, turn: make(chan struct{}, 1)}
}

// Inputs implements ane.Executable.
func (e *executable) Inputs() []ane.Layout { return e.plan.in }

// Outputs implements ane.Executable.
func (e *executable) Outputs() []ane.Layout { return e.plan.out }

// Cached implements ane.Executable: plans are cheap and never cached.
func (e *executable) Cached() bool { return false }

// Notes implements ane.Executable.
func (e *executable) Notes() []string { return e.plan.notes }

// Load takes the scratch memory. The Model calls it, Unload and Close one at a
// time and never during a run.
func (e *executable) Load(context.Context) error {
	if n := e.plan.scratch; n > 0 {
		t, err := unimem.Start(n)
		if err != nil {
			return &ane.Error{Op: "load", Engine: Name, Err: err, Detail: "no scratch memory"}
		}
		if e.scratch, err = t.Take(n, ane.RowAlign); err != nil {
			return &ane.Error{Op: "load", Engine: Name, Err: errors.Join(err, t.Close()), Detail: "no scratch memory"}
		}
		e.tape = t
	}
	e.loads++
	return nil
}

// Unload gives the scratch memory back.
func (e *executable) Unload(context.Context) error {
	if e.tape == nil {
		return nil
	}
	t := e.tape
	e.tape, e.scratch = nil, nil
	e.loads++ // whatever Close says, nobody may touch the scratch again
	return t.Close()
}

// Prepare implements ane.Executable.
func (e *executable) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	v := &invocation{exec: e}
	err := v.attach(in, &v.in)
	if err == nil {
		err = v.attach(out, &v.out)
	}
	if err == nil {
		err = v.tie()
	}
	if err != nil {
		_ = v.Close() // the first error is the one to report
		return nil, err
	}
	return v, nil
}

// Close implements ane.Executable; Unload went before.
func (e *executable) Close() error { return nil }
