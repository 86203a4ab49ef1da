package apple

import (
	"context"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/objcbridge"
)

// executable is one function of a program: a procedure. The framework reports layouts only for loaded
// programs, so the program is loaded from Compile to the first Unload.
type executable struct {
	engine   *Engine
	src      ane.Source
	function *mil.Function
	named    string       // the requested procedure; empty if the program has only one
	watch    *observation // nil except for the known-answer program

	program *program
	placement
	packed int  // number of weight files that are packed into one; 0 for none
	cached bool // the framework did not compile the program for this executable

	abandoned abandonedCalls
	loaded    bool // changes only while no other call is in flight
}

// placement is where the framework has placed a function.
type placement struct {
	procedure int
	in, out   []port
}

// Inputs implements ane.Executable.
func (x *executable) Inputs() []ane.Layout { return layouts(x.in) }

// Outputs implements ane.Executable.
func (x *executable) Outputs() []ane.Layout { return layouts(x.out) }

// Cached implements ane.Executable.
func (x *executable) Cached() bool { return x.cached }

// Residency tells ane that the engine follows Source.Residency, for receipts.
func (x *executable) Residency() ane.Residency { return x.src.Residency }

// residencies are those of the bridge.
var residencies = map[ane.Residency]objcbridge.Residency{ane.DefaultResidency: objcbridge.ResidencyDefault,
	ane.Wired: objcbridge.ResidencyWired, ane.Pageable: objcbridge.ResidencyPageable}

// Notes implements ane.Executable. The framework reports no notes.
func (x *executable) Notes() (notes []string) {
	if x.engine.relock {
		notes = append(notes,
			"surfaces are unlocked for the time of each run: the known-answer run failed on locked ones")
	}
	if d := x.engine.info.Dialect; d != mil.NewText && x.src.Text == nil {
		notes = append(notes, fmt.Sprintf("printed in the %v dialect of MIL, which this system's compiler reads", d))
	}
	if x.packed > 0 {
		notes = append(notes, fmt.Sprintf("the framework refuses several weight files, so %d are copied into one", x.packed))
	}
	if x.named != "" {
		notes = append(notes, fmt.Sprintf("%s is procedure %d of a program that Models of its functions share", x.named,
			x.procedure))
	}
	return notes
}

// notLoaded is the error of a call on a program that ane.Model considers loaded.
func (x *executable) notLoaded(op string) error {
	return &ane.Error{Op: op, Engine: x.engine.cfg.Name, Err: ane.ErrNotLoaded,
		Detail: "an abandoned Unload is in flight or has finished", Hint: "call Unload, then Load"}
}

// Close implements ane.Executable. If an abandoned call is in flight, the program is
// released after the call returns. If the process has as many abandoned calls as allowed,
// the program is released after one of them returns.
func (x *executable) Close() error {
	if !x.abandoned.close() || postpone(x.abandoned.release) {
		return nil
	}
	ctx, cancel := x.engine.limited()
	defer cancel()
	_, err := awaitUnchecked(ctx, "close", x.engine.cfg.Name, &abandonedCalls{},
		func() error { x.abandoned.release(); return nil },
		func(error) {})
	return err
}

// release ends the use of the program. The last user closes it, the last one that wanted it loaded unloads it.
func (x *executable) release() {
	p := x.program
	if x.loaded {
		p.turn <- struct{}{}
	}
	last := x.engine.quit(x)
	if x.loaded {
		if !last && x.unload(context.Background()) != nil {
			p.wanted-- // the framework keeps it loaded: the next Load finds it so
		}
		p.leave()
	}
	if last {
		o := p.object.Load()
		o.SetPatience(x.engine.patience(context.Background()))
		o.Close()
	}
	x.engine.release()
}
