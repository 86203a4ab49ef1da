package dma

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/anekit/anekit/unimem"
)

// patience is the default of Timeout.
const patience = 10 * time.Second

// Device is a device that reaches memory by its own addresses. All methods are safe for concurrent use.
type Device struct {
	driver  Driver
	timeout time.Duration
	grace   time.Duration
	model   *model // of Simulate, else nil
	late    late

	mu     sync.Mutex
	mapped map[*unimem.Block]*mapping
	closed bool
}

// mapping is a Block that the device reaches. The call that maps or unmaps the Block owns it: done is open until that
// call ends, even if its caller has given up. The Device's lock guards done, and segments against other calls.
type mapping struct {
	done     chan struct{} // nil while no call owns the mapping
	commands []Command
	segments []Segment
}

// Option configures Open, Simulate, New and OpenDisk. An option that does not apply is ignored.
type Option func(*config)

type config struct {
	timeout time.Duration
	size    uint64 // of the addresses of a simulated device
	longest uint64 // of its segments, 0 for any; tests set it
	write   bool   // to a disk
}

func configure(opts []Option) config {
	c := config{timeout: patience, size: addressSize}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// Timeout limits Segments, Release, and the Driver's part of Close; the default is 10 s. A call that takes longer
// returns an error that matches context.DeadlineExceeded. If the Driver itself returns late, the Device retains the
// Block until then, and other calls for the Block fail. What a late Segments has mapped is unmapped.
func Timeout(d time.Duration) Option {
	return func(c *config) {
		if d > 0 {
			c.timeout = d
		}
	}
}

// New makes a Device that sends its calls to driver, and owns it: Close closes it.
func New(driver Driver, opts ...Option) *Device {
	return &Device{driver: driver, timeout: configure(opts).timeout, grace: grace,
		mapped: map[*unimem.Block]*mapping{}}
}

// Segments maps all pages of b for the device, unless it has done so before, and returns their device
// addresses in the order of the bytes. The caller owns the slice. The Device retains b until Release or
// Close. After an error nothing is mapped that was not mapped before.
//
// Errors: ErrClosed (or d has no Driver), unimem.ErrClosed, ErrReadOnly, ErrExhausted, ErrDriver, unimem.ErrSize (b was
// adopted from other memory and has no whole pages), and ErrRefused with the Driver's error or
// context.DeadlineExceeded.
func (d *Device) Segments(b *unimem.Block) ([]Segment, error) {
	const op = "segments"
	if b == nil {
		return nil, failure(op, nil, -1, unimem.ErrClosed, nil, "the Block is nil")
	}
	m, err := d.claim(op, b, true)
	if err != nil {
		return nil, err
	}
	if m.segments != nil {
		defer d.settle(b, m)
		return slices.Clone(m.segments), nil
	}
	return d.run(op, b, m, func(ctx context.Context) ([]Segment, error) {
		if err := d.prepare(ctx, b, m); err != nil {
			return nil, err
		}
		return slices.Clone(m.segments), nil
	})
}

// claim makes the caller the owner of the mapping of b until settle. With add it adds an empty mapping where there is
// none.
func (d *Device) claim(op string, b *unimem.Block, add bool) (*mapping, error) {
	if d == nil || d.driver == nil {
		return nil, failure(op, b, -1, ErrClosed, nil, "the Device has no Driver: call Open, Simulate or New")
	}
	end := time.NewTimer(d.timeout)
	defer end.Stop()
	for {
		d.mu.Lock()
		m := d.mapped[b]
		switch {
		case d.closed:
			d.mu.Unlock()
			return nil, failure(op, b, -1, ErrClosed, nil, "")
		case m == nil && !add:
			d.mu.Unlock()
			return nil, failure(op, b, -1, ErrNotMapped, nil, "call Segments first")
		case m == nil:
			m = &mapping{}
			d.mapped[b] = m
			fallthrough
		case m.done == nil:
			m.done = make(chan struct{})
			d.mu.Unlock()
			return m, nil
		}
		done := m.done
		d.mu.Unlock()
		select {
		case <-done:
		case <-end.C:
			return nil, failure(op, b, -1, ErrRefused, context.DeadlineExceeded,
				"another call on this Block has not returned")
		}
	}
}

// settle ends what claim began, and forgets a mapping that has no commands.
func (d *Device) settle(b *unimem.Block, m *mapping) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(m.commands) == 0 {
		delete(d.mapped, b)
	}
	close(m.done)
	m.done = nil
}

