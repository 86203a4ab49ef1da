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

// hanging returns a context whose deadline passes when n calls hang in the framework.
func hanging(t *testing.T, f *standin.Framework, n int64) context.Context {
	return await.DeadlineWhen(t, t.Context(), func() bool { return f.Counts().Hanging >= n })
}

// stuck makes a call that waits for an earlier call that hangs. It increases the deadline
// until the deadline passes during this wait and not before.
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
		require.Less(t, patience, await.Patience, "the call never waited for the hanging one")
	}
}

// stage is one user call that reaches a selector.
type stage struct {
	name     string
	selector string
	faults   []standin.FaultKind
	// try makes the call, alone or after others that it needs. It calls held before it waits
	// for Blocks that an abandoned call holds.
	try func(ctx context.Context, e *apple.Engine, held func()) error
	// bare marks a call without a context.
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

// fresh returns a new number on each call, for programs that are in no cache.
var fresh = func() func() int { n := 1000; return func() int { n++; return n } }()

// refusals is the number of failures after which the engine reports an error. It tries a
// load twice.
func (s stage) refusals(kind standin.FaultKind) int {
	if s.selector == selLoad && (kind == standin.No || kind == standin.NoError) {
		return 2
	}
	return 1
}

// compiling compiles a new program.
func compiling(ctx context.Context, e *apple.Engine, _ func()) error {
	x, err := e.Compile(ctx, ane.Source{File: "new.mil", Text: text(fresh())})
	if err != nil {
		return err
	}
	return x.Close()
}

// prepared compiles a program and calls f with it and a function that binds it.
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

// closed closes b. If an abandoned call holds b, closed calls held and waits.
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

// kinds maps faults to the kinds that the bridge must report.
var kinds = map[standin.FaultKind]string{
	standin.Exception: "exception",
	standin.Nil:       "nil",
	standin.No:        "NO without an error",
	standin.NoError:   "NSError",
	standin.YesError:  "YES together with an error",
}

// impatient has the calls without a context that f makes return soon if one hangs. On a busy machine others may take
// as long.
func impatient(e *apple.Engine, f func() error) error {
	e.SetPatience(200 * time.Millisecond)
	defer e.SetPatience(0) // the default
	return f()
}

// never is the held function of calls that leave no Block held.
func never() {}

// TestFaultTable: every fault of every call returns a typed error within its deadline, and
// the next call succeeds.
func TestFaultTable(t *testing.T) {
	f := framework(t)
	for _, s := range stages() {
		for _, kind := range s.faults {
			t.Run(s.name+"/"+kind.String(), func(t *testing.T) {
				e := open(t)
				require.NoError(t, s.try(t.Context(), e, never), "without the fault")
				ctx := t.Context()
				if kind == standin.Hang && !s.bare {
					ctx = hanging(t, f, 1)
				}
				const code = 6
				require.NoError(t, f.Fault(s.selector, kind, s.refusals(kind), code))
				try := func() error { return s.try(ctx, e, f.ReleaseHangs) }
				var err error
				if kind == standin.Hang && s.bare {
					err = impatient(e, try)
				} else {
					err = try()
				}
				f.ClearFaults()
				require.Error(t, err)
				if kind == standin.Hang {
					require.ErrorIs(t, err, ane.ErrDeadline)
					require.ErrorIs(t, err, context.DeadlineExceeded)
				} else {
					var b *objcbridge.Error
					require.ErrorAs(t, err, &b)
					require.Equal(t, kinds[kind], b.Kind.String(), "%v", err)
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
				require.NoError(t, s.try(t.Context(), e, never), "the next call")
			})
		}
	}
}
