package apple_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/engine/standin"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// Selectors that faults are armed on.
const (
	selText     = "modelWithMILText:weights:optionsPlist:"
	selModel    = "inMemoryModelWithDescriptor:"
	selCompile  = "compileWithQoS:options:error:"
	selLoad     = "loadWithQoS:options:error:"
	selUnload   = "unloadWithQoS:error:"
	selEvaluate = "evaluateWithQoS:options:request:error:"
	selSurface  = "objectWithIOSurface:"
	selRequest  = "requestWithInputs:inputIndices:outputs:outputIndices:weightsBuffer:perfStats:procedureIndex:"
)

// hanging is a context whose deadline passes when n calls hang in the framework.
func hanging(t *testing.T, f *standin.Framework, n int64) context.Context {
	return await.DeadlineWhen(t, t.Context(), func() bool { return f.Counts().Hanging >= n })
}

// stuck makes a call that waits for an earlier one which does not come back, with ever later
// deadlines, until one passes while it waits and not before.
func stuck(t *testing.T, call func(context.Context) error) {
	t.Helper()
	for patience := 10 * time.Millisecond; ; patience *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err := call(ctx)
		cancel()
		require.ErrorIs(t, err, ane.ErrDeadline)
		if errors.Is(err, ane.ErrStuck) {
			return
		}
		require.Less(t, patience, await.Patience, "it does not say what it waits for")
	}
}

// stage is one call of a user that reaches a selector.
type stage struct {
	name     string
	selector string
	faults   []standin.FaultKind
	// try makes the call, alone or after others that it needs. It calls held before it waits
	// for Blocks that a call which was given up holds.
	try func(ctx context.Context, e *apple.Engine, held func()) error
	// bare: it takes no context.
	bare bool
}

var (
	boolean = []standin.FaultKind{standin.Exception, standin.No, standin.NoError, standin.YesError, standin.Hang}
	factory = []standin.FaultKind{standin.Exception, standin.Nil, standin.Hang}
)

// stages lists the calls of the framework that can fail.
func stages() []stage {
	return []stage{
		{name: "descriptor", selector: selText, faults: factory, try: compiling},
		{name: "model", selector: selModel, faults: factory, try: compiling},
		{name: "compile", selector: selCompile, faults: boolean, try: compiling},
		{name: "load", selector: selLoad, faults: boolean, try: compiling},
		{name: "unload", selector: selUnload, faults: boolean, try: unloading},
		{name: "surface", selector: selSurface, faults: factory, try: binding, bare: true},
		{name: "request", selector: selRequest, faults: factory, try: binding, bare: true},
		{name: "evaluate", selector: selEvaluate, faults: boolean, try: evaluating},
	}
}

// fresh numbers programs that no cache knows.
var fresh = func() func() int { n := 1000; return func() int { n++; return n } }()

// refusals is how often a call has to fail until the engine gives up: a load is tried twice.
func (s stage) refusals(kind standin.FaultKind) int {
	if s.selector == selLoad && (kind == standin.No || kind == standin.NoError) {
		return 2
	}
	return 1
}

// compiling compiles a program that is new.
func compiling(ctx context.Context, e *apple.Engine, _ func()) error {
	x, err := e.Compile(ctx, ane.Source{File: "new.mil", Text: text(fresh())})
	if err != nil {
		return err
	}
	return x.Close()
}

// prepared compiles and binds a program, and gives it to f.
func prepared(e *apple.Engine, held func(), f func(ane.Executable, func() (ane.Invocation, error)) error) (err error) {
	x, err := e.Compile(context.Background(), ane.Source{File: "old.mil", Text: text(1)})
	if err != nil {
		return fmt.Errorf("before the fault: %w", err)
	}
	var blocks []*unimem.Block
	defer func() {
		err = errors.Join(err, x.Close())
		for _, b := range blocks {
			err = errors.Join(err, closed(b, held))
		}
	}()
	bind := func() (ane.Invocation, error) {
		var tensors []*ane.Tensor
		for _, l := range append(x.Inputs(), x.Outputs()...) {
			b, err := unimem.Open(l.Bytes())
			if err != nil {
				return nil, err
			}
			blocks = append(blocks, b)
			t, err := ane.OnBlock(b, l)
			if err != nil {
				return nil, err
			}
			tensors = append(tensors, t)
		}
		return x.Prepare(tensors[:1], tensors[1:])
	}
	return f(x, bind)
}

