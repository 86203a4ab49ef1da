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

// grace is the time that a Driver has to return after its context ends.
const grace = time.Second

// Device is a device that reaches memory by its own addresses.
type Device struct {
	driver  Driver
	timeout time.Duration
	over    func() <-chan time.Time // when a Driver has had its grace
	model   *model                  // of Simulate, else nil

	mu     sync.Mutex
	mapped map[*unimem.Block]*mapping
	closed bool
}

// mapping is a Block that the device reaches. Its channel is closed when the call that makes or removes it
// has ended; the Device's lock guards the rest.
type mapping struct {
	done     chan struct{} // nil while no call works on it
	commands []Command
	segments []Segment
	late     bool // a call of the Driver has not returned; its waiting caller settles
}

// Option configures Open, Simulate and New. An option that does not apply is ignored.
type Option func(*config)

type config struct {
	timeout time.Duration
	size    uint64 // of the addresses of a simulated device
	longest uint64 // of its segments, 0 for any
	sector  int    // of a disk
	sgl     bool
	small   bool
	write   bool // to a disk
}

func configure(opts []Option) config {
	c := config{timeout: patience, size: addressSize, sector: 512}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// Timeout limits each call of the Driver, default 10 s. A call that takes longer is an error that matches
// context.DeadlineExceeded. A Driver that does not return soon after it keeps the Block: Segments and Release of it
// fail until the call returns, and what it has mapped then stays for the next Segments, Release or Close to undo.
func Timeout(d time.Duration) Option {
	return func(c *config) {
		if d > 0 {
			c.timeout = d
		}
	}
}

// New makes a Device that sends its calls to driver, and owns it: Close closes it.
func New(driver Driver, opts ...Option) *Device {
	return &Device{driver: driver, timeout: configure(opts).timeout, mapped: map[*unimem.Block]*mapping{},
		over: func() <-chan time.Time { return time.After(grace) }}
}

// Segments maps all pages of b for the device, unless it has done so before, and returns their device
// addresses in the order of the bytes. The caller owns the slice. The Device retains b until Release or
// Close.
//
// Segments of one call of the driver are at most 32; a Block that needs more takes several calls, and
// Segments returns all of them. After an error nothing is mapped that was not mapped before.
//
// Errors: ErrClosed, unimem.ErrClosed, ErrReadOnly, ErrExhausted, ErrDriver, ErrRefused, unimem.ErrSize (a
// Block, adopted from other memory, that has no whole pages), context.DeadlineExceeded.
func (d *Device) Segments(b *unimem.Block) ([]Segment, error) {
	const op = "segments"
	if b == nil {
		return nil, &Error{Op: op, Offset: -1, Err: unimem.ErrClosed, Hint: "the Block is nil"}
	}
	m, err := d.claim(op, b, true)
	if err != nil {
		return nil, err
	}
	defer d.settle(b, m)
	if m.segments == nil {
		if err := d.prepare(b, m); err != nil {
			return nil, err
		}
	}
	return slices.Clone(m.segments), nil
}

// claim makes the caller the only one that works on the mapping of b until settle. With add it adds a
// mapping without segments where there is none.
func (d *Device) claim(op string, b *unimem.Block, add bool) (*mapping, error) {
	end := time.NewTimer(d.timeout)
	defer end.Stop()
	for {
		d.mu.Lock()
		m := d.mapped[b]
		switch {
		case d.closed:
			d.mu.Unlock()
			return nil, &Error{Op: op, Block: b.ID(), Offset: -1, Err: ErrClosed}
		case m == nil && !add:
			d.mu.Unlock()
			return nil, &Error{Op: op, Block: b.ID(), Offset: -1, Err: ErrNotMapped, Hint: "call Segments first"}
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
			return nil, &Error{Op: op, Block: b.ID(), Offset: -1, Err: ErrRefused, Cause: context.DeadlineExceeded,
				Hint: "another call on this Block has not returned"}
		}
	}
}

// settle ends what claim began, unless a call of the Driver has not returned, and forgets a mapping that has no
// commands.
func (d *Device) settle(b *unimem.Block, m *mapping) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if m.late {
		return
	}
	if len(m.commands) == 0 {
		delete(d.mapped, b)
	}
	close(m.done)
	m.done = nil
}

