package hal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/gate"
	"github.com/anekit/anekit/unimem"
)

// Device has the queue, the memory and the programs of one ane.Device. NewDevice makes one, and its caller closes it.
// The zero value is closed.
type Device struct {
	engine *ane.Device
	info   ane.Info
	config config
	queue  Queue
	trace  *Trace
	stats  counters
	closer chan struct{}           // has a token during Close
	active gate.Gate               // submissions that have not ended, and calls that make objects; shut by Close
	life   context.Context         // ends when Close cancels what runs
	cancel context.CancelCauseFunc // of life
	cache  cache

	mu       sync.Mutex // guards the fields below, and the states of Buffers and CommandBuffers
	closing  bool
	closed   bool
	waiting  list // submissions whose batch has not begun
	buffers  map[*Buffer]struct{}
	commands map[*CommandBuffer]struct{}
	parked   []*unimem.Block // closed memory that an abandoned run may still use
}

// Option configures NewDevice.
type Option func(*config)

type config struct {
	tracing, cycles, disk bool
	folder                folder
}

// defaultLimit is the number of programs that a Device keeps without CacheLimit.
const defaultLimit = 64

// Tracing records what Device.Trace writes.
func Tracing() Option { return func(c *config) { c.tracing = true } }

// FindCycles refuses a submission that closes a cycle among those pending with ErrCycle: each awaits the very value
// that the next one signals. It looks at the submissions of all Devices. Of calls on several Devices that close a cycle
// at once, more than one may be refused.
func FindCycles() Option { return func(c *config) { c.cycles = true } }

// CacheLimit is the number of loaded programs that the Device keeps for Prepare, 64 by default. Programs with an open
// Executable stay in any case; of the others the least recently used one is closed first. 0 keeps none. A negative
// number is ErrOutOfRange.
func CacheLimit(programs int) Option {
	return func(c *config) { c.folder.limit = programs }
}

// Stats are counters of a Device since NewDevice.
type Stats struct {
	Submissions int64 // accepted calls of Execute, Alloca and Dealloca
	Commands    int64 // commands of the batches that began, as recorded, barriers too
	Merged      int64 // commands that End joined to their neighbor
	Barriers    int64 // barriers that End encoded
	Polyfills   int64 // fills, copies and updates, as encoded, that the CPU ran
	Compiles    int64 // programs that the engine compiled
	CacheHits   int64 // calls of Prepare that found their program loaded, or compiled by another call
}

type counters struct {
	submissions, commands, merged, barriers, polyfills, compiles, hits atomic.Int64
}

// NewDevice makes a Device on d, which stays the caller's: close it after the Device. Several Devices may share d. The
// error is ErrClosed for a nil or zero d, and ErrOutOfRange for an option.
func NewDevice(d *ane.Device, opts ...Option) (*Device, error) {
	c := config{folder: folder{limit: defaultLimit}}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	if c.folder.limit < 0 {
		return nil, newError("open", ErrOutOfRange, fmt.Sprintf("CacheLimit(%d)", c.folder.limit), "give 0 or more")
	}
	info := d.Info()
	if d == nil || info == (ane.Info{}) {
		return nil, closed("open", "nil or zero ane.Device", "open an engine first")
	}
	n := &Device{engine: d, info: info, config: c, closer: make(chan struct{}, 1),
		buffers: map[*Buffer]struct{}{}, commands: map[*CommandBuffer]struct{}{}}
	n.active.Open()
	n.queue.device = n
	n.trace = newTrace(c.tracing, info.Name)
	n.life, n.cancel = context.WithCancelCause(context.Background())
	n.cache.device = n
	if c.disk {
		if err := os.MkdirAll(c.folder.path, 0o777); err != nil {
			return nil, newError("open", err, "", "give CacheDir a folder that can be made")
		}
		n.active.Enter()
		go n.preload()
	}
	return n, nil
}

// Queue returns the one queue of the Device.
func (d *Device) Queue() *Queue {
	if d == nil {
		return nil
	}
	return &d.queue
}