// closed closes b. Where a call that was given up holds it, closed calls held and waits.
func closed(b *unimem.Block, held func()) error {
	err := b.Close()
	if errors.Is(err, unimem.ErrInUse) {
		held()
		await.Poll(func() bool { err = b.Close(); return !errors.Is(err, unimem.ErrInUse) })
	}
	return err
}

func unloading(ctx context.Context, e *apple.Engine, held func()) error {
	return prepared(e, held, func(x ane.Executable, _ func() (ane.Invocation, error)) error { return x.Unload(ctx) })
}

func binding(_ context.Context, e *apple.Engine, held func()) error {
	return prepared(e, held, func(_ ane.Executable, bind func() (ane.Invocation, error)) error {
		v, err := bind()
		if err != nil {
			return err
		}
		return v.Close()
	})
}

func evaluating(ctx context.Context, e *apple.Engine, held func()) error {
	return prepared(e, held, func(_ ane.Executable, bind func() (ane.Invocation, error)) error {
		v, err := bind()
		if err != nil {
			return fmt.Errorf("before the fault: %w", err)
		}
		return errors.Join(v.Evaluate(ctx), v.Close())
	})
}

// kinds pairs faults with what the bridge has to call them.
var kinds = map[standin.FaultKind]objcbridge.Kind{
	standin.Exception: objcbridge.KindException,
	standin.Nil:       objcbridge.KindNil,
	standin.No:        objcbridge.KindNo,
	standin.NoError:   objcbridge.KindNSError,
	standin.YesError:  objcbridge.KindContradiction,
}

// impatient is an engine whose calls without a context do not wait for one that hangs. A
// busy machine may take longer for others too, so these go to another engine.
func impatient(t *testing.T) *apple.Engine {
	return open(t, func(c *apple.Config) { c.Patience = 200 * time.Millisecond })
}

// never is for calls that leave nothing held.
func never() {}

// Every fault of every call arrives as a typed error within its deadline, and the
// next call works.
func TestFaultTable(t *testing.T) {
	f := framework(t)
	for _, s := range stages() {
		for _, kind := range s.faults {
			t.Run(s.name+"/"+kind.String(), func(t *testing.T) {
				e := open(t)
				require.NoError(t, s.try(t.Context(), e, never), "without the fault")
				ctx, faulted := t.Context(), e
				switch {
				case kind == standin.Hang && s.bare:
					faulted = impatient(t)
				case kind == standin.Hang:
					ctx = hanging(t, f, 1)
				}
				const code = 6
				require.NoError(t, f.Fault(s.selector, kind, s.refusals(kind), code))
				err := s.try(ctx, faulted, f.ReleaseHangs)
				f.ClearFaults()
				require.Error(t, err)
				if kind == standin.Hang {
					require.ErrorIs(t, err, ane.ErrDeadline)
					require.ErrorIs(t, err, context.DeadlineExceeded)
				} else {
					var b *objcbridge.Error
					require.ErrorAs(t, err, &b)
					require.Equal(t, kinds[kind], b.Kind, "%v", err)
					var typed *ane.Error
					require.ErrorAs(t, err, &typed)
					if kind == standin.NoError || kind == standin.YesError {
						require.EqualValues(t, code, b.Code)
						require.NotEmpty(t, b.Domain)
					}
					if kind == standin.Exception {
						require.NotEmpty(t, b.Exception)
						require.NotEmpty(t, b.Message)
					}
				}
				require.NoError(t, s.try(t.Context(), faulted, never), "the next call")
			})
		}
	}
}
