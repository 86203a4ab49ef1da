package nvme

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Errors of a Host.
var (
	// ErrFatal: the controller has failed (CSTS.CFS), such as after a fault at a queue.
	ErrFatal = errors.New("nvme: the controller has ended")
	// ErrHostClosed: use after Close.
	ErrHostClosed = errors.New("nvme: the host is closed")
	// ErrOutstanding: a command that has not completed although its time is over. The device may still access
	// the memory of its data.
	ErrOutstanding = errors.New("nvme: the command is still running")
	// errFull: more commands of administration than the queue has entries, because none completes.
	errFull = errors.New("nvme: the queue is full")
)

const (
	// tick is how often a waiting call looks for a controller that has failed.
	tick = 20 * time.Millisecond
	// patience is how long an aborted command may take.
	patience = 2 * time.Second
)

// Memory is memory of the host that the device reaches at an address. Both begin at a page of the device.
type Memory struct {
	Bytes []byte
	At    uint64
}

// Pages of the memory that a Host needs, of HostPage bytes each: four queues, data of administration, and lists.
const (
	HostPage  = 16 << 10
	listSize  = 4 << 10 // of a command: PRP entries of MaxTransfer, and one more
	Depth     = 32      // I/O commands of a Host at a time
	HostPages = 5 + Depth*listSize/HostPage
	entries   = 64 // of a queue
)

// Host drives a controller.
type Host struct {
	c       *Controller
	pages   []Memory // HostPages
	wake    chan struct{}
	stop    chan struct{}
	stopped sync.WaitGroup
	slots   chan int // free lists

	mu     sync.Mutex
	pairs  [queues]pair
	closed bool

	Blocks uint64 // sectors of the namespace, after Start
}

// pair is a queue pair as the host sees it.
type pair struct {
	sq, cq  []byte
	id      uint32
	tail    uint32
	head    uint32 // of the completions
	taken   uint32 // of the submissions, by the controller
	phase   bool
	next    uint16
	waiting map[uint16]chan Completion
	unknown int // completions of no command
}

// NewHost makes a Host, which Start connects.
func NewHost() *Host {
	h := &Host{wake: make(chan struct{}, 1), stop: make(chan struct{}), slots: make(chan int, Depth)}
	for i := range Depth {
		h.slots <- i
	}
	return h
}

// Interrupt is Config.Interrupt of the controller that Start gets.
func (h *Host) Interrupt() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Start enables c and makes the queues in mem, HostPages pages of HostPage bytes. After an error the caller calls
// Close.
//
// Errors: ErrFatal, a Status, the cause of ctx.
func (h *Host) Start(ctx context.Context, c *Controller, mem []Memory) error {
	if len(mem) < HostPages {
		return fmt.Errorf("nvme: %d pages of %d", len(mem), HostPages)
	}
	h.c, h.pages = c, mem
	h.pairs[0] = newPair(0, mem[0].Bytes, mem[1].Bytes)
	h.pairs[1] = newPair(1, mem[2].Bytes, mem[3].Bytes)
	h.stopped.Go(h.reap)
	c.Write32(regCC, 0)
	c.Write32(regAQA, (entries-1)<<16|(entries-1))
	for reg, at := range map[uint32]uint64{regASQ: mem[0].At, regACQ: mem[1].At} {
		c.Write32(reg, uint32(at))
		c.Write32(reg+4, uint32(at>>32))
	}
	c.Write32(regCC, enable|entrySizes)
	for c.Read32(regCSTS)&ready == 0 {
		if c.Read32(regCSTS)&fatal != 0 {
			return ErrFatal
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(tick):
		}
	}
	const one, contiguous, interrupts = (entries-1)<<16 | 1, 1, 2
	for _, x := range []struct {
		command Command
		data    uint64
	}{
		{Command{Opcode: SetFeatures, Words: [6]uint32{numberQueues}}, 0},
		{Command{Opcode: CreateCQ, Words: [6]uint32{one, contiguous | interrupts}}, mem[3].At},
		{Command{Opcode: CreateSQ, Words: [6]uint32{one, 1<<16 | contiguous}}, mem[2].At},
		{Command{Opcode: Identify, Namespace: 1}, mem[4].At},
	} {
		le.PutUint64(x.command.Data[:], x.data)
		if _, err := h.do(ctx, 0, x.command); err != nil {
			return err
		}
	}
	h.Blocks = le.Uint64(mem[4].Bytes)
	return nil
}

func newPair(id uint32, sq, cq []byte) pair {
	clear(cq) // the phase of the first round is 1
	return pair{sq: sq, cq: cq, id: id, phase: true, waiting: map[uint16]chan Completion{}}
}

// do runs a command, but for its ID, in a queue, and returns its completion. A status other than Success is the error.
// If ctx ends, do aborts an I/O command; if that does not end either until patience ends, the error matches
// ErrOutstanding too.
func (h *Host) do(ctx context.Context, q int, c Command) (Completion, error) {
	id, done, err := h.submit(q, c)
	if err != nil {
		return Completion{}, err
	}
	x, err := h.wait(ctx, done)
	if err == nil && x.Status != Success {
		return x, x.Status
	}
	if err == nil || errors.Is(err, ErrFatal) || errors.Is(err, ErrHostClosed) {
		return x, err
	}
	if q == 0 {
		return x, errors.Join(err, ErrOutstanding)
	}
	over, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	_, _ = h.do(over, 0, Command{Opcode: AbortCommand, Words: [6]uint32{uint32(id)<<16 | uint32(q)}})
	if _, late := h.wait(over, done); late != nil {
		return x, errors.Join(err, ErrOutstanding)
	}
	return x, err
}