// run calls f, which calls the Driver for a claimed mapping, and settles the mapping when f returns. It stops waiting
// when f's deadline and the Driver's grace are over.
func (d *Device) run(op string, b *unimem.Block, m *mapping, f func(context.Context) ([]Segment, error)) ([]Segment,
	error) {
	if err := d.late.begin(context.Background()); err != nil {
		d.settle(b, m)
		return nil, driverError(op, b, -1, err)
	}
	wait, cancel := context.WithTimeout(context.Background(), d.timeout+d.grace)
	defer cancel()
	segments, err := waitFor(wait, &d.late, func() ([]Segment, error) {
		ctx, cancel := context.WithTimeout(context.Background(), d.timeout)
		defer cancel()
		defer d.settle(b, m)
		return f(ctx)
	}, func([]Segment) {})
	var e *Error
	if err != nil && !errors.As(err, &e) { // the end of the wait
		err = driverError(op, b, -1, err)
	}
	return segments, err
}

// prepare maps b. The caller owns m.
func (d *Device) prepare(ctx context.Context, b *unimem.Block, m *mapping) error {
	const op = "segments"
	size := b.Size()
	switch {
	case b.ReadOnly():
		return failure(op, b, -1, ErrReadOnly, nil, "copy it to a Block of Open")
	case size%PageSize != 0:
		return failure(op, b, -1, unimem.ErrSize, nil, fmt.Sprintf("%d bytes are not whole pages of %d", size, PageSize))
	}
	if len(m.commands) > 0 { // an earlier call could not unmap them
		if err := d.undo(b, m); err != nil {
			return err
		}
	}
	if err := b.Retain(); err != nil {
		return failure(op, b, -1, unimem.ErrClosed, nil, "")
	}
	var all []Segment
	for at := 0; at < size; {
		command, segments, err := d.driver.Prepare(ctx, b, at)
		if err == nil {
			m.commands = append(m.commands, command)
			err = context.Cause(ctx) // the caller may have given up
		}
		if err != nil {
			return errors.Join(driverError(op, b, at, err), d.undo(b, m))
		}
		n, why := judge(segments, size-at)
		all = append(all, segments...)
		if why == "" && n == size-at {
			why = overlap(all)
		}
		if why != "" {
			return errors.Join(failure(op, b, at, ErrDriver, nil, why), d.undo(b, m))
		}
		at += n
	}
	if why := d.publish(b, m, all); why != "" {
		return errors.Join(failure(op, b, -1, ErrDriver, nil, why), d.undo(b, m))
	}
	return nil
}

// publish makes all the segments of b. If one of their addresses belongs to other memory, publish says which.
func (d *Device) publish(b *unimem.Block, m *mapping, all []Segment) (why string) {
	sorted := slices.SortedFunc(slices.Values(all), func(a, b Segment) int { return cmp.Compare(a.Address, b.Address) })
	d.mu.Lock()
	defer d.mu.Unlock()
	for other, x := range d.mapped {
		for _, s := range x.segments {
			i, _ := slices.BinarySearchFunc(sorted, s.Address, func(a Segment, at uint64) int {
				return cmp.Compare(a.Address+a.Length, at+1)
			})
			if i < len(sorted) && sorted[i].Address < s.Address+s.Length && other.Key() != b.Key() {
				return fmt.Sprintf("address %#x is of Block %d", max(s.Address, sorted[i].Address), other.ID())
			}
		}
	}
	m.segments = all
	return ""
}

// judge returns how many bytes the segments of one call cover, or which rule they break. room is how many bytes of the
// Block have no segment yet.
func judge(segments []Segment, room int) (n int, why string) {
	switch {
	case len(segments) == 0:
		return 0, "a call returned no segment"
	case len(segments) > MaxSegments:
		return 0, fmt.Sprintf("a call returned %d segments, the most are %d", len(segments), MaxSegments)
	}
	for i, s := range segments {
		switch {
		case s.Length == 0, s.Length%PageSize != 0, s.Address%PageSize != 0:
			return 0, fmt.Sprintf("segment %d, %#x of %d bytes, is not a run of whole pages", i, s.Address, s.Length)
		case s.Address+s.Length < s.Address:
			return 0, fmt.Sprintf("segment %d, %#x of %d bytes, goes beyond the last address", i, s.Address, s.Length)
		case s.Length > uint64(room-n):
			return 0, fmt.Sprintf("segment %d ends after the Block", i)
		}
		n += int(s.Length)
	}
	return n, ""
}

