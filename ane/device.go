package ane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/anekit/anekit/unimem"
)

// Device is an open engine. Open makes a Device, Device.Compile a Model, and
// Model.NewRequest and Model.Bind a Request; their zero values are closed.
type Device struct {
	engine   Engine
	info     Info
	fallback string

	mu     sync.Mutex
	models int // number of open Models
	closed bool
	parked []*unimem.Block // surfaces of closed Requests that are still in use
}

// Open wraps an engine, which the Device then owns. fallback is the reason why the caller uses this engine instead of a
// better one; it is empty for the best engine. Every Receipt repeats it. The error is ErrUnavailable for a nil engine.
func Open(e Engine, fallback string) (*Device, error) {
	if e == nil {
		return nil, &Error{Op: "open", Err: ErrUnavailable, Detail: "nil engine"}
	}
	return &Device{engine: e, info: e.Info(), fallback: fallback}, nil
}

// Info describes the engine.
func (d *Device) Info() Info { return orZero(d).info }

// Engine returns the engine, for interfaces of its own. The Device owns it, and its calls skip the rules that the Device
// checks.
func (d *Device) Engine() Engine { return orZero(d).engine }

// Receipt returns the Receipt of this Device, without fields of a program.
func (d *Device) Receipt() Receipt {
	d = orZero(d)
	i := d.info
	return Receipt{Engine: i.Name, Chip: i.Chip, OSBuild: i.OSBuild, Numerics: i.Numerics, Sharing: i.Sharing,
		Fallback: d.fallback}
}

// Compile checks and compiles a program. The error matches ErrCompile when the
// program is at fault; errors.As then finds the mil.ErrorList.
//
// Apple's engine compiles and loads several functions of one text once if they have the same weights. Their Models take
// one of the machine's program slots together.
func (d *Device) Compile(ctx context.Context, src Source) (*Model, error) {
	d = orZero(d)
	ctx = given(ctx)
	if err := ctx.Err(); err != nil {
		return nil, Deadline("compile", d.info.Name, err)
	}
	if err := d.hold("compile"); err != nil {
		return nil, err
	}
	exec, shapes, err := d.compile(ctx, src)
	m, err := d.model("compile", exec, err)
	if err != nil {
		return nil, err
	}
	m.receipt.residency(src.Residency, exec)
	m.receipt.Notes = remarked(append(shapes, src.remarks(m.receipt.Notes)...), src.Weights)
	return m, nil
}

// compile checks that src has one program and calls the engine. shapes say which ones it took.
func (d *Device) compile(ctx context.Context, src Source) (exec Executable, shapes []string, err error) {
	if src, shapes, err = src.check(d.info.Name); err == nil {
		exec, err = d.engine.Compile(ctx, src)
	}
	return exec, shapes, err
}

// model makes a Model of the engine's result. The caller has called hold.
func (d *Device) model(op string, exec Executable, err error) (*Model, error) {
	if err == nil {
		err = d.vet(op, exec)
		if err != nil {
			err = errors.Join(err, exec.Close())
		}
	}
	if err != nil {
		d.drop()
		return nil, err
	}
	r := d.Receipt()
	r.Cached, r.Notes = exec.Cached(), exec.Notes()
	return &Model{device: d, exec: exec, in: clones(exec.Inputs()), out: clones(exec.Outputs()), receipt: &r,
		turn: make(chan struct{}, 1)}, nil
}

// vet refuses a program with impossible layouts or names, from any engine.
func (d *Device) vet(op string, exec Executable) error {
	if len(exec.Outputs()) == 0 {
		return &Error{Op: op, Engine: d.info.Name, Err: ErrCompile, Detail: "no outputs"}
	}
	for _, l := range slices.Concat(exec.Inputs(), exec.Outputs()) {
		if err := l.Check(); err != nil {
			return &Error{Op: op, Engine: d.info.Name, Err: err, Detail: "the engine reports an impossible layout"}
		}
	}
	return nil
}

// hold adds one to the number of open Models; drop subtracts one.
func (d *Device) hold(op string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.open(op); err != nil {
		return err
	}
	d.models++
	return nil
}

// open returns the error of a closed Device. The caller holds mu.
func (d *Device) open(op string) error {
	if d.closed || d.engine == nil {
		return &Error{Op: op, Engine: d.info.Name, Err: ErrClosed, Hint: "open the engine again"}
	}
	return nil
}

// offered returns the engine as an interface that only some engines have.
func offered[T any](d *Device, op, detail, hint string) (engine T, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.open(op); err != nil {
		return engine, err
	}
	engine, ok := d.engine.(T)
	if !ok {
		return engine, &Error{Op: op, Engine: d.info.Name, Err: errors.ErrUnsupported, Detail: detail, Hint: hint}
	}
	return engine, nil
}

func (d *Device) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.models--
}

// Close closes the engine; ErrInUse while a Model is open. A repeated call frees only
// the surfaces of closed Requests that an abandoned run was still using.
func (d *Device) Close() error {
	d = orZero(d)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.engine == nil {
		return d.sweep()
	}
	if d.models > 0 {
		return &Error{Op: "close", Engine: d.info.Name, Err: ErrInUse,
			Detail: fmt.Sprintf("open models: %d", d.models), Hint: "close the models first"}
	}
	d.closed = true
	return errors.Join(d.engine.Close(), d.sweep())
}

// free closes the surfaces of a Request. Surfaces still in use by an abandoned run or by
// another Request are closed by a later call of free or by Close.
func (d *Device) free(blocks []*unimem.Block) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.parked = append(d.parked, blocks...)
	return d.sweep()
}

// sweep closes the parked surfaces that are no longer in use. The caller holds mu.
func (d *Device) sweep() error {
	var errs []error
	d.parked = slices.DeleteFunc(d.parked, func(b *unimem.Block) bool {
		err := b.Close()
		if errors.Is(err, unimem.ErrInUse) {
			return false
		}
		errs = append(errs, err)
		return true
	})
	return errors.Join(errs...)
}

// names lists the tensors' names for messages.
func names(layouts []Layout) string {
	var n []string
	for _, l := range layouts {
		n = append(n, l.Name)
	}
	return strings.Join(n, ", ")
}

// orZero returns x, or for nil the zero value: a closed Device, Model or Request, a stale Tensor.
func orZero[T any](x *T) *T {
	if x == nil {
		return new(T)
	}
	return x
}

// given returns ctx, or for nil a context that never ends.
func given(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
