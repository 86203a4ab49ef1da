package hal

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/anekit/anekit/ane"
)

// Mode says how often a CommandBuffer can be submitted.
type Mode int

const (
	// OneShot is for one submission.
	OneShot Mode = iota
	// Reusable is for any number of submissions, several of which may be pending.
	Reusable
)

// CommandBuffer is a recorded sequence of commands. Device.NewCommandBuffer makes one. One goroutine at a time records;
// other methods may be called by any.
type CommandBuffer struct {
	device *Device
	mode   Mode

	mu       sync.Mutex // guards the fields below
	ended    bool
	count    int // commands recorded
	segments []segment
	faults   []error
	refused  error // the result of End
	late     error // of recording after End
	code     *code // encoded by End

	// The mutex of the Device guards the fields below.
	submitted bool
	pending   int
	closed    bool
}

// segment is a recorded command, with what it needs.
type segment struct {
	number int // of the command
	kind   op
	dst    Range
	src    Range    // of a copy
	data   []byte   // of an update; pattern of a fill, 4 bytes
	run    *binding // of a dispatch
	slot   int      // of run in the bindings of the code
	joined int      // commands joined to this one
}

// op is the kind of a command.
type op uint8

const (
	opFill op = iota
	opCopy
	opUpdate
	opDispatch
	opBarrier
)

func (o op) String() string { return [...]string{"fill", "copy", "update", "dispatch", "barrier"}[o] }

// NewCommandBuffer makes an empty CommandBuffer. Errors: ErrClosed, ErrMode for an unknown mode.
func (d *Device) NewCommandBuffer(mode Mode) (*CommandBuffer, error) {
	if err := d.begin("command buffer"); err != nil {
		return nil, err
	}
	defer d.active.Leave()
	if mode != OneShot && mode != Reusable {
		return nil, newError("command buffer", ErrMode, fmt.Sprintf("Mode(%d)", int(mode)), "give OneShot or Reusable")
	}
	c := &CommandBuffer{device: d, mode: mode}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commands[c] = struct{}{}
	return c, nil
}

func (c *CommandBuffer) valid() bool { return c != nil && c.device != nil }

// Fill repeats the pattern, of 1, 2 or 4 bytes, in dst. It begins at dst's first byte and is cut off at its end.
func (c *CommandBuffer) Fill(dst Range, pattern []byte) {
	var p [4]byte
	n := len(pattern)
	for i := range p {
		if n > 0 {
			p[i] = pattern[i%n]
		}
	}
	c.record(segment{kind: opFill, dst: dst, data: p[:]}, func(*segment) error {
		if n != 1 && n != 2 && n != 4 {
			return newError("fill", ErrPattern, fmt.Sprintf("%d bytes", n), "give 1, 2 or 4 bytes")
		}
		return dst.checkTarget(c.device)
	})
}

// Copy copies src to dst, which has the same length and shares no byte with it.
func (c *CommandBuffer) Copy(dst, src Range) {
	c.record(segment{kind: opCopy, dst: dst, src: src}, func(*segment) error {
		err := errors.Join(dst.checkTarget(c.device), src.check(c.device))
		switch {
		case err != nil:
			return err
		case dst.Length != src.Length:
			return lengths("copy", dst.Length, src.Length)
		case dst.shares(src):
			return newError("copy", ErrOverlap,
				fmt.Sprintf("%d bytes at %d and at %d of one memory", dst.Length, dst.Offset, src.Offset),
				"copy by a third range")
		}
		return nil
	})
}

// Update writes data, which has dst's length, to dst. The call copies data.
func (c *CommandBuffer) Update(dst Range, data []byte) {
	c.record(segment{kind: opUpdate, dst: dst, data: bytes.Clone(data)}, func(*segment) error {
		if err := dst.checkTarget(c.device); err != nil {
			return err
		}
		if dst.Length != len(data) {
			return lengths("update", dst.Length, len(data))
		}
		return nil
	})
}

func lengths(op string, dst, src int) error {
	return newError(op, ErrOutOfRange, fmt.Sprintf("%d bytes to %d bytes", src, dst), "give equal lengths")
}

// Dispatch evaluates e in place: in and out have a Range for each name of its inputs and outputs, as long as the Layout
// or longer. Errors are those of ane's Model.Bind: ane.ErrName, ErrUnbound, ErrShort, ErrOffset, ErrAligned, ErrReadOnly,
// ErrAlias.
func (c *CommandBuffer) Dispatch(e *Executable, in, out map[string]Range) {
	c.record(segment{kind: opDispatch}, func(s *segment) (err error) {
		s.run, err = c.bind(e, in, out)
		return err
	})
}

// Barrier ends the joining of neighbors here. Commands take effect in order without it.
func (c *CommandBuffer) Barrier() {
	c.record(segment{kind: opBarrier}, func(*segment) error { return nil })
}

// record appends a command unless check refuses it.
func (c *CommandBuffer) record(s segment, check func(*segment) error) {
	if !c.valid() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		c.late = c.unfit("it was recorded into after End")
		return
	}
	s.number = c.count
	c.count++
	err := c.shut(s.kind.String())
	if err == nil {
		err = check(&s)
	}
	if err != nil {
		c.faults = append(c.faults, &CommandError{s.number, s.kind.String(), err})
		return
	}
	c.segments = append(c.segments, s)
}

// shut returns the error of a closed CommandBuffer or Device.
func (c *CommandBuffer) shut(op string) error {
	c.device.mu.Lock()
	defer c.device.mu.Unlock()
	if c.closed {
		return closed(op, "CommandBuffer", "make a new one")
	}
	return c.device.open(op)
}

