package vulkan

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Command is a Dispatch, a Fill or a Copy.
type Command interface {
	// check refuses a command that does not fit, and lists what it names.
	check(d *Device) ([]named, error)
}

// named is an object with the word for it in messages.
type named struct {
	*object
	what string
}

// Dispatch runs a Kernel.
type Dispatch struct {
	Kernel *Kernel
	// Buffers has a Range for each buffer of the Program. Offsets are multiples of Info.Offset, lengths multiples of 4
	// up to Info.MaxRange. The kernel does not check its accesses. If a Range is too short for the push constants,
	// which is the caller's fault, the kernel may access other bytes of the Buffer.
	Buffers []Range
	Push    []byte // push constants, as many bytes as the Program has
	Groups  [3]int // along x, y and z; see Program.Groups
}

// Fill repeats a word in a Range whose offset and length are multiples of 4.
type Fill struct {
	To   Range
	Word uint32 // in the byte order of the machine
}

// Copy copies a Range to one of the same length that shares no byte with it. Submit refuses Ranges that do, also of two
// Buffers, if their Blocks have the address or the Key of the memory in common.
type Copy struct{ To, From Range }

// submission is work that the queue has.
type submission struct {
	number      uint64
	objects     []*object
	retired     bool
	commands    uint64 // VkCommandPool
	descriptors uint64 // VkDescriptorPool, 0 for none
}

func (s *submission) free(d *Device) {
	d.in.call("vkDestroyCommandPool", d.handle, uintptr(s.commands), 0)
	d.in.call("vkDestroyDescriptorPool", d.handle, uintptr(s.descriptors), 0)
}

// Submit gives work to the queue. Once every wait is reached, the commands run one after another, and each sees what
// those before it wrote. Then the signals are reached. The CPU sees what they wrote once a signal is reached. Without
// commands the waits are passed on to the signals. Submit does not wait for the work.
//
// The queue is in order: work that waits makes later submissions wait too. What the work names stays open until it has
// ended. If ctx ends before the driver has accepted the work, Submit returns its error; the driver may then still run
// it.
//
// Errors: ErrRange, ErrAlignment, ErrReadOnly (a write to memory for reading only), ErrKernel and ErrForeign with the
// number of the command, ErrBackwards (a signal that is not above earlier ones of its Timeline), ErrClosed, ErrLost,
// ErrMemory, ErrDriver.
func (d *Device) Submit(ctx context.Context, waits, signals []Point, commands ...Command) error {
	if d == nil || d.in == nil {
		return closed("submit", "Device")
	}
	commands = slices.Clone(commands)
	var uses []named
	for i, c := range commands {
		var names []named
		var err error
		switch run := c.(type) {
		case Dispatch:
			names, err = run.check(d)
			run.Buffers, run.Push = slices.Clone(run.Buffers), slices.Clone(run.Push) // an abandoned call reads them later
			commands[i] = run
		case Fill, Copy:
			names, err = c.check(d)
		default:
			err = newError("submit", ErrClosed, "", "it is not a Dispatch, a Fill or a Copy")
		}
		var e *Error
		if errors.As(err, &e) {
			e.Hint = fmt.Sprintf("command %d: %s", i, e.Hint)
			return e
		}
		uses = append(uses, names...)
	}
	waits, signals = slices.Clone(waits), slices.Clone(signals)
	for _, p := range slices.Concat(waits, signals) {
		if p.Timeline == nil || p.Timeline.device == nil {
			return closed("submit", "Timeline of a Point")
		}
		if p.Timeline.device != d {
			return newError("submit", ErrForeign, "", "use a Timeline of this Device")
		}
		uses = append(uses, named{&p.Timeline.object, "Timeline"})
	}
	d.retire()
	if ctx == nil {
		ctx = context.Background()
	}
	_, err := onDevice(ctx, d, "submit", func() (struct{}, error) {
		return struct{}{}, d.enqueue(ctx, uses, waits, signals, commands)
	}, nil)
	return err
}