// Stats returns the counters.
func (d *Device) Stats() Stats {
	if d == nil {
		return Stats{}
	}
	c := &d.stats
	return Stats{Submissions: c.submissions.Load(), Commands: c.commands.Load(), Merged: c.merged.Load(),
		Barriers: c.barriers.Load(), Polyfills: c.polyfills.Load(), Compiles: c.compiles.Load(),
		CacheHits: c.hits.Load()}
}

// Trace returns the record of this Device. It is never nil, and empty without Tracing.
func (d *Device) Trace() *Trace {
	if d == nil || d.trace == nil {
		return &Trace{}
	}
	return d.trace
}

// open returns ErrClosed once Close was called. The caller holds mu.
func (d *Device) open(op string) error {
	if d.closing {
		return d.shut(op)
	}
	return nil
}

func (d *Device) shut(op string) error { return closed(op, "Device", "make a new one by NewDevice") }

// valid reports whether NewDevice made d.
func (d *Device) valid() bool { return d != nil && d.engine != nil }

// Close refuses new work with ErrClosed, fails submissions that have not begun, and waits until those that run have
// ended. When ctx ends first, it cancels them and returns the error of ctx; a later Close continues. Then it closes
// buffers, command buffers, executables and programs that are still open. Repeating it returns nil. The error is that
// of the engine if a program cannot be closed; a later Close tries again.
func (d *Device) Close(ctx context.Context) error {
	if !d.valid() {
		return nil
	}
	ctx = given(ctx)
	d.refuse()
	select {
	case d.closer <- struct{}{}:
	default:
		select {
		case d.closer <- struct{}{}:
		case <-ctx.Done():
			d.cancel(ErrClosed)
			return ctx.Err()
		}
	}
	defer func() { <-d.closer }()
	d.mu.Lock()
	closed := d.closed
	d.mu.Unlock()
	if closed {
		return nil
	}
	err := d.active.Shut(ctx)
	d.cancel(ErrClosed)
	if err != nil {
		return err
	}
	return d.free(ctx)
}

// refuse refuses new work and fails what has not begun.
func (d *Device) refuse() {
	d.mu.Lock()
	d.closing = true
	var all []*submission
	for s := d.waiting.first; s != nil; s = s.next {
		all = append(all, s)
	}
	d.mu.Unlock()
	err := d.shut("execute")
	for _, s := range all {
		s.abort(err)
	}
}

// begin counts one more activity, unless the Device is closing. active.Leave ends it.
func (d *Device) begin(op string) error {
	if !d.valid() {
		return d.shut(op)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.open(op); err != nil {
		return err
	}
	d.active.Enter()
	return nil
}

// free closes what is still open, when nothing runs.
func (d *Device) free(ctx context.Context) error {
	d.mu.Lock()
	buffers := slices.Collect(maps.Keys(d.buffers))
	commands := slices.Collect(maps.Keys(d.commands))
	d.mu.Unlock()
	var errs []error
	for _, c := range commands {
		errs = append(errs, c.Close())
	}
	for _, b := range buffers {
		errs = append(errs, b.Close())
	}
	errs = append(errs, d.cache.close(ctx), d.sweep(ctx))
	err := errors.Join(errs...)
	if err == nil {
		d.mu.Lock()
		d.closed = true
		d.mu.Unlock()
	}
	return err
}

// park closes the memory of a Buffer, or keeps it for a later sweep while a run that the engine has abandoned still
// uses it.
func (d *Device) park(b *unimem.Block) error {
	err := b.Close()
	if errors.Is(err, unimem.ErrInUse) {
		d.mu.Lock()
		d.parked = append(d.parked, b)
		d.mu.Unlock()
		return nil
	}
	return err
}

// sweep closes parked memory. It waits for its last users until ctx ends.
func (d *Device) sweep(ctx context.Context) error {
	for {
		d.mu.Lock()
		all := d.parked
		d.parked = nil
		d.mu.Unlock()
		var errs []error
		for _, b := range all {
			errs = append(errs, d.park(b))
		}
		d.mu.Lock()
		left := len(d.parked)
		d.mu.Unlock()
		if err := errors.Join(errs...); err != nil || left == 0 {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// pause waits before the caller checks an abandoned run again: an engine does not report the end of such a run.
func pause(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Millisecond):
		return nil
	}
}
