package soft

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft/plan"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/unimem"
)

// executable is a plan and, while it is loaded, its states and the rooms that it shares with instances.
type executable struct {
	engine *engine
	plan   *plan.Plan
	holds  holds // of weights that steps read where they are
	rooms  *rooms

	loaded  bool
	tape    *unimem.Tape  // of states; nil while unloaded or without
	states  []byte        // all zero after Load
	rounds  uint64        // evaluations since Load
	loads   int           // counts Loads and Unloads, so that invocations notice new states
	running chan struct{} // holds a token during a run
}

// Inputs implements ane.Executable.
func (e *executable) Inputs() []ane.Layout { return e.plan.In }

// Outputs implements ane.Executable.
func (e *executable) Outputs() []ane.Layout { return e.plan.Out }

// Cached implements ane.Executable. Plans are cheap to make and never cached.
func (e *executable) Cached() bool { return false }

// Notes implements ane.Executable.
func (e *executable) Notes() []string { return e.plan.Notes }

// A step of two operands takes 1,180 bytes of heap in the plan, with its values and text, and some 500 in each
// invocation (measured with 40,000). The rest is for operators with more operands.
const (
	stepBytes = 2048
	callBytes = 1024
)

// Footprint returns the bytes that the program takes. Besides its text and weights it takes held until Close.
// Intermediate values take loaded from Load to Unload, and each invocation takes bound.
func (e *executable) Footprint() (held, loaded, bound int64) {
	n := int64(len(e.plan.Steps))
	scratch := e.plan.Scratch + e.plan.States + e.plan.Work*run.Parallel(e.plan.Workers)
	return int64(e.plan.Held) + n*stepBytes, int64(scratch), n * callBytes
}

// Stateful reports whether the program keeps states from one run to the next: an executable of its own for each user.
func (e *executable) Stateful() bool { return e.plan.States > 0 }

// Load takes a room, and the memory of the states, which is zero. The Model calls Load, Unload and Close one at
// a time and never during a run.
func (e *executable) Load(ctx context.Context) error {
	e.rounds, e.loaded = 0, true
	e.loads++
	err := e.rooms.load(e.plan, run.Parallel(e.plan.Workers))
	if err == nil {
		e.tape, e.states, err = private(e.plan.States)
	}
	if err != nil {
		return &ane.Error{Op: "load", Engine: Name, Err: errors.Join(err, e.Unload(ctx)), Detail: "no scratch memory"}
	}
	return nil
}

// private returns n bytes that no other process needs, nil for none. A Block of a Mac has a largest size, so beyond it
// the memory is on the heap.
func private(n int) (*unimem.Tape, []byte, error) {
	if n == 0 {
		return nil, nil, nil
	}
	t, err := unimem.Start(n)
	if errors.Is(err, unimem.ErrSize) {
		t, err = unimem.Start(n, unimem.OnHeap())
	}
	if err != nil {
		return nil, nil, err
	}
	all, err := t.Take(n, ane.RowAlign)
	if err != nil {
		return nil, nil, errors.Join(err, t.Close())
	}
	return t, all, nil
}

// Unload frees the states, and the rooms unless an instance is loaded.
func (e *executable) Unload(context.Context) error {
	if !e.loaded {
		return nil
	}
	err := e.rooms.unload()
	if e.tape != nil {
		err = errors.Join(err, e.tape.Close())
	}
	e.tape, e.states, e.loaded = nil, nil, false
	e.loads++ // even if Close fails, no run may use the states again
	return err
}

// Prepare implements ane.Executable.
func (e *executable) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	v := &invocation{exec: e}
	err := v.attach(in, &v.in)
	if err == nil {
		err = v.attach(out, &v.out)
	}
	if err == nil {
		err = v.bind(e.rooms.any())
	}
	if err != nil {
		_ = v.Close() // report the first error
		return nil, err
	}
	return v, nil
}

// Close implements ane.Executable. The Model has called Unload before, and closed the invocations.
func (e *executable) Close() error {
	e.holds.release()
	e.holds = nil
	return nil
}

// NewInstance makes an executable of the same program with other weights, without parsing, analysing or planning. A
// file of weights replaces the file of the same name. Where weights has no such file (its error matches
// fs.ErrNotExist), the instance uses the receiver's. The instance shares with the receiver all constants whose elements
// are equal and everything else that does not depend on the changes. It copies changed constants, so the caller may
// release its files afterwards. It reads ane.Constants in the caller's memory, and holds them until its Close; large
// ones it does not compare, so it shares them only if they are in the same place.
//
// A file must pass the checks of Compile, also for functions that the executable does not run. Otherwise the error
// matches ane.ErrCompile and lists every fault with its position in the program. The error also matches ane.ErrMismatch
// if a changed constant sets the structure of the program, such as an axis or a size.
//
// The receiver may be an instance itself. During the call and afterwards it may run, make other instances and be
// closed: the two share memory of the Go heap that neither writes, and rooms, each of which one run uses at a time. The
// engine must stay open.
func (e *executable) NewInstance(ctx context.Context, weights ane.Weights) (ane.Executable, error) {
	return e.engine.make(ctx, "instance", e.plan.Links.File, weights, e.holds, e.rooms, func() (*plan.Plan, error) {
		return e.plan.Relink(ctx, weights)
	})
}