// prepare maps b. The caller has claimed m.
func (d *Device) prepare(b *unimem.Block, m *mapping) error {
	fail := func(at int, err, cause error, hint string) error {
		return &Error{Op: "segments", Block: b.ID(), Offset: at, Err: err, Cause: cause, Hint: hint}
	}
	size := b.Size()
	switch {
	case b.ReadOnly():
		return fail(-1, ErrReadOnly, nil, "copy it to a Block of Open")
	case size%PageSize != 0:
		return fail(-1, unimem.ErrSize, nil, fmt.Sprintf("%d bytes are not whole pages of %d", size, PageSize))
	}
	if len(m.commands) > 0 { // of a call that failed, or of a Release that was not complete
		if err := d.undo(b, m); err != nil {
			return err
		}
	}
	if err := b.Retain(); err != nil {
		return fail(-1, unimem.ErrClosed, nil, "")
	}
	var all []Segment
	for at := 0; at < size; {
		var segments []Segment
		err := d.call(b, m, func(ctx context.Context) (func(), error) {
			c, s, err := d.driver.Prepare(ctx, b, at)
			return func() { m.commands, segments = append(m.commands, c), s }, err
		})
		if m.late { // the Driver still works on the Block
			return d.driverError("segments", b, at, err)
		}
		if err != nil {
			return errors.Join(d.driverError("segments", b, at, err), d.undo(b, m))
		}
		n, why := judge(segments, size-at)
		all = append(all, segments...)
		if why == "" && n == size-at {
			why = overlap(all)
		}
		if why != "" {
			return errors.Join(fail(at, ErrDriver, nil, why), d.undo(b, m))
		}
		at += n
	}
	if why := d.publish(b, m, all); why != "" {
		return errors.Join(fail(-1, ErrDriver, nil, why), d.undo(b, m))
	}
	return nil
}

// publish makes all the segments of b, or returns which of their addresses belongs to other memory.
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

// call calls the Driver for b with a deadline. The function f returns what has to be done after success. If the
// Driver does not return, m is late until it does. The caller has claimed m.
func (d *Device) call(b *unimem.Block, m *mapping, f func(context.Context) (func(), error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), d.timeout)
	type answer struct {
		succeed func()
		err     error
	}
	answers := make(chan answer, 1)
	go func() {
		defer cancel()
		succeed, err := f(ctx)
		answers <- answer{succeed, err}
	}()
	take := func(a answer) error {
		if a.err == nil {
			a.succeed()
		}
		return a.err
	}
	select {
	case a := <-answers:
		return take(a)
	case <-ctx.Done(): // also after an answer
	}
	select {
	case a := <-answers:
		return take(a)
	case <-d.over():
	}
	m.late = true
	go func() {
		_ = take(<-answers)
		if len(m.commands) == 0 {
			b.Release()
		}
		d.mu.Lock()
		m.late = false
		d.mu.Unlock()
		d.settle(b, m)
	}()
	return context.DeadlineExceeded
}

// judge returns how many bytes the segments of a call cover, or which rule they break. The Block has room
// bytes left.
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

// overlap returns an address that two segments share, empty for none.
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
func (d *Device) driverError(op string, b *unimem.Block, at int, err error) error {
	e := &Error{Op: op, Block: b.ID(), Offset: at, Err: ErrRefused, Cause: err, Hint: hintOf(err)}
	if errors.Is(err, ErrExhausted) {
		e.Err, e.Cause, e.Hint = ErrExhausted, nil, "Release Blocks that the device does not need"
	}
	return e
}

// undo completes the commands of m, the last one first, and releases b if none is left.
func (d *Device) undo(b *unimem.Block, m *mapping) error {
	d.mu.Lock()
	m.segments = nil // they are no longer whole
	d.mu.Unlock()
	for n := len(m.commands); n > 0; n-- {
		c := m.commands[n-1]
		err := d.call(b, m, func(ctx context.Context) (func(), error) {
			return func() { m.commands = m.commands[:n-1] }, d.driver.Complete(ctx, c)
		})
		if err != nil {
			return d.driverError("release", b, -1, err)
		}
	}
	b.Release()
	return nil
}

// Release withdraws what Segments has mapped: the device faults at the addresses of b from now on. It waits
// for accesses that have begun, at most for Timeout; if they take longer, the error matches
// context.DeadlineExceeded, b stays retained, and the caller calls Release again.
//
// Errors: ErrNotMapped, ErrClosed, ErrRefused.
func (d *Device) Release(b *unimem.Block) error {
	if b == nil {
		return &Error{Op: "release", Offset: -1, Err: ErrNotMapped, Hint: "the Block is nil"}
	}
	m, err := d.claim("release", b, false)
	if err != nil {
		return err
	}
	defer d.settle(b, m)
	return d.undo(b, m)
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

// Mapped is the number of Blocks that the device reaches.
func (d *Device) Mapped() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.mapped)
}

// Close closes the Device's disks, releases every Block and closes the Driver, once; repeating it returns nil.
// After an error, such as of an access that does not end, the Device is still open.
func (d *Device) Close() error {
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
	done := make(chan error, 1)
	go func() { done <- d.driver.Close() }()
	end := time.NewTimer(d.timeout)
	defer end.Stop()
	var err error
	select {
	case err = <-done:
	case <-end.C:
		select {
		case err = <-done:
		case <-d.over():
			err = context.DeadlineExceeded
		}
	}
	if err != nil {
		return &Error{Op: "close", Offset: -1, Err: ErrRefused, Cause: err}
	}
	return nil
}