// submit puts a command into a queue and rings. An I/O command has a slot, of which there are fewer than entries.
func (h *Host) submit(q int, c Command) (uint16, chan Completion, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := &h.pairs[q]
	switch {
	case h.closed:
		return 0, nil, ErrHostClosed
	case (p.tail+1)%entries == p.taken || len(p.waiting) >= entries-1:
		return 0, nil, errFull
	}
	for p.waiting[p.next] != nil {
		p.next++
	}
	c.ID = p.next
	p.next++
	done := make(chan Completion, 1)
	p.waiting[c.ID] = done
	var raw [CommandSize]byte
	c.Encode(&raw)
	copy(p.sq[CommandSize*p.tail:], raw[:])
	p.tail = (p.tail + 1) % entries
	h.c.Write32(doorbell+8*p.id, p.tail)
	return c.ID, done, nil
}

// wait receives a completion, unless ctx or the controller ends before.
func (h *Host) wait(ctx context.Context, done chan Completion) (x Completion, err error) {
	look := time.NewTicker(tick)
	defer look.Stop()
	for {
		select {
		case x = <-done:
			return x, nil
		case <-ctx.Done():
			return x, context.Cause(ctx)
		case <-h.stop:
			return x, ErrHostClosed
		case <-look.C:
			if h.c.Read32(regCSTS)&fatal != 0 {
				return x, ErrFatal
			}
		}
	}
}

// reap takes completions until Close.
func (h *Host) reap() {
	for {
		select {
		case <-h.stop:
			return
		case <-h.wake:
			h.mu.Lock()
			for i := range h.pairs {
				h.collect(&h.pairs[i])
			}
			h.mu.Unlock()
		}
	}
}

// collect takes the completions of a queue: entries whose phase bit has the value of this round.
func (h *Host) collect(p *pair) {
	var found []Completion
	for {
		var raw [CompletionSize]byte
		if !observe(p.cq[CompletionSize*p.head:][:CompletionSize], p.phase, &raw) {
			break
		}
		var x Completion
		x.Decode(&raw)
		found = append(found, x)
		if p.head++; p.head == entries {
			p.head, p.phase = 0, !p.phase
		}
		if x.Head < entries {
			p.taken = uint32(x.Head)
		}
	}
	if len(found) == 0 {
		return
	}
	h.c.Write32(doorbell+8*p.id+4, p.head) // after which the race detector knows what the controller has written
	for _, x := range found {
		if done := p.waiting[x.ID]; done != nil {
			delete(p.waiting, x.ID)
			done <- x
		} else {
			p.unknown++
		}
	}
}

// Read reads count sectors from block first on to data, which has as many bytes, with one command: at most
// MaxTransfer.
//
// Errors: ErrFatal, ErrHostClosed, a Status, and the cause of ctx, with ErrOutstanding if the command still runs.
func (h *Host) Read(ctx context.Context, first uint64, count int, data []Span) error {
	return h.transfer(ctx, Read, first, count, data)
}

// Write is Read in the other direction: it writes data to count sectors. They are on the media after Flush.
func (h *Host) Write(ctx context.Context, first uint64, count int, data []Span) error {
	return h.transfer(ctx, Write, first, count, data)
}

// Flush returns when what completed writes have written is on the media. Errors: those of Read.
func (h *Host) Flush(ctx context.Context) error {
	return h.run(ctx, Command{Opcode: Flush, Namespace: 1}, nil)
}

// transfer runs one command that moves data.
func (h *Host) transfer(ctx context.Context, opcode uint8, first uint64, count int, data []Span) error {
	if count < 1 || count > MaxTransfer/Sector {
		return InvalidField
	}
	return h.run(ctx, Command{Opcode: opcode, Namespace: 1,
		Words: [6]uint32{uint32(first), uint32(first >> 32), uint32(count - 1)}}, data)
}

// run runs an I/O command in a slot of its own. Flush has no data.
func (h *Host) run(ctx context.Context, c Command, data []Span) error {
	var slot int
	select {
	case slot = <-h.slots:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.stop:
		return ErrHostClosed
	}
	var err error
	if c.Opcode != Flush {
		list := h.pages[5+slot*listSize/HostPage]
		from := slot * listSize % HostPage
		err = c.point(data, Memory{list.Bytes[from : from+listSize], list.At + uint64(from)})
	}
	if err == nil {
		_, err = h.do(ctx, 1, c)
	}
	if !errors.Is(err, ErrOutstanding) { // else the controller may still read the list
		h.slots <- slot
	}
	return err
}

// Close disables the controller: when it returns, the device accesses no memory. Calls in flight end with
// ErrHostClosed.
func (h *Host) Close() {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return
	}
	h.closed = true
	h.mu.Unlock()
	close(h.stop)
	if h.c != nil {
		h.c.Close()
	}
	h.stopped.Wait()
}