// enqueue records the commands and gives them to the queue.
func (d *Device) enqueue(ctx context.Context, uses []named, waits, signals []Point, commands []Command) (err error) {
	select {
	case d.sending <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-d.sending }()
	s := &submission{}
	d.mu.Lock()
	err = d.usable("submit")
	for _, u := range uses {
		if err != nil {
			break
		}
		if err = u.hold("submit", u.what); err == nil {
			s.objects = append(s.objects, u.object)
		}
	}
	s.number = d.done.last + 1
	var before []uint64 // values of the Timelines of signals
	signals = append([]Point{{d.done, s.number}}, signals...)
	for _, p := range signals {
		if err != nil {
			break
		}
		last := p.Timeline.last
		if err = p.Timeline.promise("submit", p.Value); err == nil {
			before = append(before, last)
		}
	}
	d.mu.Unlock()
	if err == nil {
		err = d.send(s, waits, signals, commands)
	}
	if err == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range slices.Backward(before) {
		signals[i].Timeline.unpromise(signals[i].Value, before[i])
	}
	if s.retired { // since the device is lost
		return err
	}
	d.pending = slices.DeleteFunc(d.pending, func(p *submission) bool { return p == s })
	for _, o := range s.objects {
		o.uses--
	}
	s.free(d)
	return err
}

// send records and submits; the caller has sent to sending.
func (d *Device) send(s *submission, waits, signals []Point, commands []Command) error {
	var a arena
	defer a.free()
	buffer, err := d.record(&a, s, commands)
	if err != nil {
		return err
	}
	var waitFor, signal, waitValues, signalValues []uint64
	stages := make([]uint32, len(waits))
	for i, p := range waits {
		waitFor, waitValues = append(waitFor, p.Timeline.semaphore), append(waitValues, p.Value)
		stages[i] = stepAll
	}
	for _, p := range signals {
		signal, signalValues = append(signal, p.Timeline.semaphore), append(signalValues, p.Value)
	}
	// The first batch signals that the work has ended, and the second one the Points: when a caller sees one, the work
	// counts as ended.
	values := []timelineSubmit{
		{sType: typeTimelineSubmit, waitCount: uint32(len(waitFor)), waits: putAll(&a, waitValues), signalCount: 1,
			signals: putAll(&a, signalValues[:1])},
		{sType: typeTimelineSubmit, signalCount: uint32(len(signal) - 1), signals: putAll(&a, signalValues[1:])}}
	batches := []submitInfo{
		{sType: typeSubmit, next: put(&a, &values[0]), waitCount: uint32(len(waitFor)), waits: putAll(&a, waitFor),
			waitStages: putAll(&a, stages), signalCount: 1, signals: putAll(&a, signal[:1])},
		{sType: typeSubmit, next: put(&a, &values[1]), signalCount: uint32(len(signal) - 1),
			signals: putAll(&a, signal[1:])}}
	if buffer != 0 {
		batches[0].commandCount, batches[0].commands = 1, put(&a, &buffer)
	}
	// It is pending before the GPU can end it, so that a caller that sees its signals finds its objects unused.
	d.mu.Lock()
	d.pending = append(d.pending, s)
	d.mu.Unlock()
	return d.do("submit", "vkQueueSubmit", d.queue, uintptr(len(batches)), putAll(&a, batches), 0)
}

