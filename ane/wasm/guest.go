package wasm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
	linear "github.com/anekit/anekit/unimem/wasm"
)

// Guest is an instance of a Binary: a memory, and what the guest has opened. One call at a time runs; further ones
// wait.
type Guest struct {
	host   *Host
	limits Limits
	module api.Module
	memory *linear.Memory
	copied atomic.Int64

	life context.Context // ends with the guest
	stop context.CancelFunc

	calls calls

	mu      sync.Mutex // of the running call
	failed  error      // why the guest takes no more calls
	closed  bool
	objects map[int32]any // by handle
	world   World         // the last handle and error too
	caches  int           // bytes
	gpu     hal.GPUMemory // of the memory; nil before the first gpu_run
	staged  *unimem.Block // what gpu is of in a copying Host
}

// guestKey is the key of the Guest in the context of its calls.
type guestKey struct{}

// Start makes a Guest and calls its _initialize, if it exports one, within Limits.Time. The caller closes the Guest.
//
// Errors: ErrCode (imports that the Host does not have), ErrLimit (more memory than Limits.Memory at first), those of
// unimem.Open, and of a start function those of Call.
func (c *Binary) Start(ctx context.Context, limits Limits) (*Guest, error) {
	g, err := c.Resume(ctx, limits)
	if err != nil || g.module.ExportedFunction(initialize) == nil {
		return g, err
	}
	if _, err := g.Call(ctx, initialize); err != nil {
		return nil, errors.Join(err, g.Close(ctx))
	}
	return g, nil
}

// Resume is Start without the call of _initialize, for a caller that gives the guest the memory and globals of an
// initialized one. Errors: those of Start.
func (c *Binary) Resume(ctx context.Context, limits Limits) (*Guest, error) {
	const op = "start"
	h := c.host
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, newError(op, ErrClosed, "the host is closed", "")
	}
	h.guests++
	h.mu.Unlock()
	g := &Guest{host: h, limits: limits.withDefaults(), objects: map[int32]any{}}
	g.life, g.stop = context.WithCancel(context.Background())
	g.calls.guest, g.calls.code, g.calls.entries = g, c, map[string]*entry{}
	output := struct{ io.Writer }{g.limits.Output} // wazero would let the guest read and cut off an os.File
	config := g.world.config(wazero.NewModuleConfig()).WithName("").WithStartFunctions().
		WithStdout(output).WithStderr(output)
	run, cancel := g.within(ctx)
	module, memory, err := linear.Instantiate(run, h.runtime, c.module, config, g.limits.Memory)
	cancel()
	if err != nil {
		var exit *sys.ExitError
		fault := error(&Error{Base: errtext.Base{Op: op, Err: ErrCode, Cause: err}})
		switch {
		case errors.Is(err, linear.ErrLimit):
			fault = &Error{Base: errtext.Base{Op: op, Err: ErrLimit, Cause: err}}
		case errors.As(err, &exit), strings.HasPrefix(err.Error(), "start function["): // wazero has no type for a trap
			fault = g.ended(op, "", err)
		}
		return nil, errors.Join(fault, g.Close(ctx))
	}
	g.module, g.memory = module, memory
	return g, nil
}

// initialize is the export of a reactor that Start calls.
const initialize = "_initialize"

// within returns the context of a call: it ends with ctx, with Limits.Time, and with the guest.
func (g *Guest) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, guestKey{}, g), g.limits.Time)
	stop := context.AfterFunc(g.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// Memory is the guest's linear memory. The Guest owns it.
func (g *Guest) Memory() *linear.Memory { return g.memory }

// Module is the instance. It must not be closed, nor its memory be used after Close of the Guest.
func (g *Guest) Module() api.Module { return g.module }

// Copied is the number of bytes copied for the guest so far: by binding on a surface, by cache_append, by a copying
// Host, and by AddCopied.
func (g *Guest) Copied() int64 {
	n := g.copied.Load()
	if g.memory != nil {
		n += g.memory.Copied()
	}
	return n
}

// AddCopied adds bytes that a Function has copied.
func (g *Guest) AddCopied(n int64) { g.copied.Add(n) }

// Err is the error of the call that ended the guest; nil while the guest takes calls. After it the guest's memory
// is as the call left it, which may be in the middle of a change.
func (g *Guest) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failed
}