// overlap names an address that two segments share. It is empty if there is none.
func overlap(segments []Segment) (why string) {
	all := slices.Clone(segments)
	slices.SortFunc(all, func(a, b Segment) int { return cmp.Compare(a.Address, b.Address) })
	for i := 1; i < len(all); i++ {
		if all[i].Address < all[i-1].Address+all[i-1].Length {
			return fmt.Sprintf("two segments have address %#x", all[i].Address)
		}
	}
	return ""
}

// driverError makes an Error of what a driver has returned.
func driverError(op string, b *unimem.Block, at int, err error) error {
	if errors.Is(err, ErrExhausted) {
		return failure(op, b, at, ErrExhausted, nil, "Release Blocks that the device does not need")
	}
	return failure(op, b, at, ErrRefused, err, hintOf(err))
}

// undo completes the commands of m, the last one first, and releases b if none is left. It has a Timeout of its own.
// The caller owns m.
func (d *Device) undo(b *unimem.Block, m *mapping) error {
	ctx, cancel := context.WithTimeout(context.Background(), d.timeout)
	defer cancel()
	d.mu.Lock()
	m.segments = nil // they are no longer whole
	d.mu.Unlock()
	for n := len(m.commands); n > 0; n-- {
		if err := d.driver.Complete(ctx, m.commands[n-1]); err != nil {
			return driverError("release", b, -1, err)
		}
		m.commands = m.commands[:n-1]
	}
	b.Release()
	return nil
}

// Release withdraws what Segments has mapped: the device faults at the addresses of b from now on. It waits
// for accesses that have begun, at most for Timeout. If they take longer, the error matches
// context.DeadlineExceeded, b stays retained, and the caller calls Release again.
//
// Errors: ErrNotMapped, ErrClosed, and ErrRefused with the Driver's error or context.DeadlineExceeded.
func (d *Device) Release(b *unimem.Block) error {
	if b == nil {
		return failure("release", nil, -1, ErrNotMapped, nil, "the Block is nil")
	}
	m, err := d.claim("release", b, false)
	if err != nil {
		return err
	}
	_, err = d.run("release", b, m, func(context.Context) ([]Segment, error) { return nil, d.undo(b, m) })
	return err
}

// mappedSegments are the segments of b, nil if it is not mapped.
func (d *Device) mappedSegments(b *unimem.Block) []Segment {
	d.mu.Lock()
	defer d.mu.Unlock()
	if m := d.mapped[b]; m != nil {
		return m.segments
	}
	return nil
}

// Close closes the Device's disks, releases every Block and closes the Driver, once. A repeated Close returns nil, and
// so does Close of a Device without a Driver. If a Block cannot be released, because an access does not end, the Device
// stays open, and the caller calls Close again.
//
// Errors: ErrRefused with the Driver's error or context.DeadlineExceeded.
func (d *Device) Close() error {
	if d == nil || d.driver == nil {
		return nil
	}
	if d.model != nil {
		if err := d.model.end(); err != nil {
			return err
		}
	}
	for {
		d.mu.Lock()
		if d.closed {
			d.mu.Unlock()
			return nil
		}
		var b *unimem.Block
		for b = range d.mapped {
			break
		}
		if b == nil {
			d.closed = true
			d.mu.Unlock()
			return d.closeDriver()
		}
		d.mu.Unlock()
		if err := d.Release(b); err != nil && !errors.Is(err, ErrNotMapped) {
			return err
		}
	}
}

// closeDriver closes the Driver, and does not wait for one that does not return.
func (d *Device) closeDriver() error {
	ctx, cancel := context.WithTimeout(context.Background(), d.timeout+d.grace)
	defer cancel()
	type none struct{}
	_, err := waitFor(ctx, &d.late, func() (none, error) { return none{}, d.driver.Close() }, func(none) {})
	if err != nil {
		return failure("close", nil, -1, ErrRefused, err, "")
	}
	return nil
}
