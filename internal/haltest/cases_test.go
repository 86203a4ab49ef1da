package haltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/step"
)

// Open opens the engine under test. The suite closes it.
type Open func(ctx context.Context) (*ane.Device, error)

// patience bounds every wait of Run: only a hang reaches it.
const patience = 3 * time.Minute

// Run runs every case as a subtest, FAMILY/NAME: each on a new Device, all on one engine, which can be closed then.
func Run(t *testing.T, open Open, calls Calls) {
	engine, err := open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			if err := c.try(engine, calls, patience); err != nil {
				t.Fatal(err)
			}
		})
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
}

// Failures runs the named cases, each on an engine of its own, and returns the errors of those that fail, by name. A
// case that waits longer than the given duration fails: it is for broken calls, which may hang.
func Failures(open Open, calls Calls, patience time.Duration, names ...string) map[string]error {
	failed := map[string]error{}
	for _, c := range cases() {
		if !slices.Contains(names, c.name) {
			continue
		}
		engine, err := open(context.Background())
		if err == nil {
			err = errors.Join(c.try(engine, calls, patience), engine.Close())
		}
		if err != nil {
			failed[c.name] = err
		}
	}
	return failed
}

// Names lists the cases.
func Names() (names []string) {
	for _, c := range cases() {
		names = append(names, c.name)
	}
	return names
}

// testCase is a case of the suite.
type testCase struct {
	name string
	run  func(*rig)
}

// rig is what a case works with: an open Device, and the calls under test.
type rig struct {
	Calls
	d   *hal.Device
	q   *hal.Queue
	ctx context.Context // of waits that have to end
}

// try runs the case on a new Device and closes it.
func (c testCase) try(engine *ane.Device, calls Calls, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	d, err := hal.NewDevice(engine)
	if err != nil {
		return err
	}
	err = step.Catch(func() { c.run(&rig{Calls: calls, d: d, q: d.Queue(), ctx: ctx}) })
	return errors.Join(err, d.Close(context.Background()))
}

// fail ends the case.
func (r *rig) fail(format string, args ...any) {
	_, file, line, _ := runtime.Caller(2)
	step.NoError(fmt.Errorf("%s:%d: %w", filepath.Base(file), line, fmt.Errorf(format, args...)))
}

// ok ends the case with an error.
func (r *rig) ok(err error) {
	if err != nil {
		r.fail("%w", err)
	}
}

// is ends the case unless err matches every kind.
func (r *rig) is(err error, kinds ...error) {
	for _, k := range kinds {
		if !errors.Is(err, k) {
			r.fail("error is %v, which does not match %v", err, k)
		}
	}
}

// that ends the case unless a fact holds.
func (r *rig) that(holds bool, what string) {
	if !holds {
		r.fail("not true: %s", what)
	}
}

// same ends the case unless bytes are as expected.
func (r *rig) same(got, want []byte) {
	if !bytes.Equal(got, want) {
		r.fail("bytes are %v, want %v", got, want)
	}
}

func at(s *hal.Semaphore, v uint64) []hal.Point { return []hal.Point{{Semaphore: s, Value: v}} }

// both are value 1 of two Semaphores.
func both(s, u *hal.Semaphore) []hal.Point { return append(at(s, 1), at(u, 1)...) }

// buffer makes a Buffer.
func (r *rig) buffer(size int) *hal.Buffer { return step.Must(r.d.NewBuffer(size)) }

// record makes an ended CommandBuffer.
func (r *rig) record(mode hal.Mode, f func(c *hal.CommandBuffer)) *hal.CommandBuffer {
	c := step.Must(r.d.NewCommandBuffer(mode))
	f(c)
	r.ok(r.End(c))
	return c
}

// empty makes a CommandBuffer without commands.
func (r *rig) empty() *hal.CommandBuffer { return r.record(hal.OneShot, func(*hal.CommandBuffer) {}) }

// submit executes command buffers and does not wait.
func (r *rig) submit(waits, signals []hal.Point, c ...*hal.CommandBuffer) {
	r.ok(r.Execute(r.q, context.Background(), waits, signals, c...))
}

// execute runs command buffers and returns what their signal says.
func (r *rig) execute(c ...*hal.CommandBuffer) error {
	s := hal.NewSemaphore(0)
	r.submit(nil, at(s, 1), c...)
	return s.Wait(r.ctx, 1)
}

// now runs commands.
func (r *rig) now(f func(c *hal.CommandBuffer)) { r.ok(r.execute(r.record(hal.OneShot, f))) }

// settle runs other submissions, so that what was started before has most likely happened. Calls that are
// not broken pass in any case.
func (r *rig) settle() {
	for range 20 {
		s := hal.NewSemaphore(0)
		c, err := r.d.NewCommandBuffer(hal.OneShot)
		r.ok(errors.Join(err, c.End()))
		r.ok(r.q.Execute(r.ctx, nil, at(s, 1), c))
		r.ok(s.Wait(r.ctx, 1))
		runtime.Gosched() // lets goroutines run that the two above would overtake
	}
}

// prepare prepares a program that doubles 32 halves, and returns two Buffers for it.
func (r *rig) prepare() (e *hal.Executable, x, y *hal.Buffer) {
	return step.Must(r.Prepare(r.d, r.ctx, ane.Source{Text: []byte(double)})), r.buffer(row), r.buffer(row)
}

// row is the number of bytes of a tensor of double.
const row = 64

const double = `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 1, 1, 32]> x) {
        tensor<fp16, [1, 1, 1, 32]> y = add(x = x, y = x)[name = string("y")];
    } -> (y);
}`

// one, two and four are rows of halves.
func one() []byte  { return halves(0x3C00) }
func two() []byte  { return halves(0x4000) }
func four() []byte { return halves(0x4400) }

func halves(bits uint16) []byte {
	return bytes.Repeat([]byte{byte(bits), byte(bits >> 8)}, row/2)
}

func names(from, to *hal.Buffer) (in, out map[string]hal.Range) {
	return map[string]hal.Range{"x": from.Range(0, row)}, map[string]hal.Range{"y": to.Range(0, row)}
}

// ended returns a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

var errCause = errors.New("cause of the suite")

func cases() []testCase {
	return slices.Concat(semaphores(), threads(), submissions(), hostCalls(), allocas(), transfers(), queues(),
		commandBuffers(), dispatches(), executables())
}