// ended returns the typed error of a call that ended the guest.
func (g *Guest) ended(op, name string, err error) error {
	var exit *sys.ExitError
	switch {
	case !errors.As(err, &exit):
		return &Error{Base: errtext.Base{Op: op, Err: ErrTrap, Cause: err}, Name: name}
	case exit.ExitCode() == sys.ExitCodeDeadlineExceeded || exit.ExitCode() == sys.ExitCodeContextCanceled:
		return &Error{Base: errtext.Base{Op: op, Err: ErrTime, Cause: err, Detail: fmt.Sprintf("Limits.Time is %v",
			g.limits.Time)}, Name: name}
	}
	return &Error{Base: errtext.Base{Op: op, Err: ErrExit, Detail: fmt.Sprintf("status %d", exit.ExitCode())},
		Name: name, Exit: exit.ExitCode()}
}

// Close ends a running call and the runs of start, waits for the engine, closes what the guest has opened, and frees
// its memory. Repeating it does nothing. Errors: those of closing what the guest has opened, and unimem.ErrInUse while
// its memory is held; then a repeated call frees it.
func (g *Guest) Close(ctx context.Context) error {
	g.stop()
	g.calls.close()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		if g.memory == nil {
			return nil
		}
		return g.memory.Close()
	}
	g.closed = true
	err := errors.Join(g.end(ctx), g.calls.free(ctx))
	if g.module != nil {
		err = errors.Join(err, g.module.Close(context.WithoutCancel(ctx)))
		g.settle()
		err = errors.Join(err, g.memory.Close())
	}
	g.host.mu.Lock()
	g.host.guests--
	g.host.mu.Unlock()
	return err
}

// settle frees what a closed module holds. If the time of a call was over just as the call returned, wazero has marked
// the module as closed and leaves the rest to the next call. This one runs no instruction of the guest, whose context
// wazero looks at first. It does neither for an Uninterrupted host.
func (g *Guest) settle() {
	if g.host.config.endless {
		return
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for name, f := range g.module.ExportedFunctionDefinitions() {
		_, _ = g.module.ExportedFunction(name).Call(over, make([]uint64, len(f.ParamTypes()))...)
		return
	}
}

// end cancels what runs and closes every object: requests first, then what they use. The caller holds mu.
func (g *Guest) end(ctx context.Context) error {
	g.stop()
	errs := []error{g.leave()}
	for handle, o := range g.objects {
		if r, ok := o.(*request); ok {
			errs = append(errs, r.close())
			delete(g.objects, handle)
		}
	}
	for handle, o := range g.objects {
		switch o := o.(type) {
		case *program:
			errs = append(errs, g.host.drop(ctx, o.model))
		case *cache:
			errs = append(errs, o.Close())
		}
		delete(g.objects, handle)
	}
	return errors.Join(errs...)
}

// add opens an object and returns its handle.
func (g *Guest) add(o any) (int, error) {
	programs := 0
	for _, open := range g.objects {
		if _, ok := open.(*program); ok {
			programs++
		}
	}
	_, isProgram := o.(*program)
	switch others := len(g.objects) - programs; {
	case isProgram && programs >= g.limits.Programs:
		return 0, fmt.Errorf("%w: %d programs are open; close one first", CodeLimit, programs)
	case !isProgram && others >= g.limits.Objects:
		return 0, fmt.Errorf("%w: %d requests and caches are open; close one first", CodeLimit, others)
	case g.world.Handle == 1<<31-1:
		return 0, fmt.Errorf("%w: no handle is left", CodeLimit)
	}
	g.world.Handle++
	g.objects[g.world.Handle] = o
	return int(g.world.Handle), nil
}

// Bound returns the engine's request behind a guest's request, for evidence of what the engine reads. It is nil for
// another handle, and before the first run after a bind. The caller must not close it, nor use it during a call.
func (g *Guest) Bound(handle int32) *ane.Request {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r, ok := g.objects[handle].(*request); ok {
		return r.bound
	}
	return nil
}

// Objects is the number of programs, requests and caches that the guest has open.
func (g *Guest) Objects() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.objects)
}

// LastError is the text of the last error of a function of the module anekit, as error_text returns it; empty without.
func (g *Guest) LastError() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.world.Failure
}