// record writes the commands to a command buffer; 0 for none.
func (d *Device) record(a *arena, s *submission, commands []Command) (buffer uintptr, err error) {
	if len(commands) == 0 {
		return 0, nil
	}
	var sets, descriptors uint32
	for _, c := range commands {
		if run, ok := c.(Dispatch); ok {
			sets, descriptors = sets+1, descriptors+uint32(run.Kernel.program.Buffers)
		}
	}
	pool := commandPool{sType: typeCommandPool, family: d.family}
	if err := d.do("submit", "vkCreateCommandPool", d.handle, put(a, &pool), 0, put(a, &s.commands)); err != nil {
		return 0, err
	}
	allocate := commandAllocate{sType: typeCommandAllocate, pool: s.commands, count: 1}
	if err := d.do("submit", "vkAllocateCommandBuffers", d.handle, put(a, &allocate), put(a, &buffer)); err != nil {
		return 0, err
	}
	if sets > 0 {
		size := poolSize{descriptorStorageBuffer, descriptors}
		info := descriptorPool{sType: typeDescriptorPool, maxSets: sets, sizeCount: 1, sizes: put(a, &size)}
		if err := d.do("submit", "vkCreateDescriptorPool", d.handle, put(a, &info), 0, put(a, &s.descriptors)); err != nil {
			return 0, err
		}
	}
	begin := commandBegin{sType: typeCommandBegin, flags: oneTimeSubmit}
	if err := d.do("submit", "vkBeginCommandBuffer", buffer, put(a, &begin)); err != nil {
		return 0, err
	}
	// What the CPU wrote before it signaled a wait is visible to the first command.
	d.order(a, buffer, stepHost, stepAll, accessHostWrite, accessRead|accessWrite)
	for _, c := range commands {
		switch c := c.(type) {
		case Fill:
			d.in.call("vkCmdFillBuffer", buffer, uintptr(c.To.Buffer.buffer), uintptr(c.To.Offset), uintptr(c.To.Length),
				uintptr(c.Word))
		case Copy:
			region := copyRegion{uint64(c.From.Offset), uint64(c.To.Offset), uint64(c.To.Length)}
			d.in.call("vkCmdCopyBuffer", buffer, uintptr(c.From.Buffer.buffer), uintptr(c.To.Buffer.buffer), 1, put(a, &region))
		case Dispatch:
			if err := d.dispatch(a, s, buffer, c); err != nil {
				return 0, err
			}
		}
		// Commands that follow see what this one wrote, and so does the CPU.
		d.order(a, buffer, stepAll, stepAll|stepHost, accessWrite, accessRead|accessWrite|accessHostRead)
	}
	return buffer, d.do("submit", "vkEndCommandBuffer", buffer)
}

// order records a barrier for all memory.
func (d *Device) order(a *arena, buffer uintptr, before, after, wrote, access uint32) {
	barrier := memoryBarrier{sType: typeMemoryBarrier, from: wrote, to: access}
	d.in.call("vkCmdPipelineBarrier", buffer, uintptr(before), uintptr(after), 0, 1, put(a, &barrier), 0, 0, 0, 0)
}

func (d *Device) dispatch(a *arena, s *submission, buffer uintptr, c Dispatch) error {
	var set uint64
	allocate := descriptorAllocate{sType: typeDescriptorAllocate, pool: s.descriptors, count: 1,
		layouts: put(a, &c.Kernel.sets)}
	if err := d.do("submit", "vkAllocateDescriptorSets", d.handle, put(a, &allocate), put(a, &set)); err != nil {
		return err
	}
	writes := make([]writeDescriptor, len(c.Buffers))
	for i, b := range c.Buffers {
		one := descriptorBuffer{b.Buffer.buffer, uint64(b.Offset), uint64(b.Length)}
		writes[i] = writeDescriptor{sType: typeWriteDescriptor, set: set, binding: uint32(i), count: 1,
			kind: descriptorStorageBuffer, buffers: put(a, &one)}
	}
	d.in.call("vkUpdateDescriptorSets", d.handle, uintptr(len(writes)), putAll(a, writes), 0, 0)
	d.in.call("vkCmdBindPipeline", buffer, bindCompute, uintptr(c.Kernel.pipeline))
	d.in.call("vkCmdBindDescriptorSets", buffer, bindCompute, uintptr(c.Kernel.layout), 0, 1, put(a, &set), 0, 0)
	if len(c.Push) > 0 {
		d.in.call("vkCmdPushConstants", buffer, uintptr(c.Kernel.layout), stageCompute, 0, uintptr(len(c.Push)), putAll(a,
			c.Push))
	}
	d.in.call("vkCmdDispatch", buffer, uintptr(c.Groups[0]), uintptr(c.Groups[1]), uintptr(c.Groups[2]))
	return nil
}