// End ends recording and encodes the commands. It joins one *CommandError for each refused command, in order; such a
// CommandBuffer cannot be executed. A repeated End returns the same. After recording past End the error is ErrMode.
func (c *CommandBuffer) End() error {
	if !c.valid() {
		return closed("end", "nil or zero CommandBuffer", "make it by NewCommandBuffer")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.shut("end"); err != nil {
		return err
	}
	if c.ended && c.refused == nil {
		return c.late
	}
	if c.ended {
		return c.refused
	}
	c.ended = true
	if len(c.faults) == 0 {
		c.code = encode(c.segments)
		c.faults = c.code.prepare()
		c.device.stats.merged.Add(int64(c.code.merged))
		c.device.stats.barriers.Add(int64(c.code.barriers))
	}
	c.segments = nil
	c.refused = errors.Join(c.faults...)
	return c.refused
}

func (c *CommandBuffer) unfit(why string) error {
	return newError("execute", ErrMode, why, "record a new CommandBuffer, and call End once")
}

// fit returns what End encoded, or the reason why c cannot be executed now, apart from earlier submissions.
func (c *CommandBuffer) fit(d *Device) (*code, error) {
	switch {
	case !c.valid():
		return nil, closed("execute", "nil or zero CommandBuffer", "make it by NewCommandBuffer")
	case c.device != d:
		return nil, foreign("CommandBuffer")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.ended:
		return nil, c.unfit("it has not been ended")
	case c.refused != nil:
		return nil, c.unfit("End refused it")
	}
	return c.code, c.late
}

// Close frees what End encoded. The error is ErrInUse while a submission with c is pending. Repeating it returns nil.
func (c *CommandBuffer) Close() error {
	if !c.valid() {
		return nil
	}
	d := c.device
	d.mu.Lock()
	if c.closed || c.pending > 0 {
		defer d.mu.Unlock()
		if c.closed {
			return nil
		}
		return inUse("CommandBuffer")
	}
	c.closed = true
	delete(d.commands, c)
	d.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.segments = nil
	if c.code == nil {
		return nil
	}
	var errs []error
	for _, b := range c.code.bindings { // code stays for a call of Execute that has just read it, and is refused
		errs = append(errs, b.close())
	}
	return errors.Join(errs...)
}

func foreign(what string) error {
	return newError("check", ane.ErrForeign, what+" of another Device", "make it on the Device that uses it")
}

// bind checks the Ranges of a Dispatch and returns their binding, the same for equal ones.
func (c *CommandBuffer) bind(e *Executable, in, out map[string]Range) (*binding, error) {
	if err := e.usable(c.device); err != nil {
		return nil, err
	}
	var faults []error
	k := &binding{exec: e}
	k.in = c.match("input", e.in, in, Range.check, &faults)
	k.out = c.match("output", e.out, out, Range.checkTarget, &faults)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	for i := len(c.segments) - 1; i >= 0; i-- { // a loop repeats what is near
		if r := c.segments[i].run; r != nil && r.exec == e && slices.Equal(r.in, k.in) && slices.Equal(r.out, k.out) {
			return r, nil
		}
		if len(c.segments)-i > 64 {
			break
		}
	}
	all := append(slices.Clone(k.in), k.out...)
	for i := len(k.in); i < len(all); i++ {
		for j := range i {
			if all[i].shares(all[j]) {
				faults = append(faults, &ane.Error{Op: "bind", Engine: c.device.info.Name, Err: ane.ErrAlias,
					Name: "output " + e.out[i-len(k.in)].Name, Hint: "use separate memory for every output"})
			}
		}
	}
	return k, errors.Join(faults...)
}

// match returns the bytes of each layout in the given Ranges. It reports every fault.
func (c *CommandBuffer) match(what string, want []ane.Layout, given map[string]Range,
	check func(Range, *Device) error, faults *[]error) []Range {
	info := c.device.info
	note := func(name string, err error, detail, hint string) {
		*faults = append(*faults, &ane.Error{Op: "bind", Engine: info.Name, Name: what + " " + name, Err: err,
			Detail: detail, Hint: hint})
	}
	var found []Range
	var names []string
	for _, l := range want {
		names = append(names, l.Name)
		r, ok := given[l.Name]
		if !ok {
			note(l.Name, ane.ErrUnbound, "", "give a Range of "+l.String())
			continue
		}
		if err := check(r, c.device); err != nil {
			var e *Error // of check, in any case
			if errors.As(err, &e) {
				note(l.Name, e.Err, e.Detail, e.Hint)
			}
			continue
		}
		if n := l.Bytes(); r.Length < n {
			note(l.Name, ane.ErrShort, fmt.Sprintf("program needs %d bytes, Range has %d", n, r.Length),
				"give a longer Range")
		}
		switch {
		case r.Offset != 0 && !info.Offsets:
			note(l.Name, ane.ErrOffset, fmt.Sprintf("starts at byte %d of its memory", r.Offset),
				"give a Range at byte 0: the engine reads every surface from there")
		case r.Offset%ane.RowAlign != 0:
			note(l.Name, ane.ErrAligned, fmt.Sprintf("starts at byte %d of its memory", r.Offset),
				fmt.Sprintf("give an offset that is a multiple of %d", ane.RowAlign))
		}
		found = append(found, Range{r.Buffer, r.Offset, l.Bytes()})
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			note(name, ane.ErrName, "", "the program has "+strings.Join(names, ", "))
		}
	}
	return found
}