// check checks a Range: its place in the Buffer, and the multiples of its offset and length.
func (r Range) check(d *Device, what string, offset int) (named, error) {
	b := r.Buffer
	refuse := func(kind error, format string, args ...any) (named, error) {
		return named{}, newError("submit", kind, "", what+": "+fmt.Sprintf(format, args...))
	}
	switch {
	case b == nil || b.device == nil:
		return refuse(ErrClosed, "the Buffer is nil or zero")
	case b.device != d:
		return refuse(ErrForeign, "use a Buffer of this Device")
	case r.Offset < 0 || r.Length <= 0 || r.Offset > b.size-r.Length:
		return refuse(ErrRange, "%d bytes from %d on are not in a Buffer of %d", r.Length, r.Offset, b.size)
	case r.Offset%offset != 0 || r.Length%4 != 0:
		return refuse(ErrAlignment, "offset %d is not a multiple of %d, or length %d none of 4", r.Offset, offset,
			r.Length)
	}
	return named{&b.object, "Buffer"}, nil
}

// writable refuses a write to memory for reading only.
func (r Range) writable(what string) error {
	if !r.Buffer.readOnly {
		return nil
	}
	return newError("submit", ErrReadOnly, "", what+" is written: use a Buffer of a Block that may be written to")
}

func (c Fill) check(d *Device) ([]named, error) {
	to, err := c.To.check(d, "To", 4)
	if err == nil {
		err = c.To.writable("To")
	}
	return []named{to}, err
}

func (c Copy) check(d *Device) ([]named, error) {
	to, err := c.To.check(d, "To", 4)
	if err != nil {
		return nil, err
	}
	from, err := c.From.check(d, "From", 4)
	if err != nil {
		return nil, err
	}
	if err := c.To.writable("To"); err != nil {
		return nil, err
	}
	switch {
	case c.To.Length != c.From.Length:
		return nil, newError("submit", ErrRange, "", fmt.Sprintf("%d bytes to %d", c.From.Length, c.To.Length))
	case c.To.shares(c.From):
		return nil, newError("submit", ErrRange, "", "To and From share bytes")
	}
	return []named{to, from}, nil
}

// shares reports whether two Ranges have a byte of memory in common. They may be in one Buffer, in one memory that
// several Blocks map (equal Keys), or at one address of this process, which several Blocks can have.
func (r Range) shares(o Range) bool {
	meet := func(a, b uintptr) bool { return a < b+uintptr(o.Length) && b < a+uintptr(r.Length) }
	a, b := r.Buffer.block, o.Buffer.block
	switch {
	case r.Buffer == o.Buffer, a != nil && b != nil && a.Key() == b.Key():
		return meet(uintptr(r.Offset), uintptr(o.Offset))
	case a == nil || b == nil:
		return false
	}
	return meet(a.Address()+uintptr(r.Offset), b.Address()+uintptr(o.Offset))
}

func (c Dispatch) check(d *Device) ([]named, error) {
	k := c.Kernel
	refuse := func(kind error, format string, args ...any) ([]named, error) {
		return nil, newError("submit", kind, "", fmt.Sprintf(format, args...))
	}
	switch {
	case k == nil || k.device == nil:
		return refuse(ErrClosed, "the Kernel is nil or zero")
	case k.device != d:
		return refuse(ErrForeign, "use a Kernel of this Device")
	case len(c.Buffers) != k.program.Buffers:
		return refuse(ErrKernel, "%s has %d buffers, not %d", k.program.Name, k.program.Buffers, len(c.Buffers))
	case len(c.Push) != k.program.Push:
		return refuse(ErrKernel, "%s has %d bytes of push constants, not %d", k.program.Name, k.program.Push,
			len(c.Push))
	}
	for i, n := range c.Groups {
		if n < 1 || n > int(d.limits.maxGroups[i]) {
			return refuse(ErrKernel, "%d groups along axis %d; give 1 to %d", n, i, d.limits.maxGroups[i])
		}
	}
	names := []named{{&k.object, "Kernel"}}
	for i, r := range c.Buffers {
		n, err := r.check(d, fmt.Sprintf("buffer %d", i), max(d.Offset, 4))
		if err != nil {
			return nil, err
		}
		if r.Length > d.MaxRange {
			return refuse(ErrRange, "buffer %d has %d bytes, %s allows %d", i, r.Length, d.Name, d.MaxRange)
		}
		if !k.reads[i] {
			if err := r.writable(fmt.Sprintf("buffer %d of %s", i, k.program.Name)); err != nil {
				return nil, err
			}
		}
		names = append(names, n)
	}
	return names, nil
}
