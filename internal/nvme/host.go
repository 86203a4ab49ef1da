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
	// ErrFatal: the controller has ended (CSTS.CFS), such as after a fault at a queue.
	ErrFatal = errors.New("nvme: the controller has ended")
	// ErrHostClosed: use after Close.
	ErrHostClosed = errors.New("nvme: the host is closed")
	// ErrOutstanding: a command that has not completed although its time is over. The device may still access
	// the memory of its data.
	ErrOutstanding = errors.New("nvme: the command is still running")
)

// tick is how often a waiting call looks for a controller that has ended.
const tick = 20 * time.Millisecond

// Memory is memory of the host that the device reaches at an address. Both begin at a page of the device.
type Memory struct {
	Bytes []byte
	At    uint64
}

// Pages of the memory that a Host needs, of HostPage bytes each: four queues, data of administration, and lists.
const (
	HostPage  = 16 << 10
	listSize  = 4 << 10 // of a command: PRP entries of MaxTransfer in pages of 4 KiB, and one more
	Depth     = 32      // commands of a Host at a time
	HostPages = 5 + Depth*listSize/HostPage
)

// Host drives a controller: one I/O queue pair, Depth commands at a time.
type Host struct {
	c       *Controller
	pages   []Memory // HostPages
	page    uint64   // CC.MPS
	wake    chan struct{}
	stop    chan struct{}
	stopped sync.WaitGroup
	slots   chan int // free lists

	mu     sync.Mutex
	queues [2]pair // administration, I/O
	closed bool

	Sector int
	Blocks uint64
}

// pair is a queue pair as the host sees it.
type pair struct {
	sq, cq  []byte
	id      uint32
	size    uint32
	tail    uint32
	head    uint32 // of the completions
	taken   uint32 // of the submissions, by the controller
	phase   bool
	next    uint16
	waiting map[uint16]chan Completion
	room    chan struct{} // closed and replaced when entries become free
	unknown int           // completions of no command
}

// Interrupt returns the function for Config.Interrupt of the controller that Start gets.
func (h *Host) Interrupt(uint16) {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// NewHost makes a Host, which Start connects.
func NewHost() *Host { return &Host{wake: make(chan struct{}, 1), stop: make(chan struct{})} }

// Start enables c and makes the queues in pages, each of HostPage bytes, HostPages of them. pageShift is the
// memory page, CC.MPS: 0 for 4 KiB, 2 for 16 KiB. After an error the caller calls Close.
func (h *Host) Start(ctx context.Context, c *Controller, pages []Memory, pageShift uint32) error {
	if len(pages) < HostPages {
		return fmt.Errorf("nvme: %d pages of %d", len(pages), HostPages)
	}
	h.c, h.pages, h.page = c, pages, 4096<<pageShift
	const entries = 64
	h.queues[0] = newPair(0, entries, pages[0].Bytes, pages[1].Bytes)
	h.queues[1] = newPair(1, 4*entries, pages[2].Bytes, pages[3].Bytes)
	h.slots = make(chan int, Depth)
	for i := range Depth {
		h.slots <- i
	}
	h.stopped.Go(h.reap)
	c.Write32(regCC, 0)
	c.Write32(regAQA, (entries-1)<<16|(entries-1))
	for reg, at := range map[uint32]uint64{regASQ: pages[0].At, regACQ: pages[1].At} {
		c.Write32(reg, uint32(at))
		c.Write32(reg+4, uint32(at>>32))
	}
	c.Write32(regCC, enable|pageShift<<7|6<<16|4<<20)
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
	if _, err := h.admin(ctx, Command{Opcode: SetFeatures, Words: [6]uint32{numberQueues}}, nil); err != nil {
		return err
	}
	last := uint32(4*entries-1)<<16 | 1
	if _, err := h.admin(ctx, Command{Opcode: CreateCQ, Words: [6]uint32{last, 3}}, &pages[3]); err != nil {
		return err
	}
	if _, err := h.admin(ctx, Command{Opcode: CreateSQ, Words: [6]uint32{last, 1<<16 | 1}}, &pages[2]); err != nil {
		return err
	}
	if _, err := h.admin(ctx, Command{Opcode: Identify, Namespace: 1}, &pages[4]); err != nil {
		return err
	}
	x := pages[4].Bytes
	h.Blocks = le.Uint64(x)
	h.Sector = 1 << (le.Uint32(x[128+4*int(x[26]&15):]) >> 16 & 0xff)
	return nil
}

func newPair(id, size uint32, sq, cq []byte) pair {
	clear(cq) // the phase of the first round is 1
	return pair{sq: sq, cq: cq, id: id, size: size, phase: true, waiting: map[uint16]chan Completion{},
		room: make(chan struct{})}
}

// admin runs a command of administration whose data begins at a page.
func (h *Host) admin(ctx context.Context, c Command, data *Memory) (Completion, error) {
	if data != nil {
		le.PutUint64(c.Data[:], data.At)
	}
	return h.do(ctx, 0, c, true)
}

// Do runs an I/O command as it is, but for its ID, and returns its completion. An error status is the error.
// If ctx ends, Do aborts the command; if it does not end either until patience ends, the error matches
// ErrOutstanding too.
func (h *Host) Do(ctx context.Context, c Command) (Completion, error) { return h.do(ctx, 1, c, true) }

// Admin is Do for a command of administration.
func (h *Host) Admin(ctx context.Context, c Command) (Completion, error) {
	return h.do(ctx, 0, c, true)
}

// patience is how long an aborted command may take.
const patience = 2 * time.Second

func (h *Host) do(ctx context.Context, q int, c Command, abort bool) (Completion, error) {
	id, done, err := h.submit(ctx, q, c)
	if err != nil {
		return Completion{}, err
	}
	x, err := h.wait(ctx, done)
	if err == nil {
		if x.Status != Success {
			return x, x.Status
		}
		return x, nil
	}
	if errors.Is(err, ErrFatal) || errors.Is(err, ErrHostClosed) {
		return x, err
	}
	over, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if abort && q > 0 {
		_, _ = h.do(over, 0, Command{Opcode: AbortCommand, Words: [6]uint32{uint32(id)<<16 | uint32(q)}}, false)
	}
	if _, late := h.wait(over, done); late != nil {
		return x, errors.Join(err, ErrOutstanding)
	}
	return x, err
}

// submit puts a command into a queue and rings.
func (h *Host) submit(ctx context.Context, q int, c Command) (uint16, chan Completion, error) {
	for {
		h.mu.Lock()
		p := &h.queues[q]
		if h.closed {
			h.mu.Unlock()
			return 0, nil, ErrHostClosed
		}
		if (p.tail+1)%p.size != p.taken && len(p.waiting) < int(p.size)-1 {
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
			p.tail = (p.tail + 1) % p.size
			h.c.Write32(doorbell+8*p.id, p.tail)
			h.mu.Unlock()
			return c.ID, done, nil
		}
		room := p.room
		h.mu.Unlock()
		if _, err := h.wait(ctx, room); err != nil {
			return 0, nil, err
		}
	}
}

// wait receives from a channel, unless ctx or the controller ends before.
func (h *Host) wait(ctx context.Context, from any) (x Completion, err error) {
	look := time.NewTicker(tick)
	defer look.Stop()
	done, _ := from.(chan Completion)
	room, _ := from.(chan struct{})
	for {
		select {
		case x = <-done:
			return x, nil
		case <-room:
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
			for i := range h.queues {
				h.collect(&h.queues[i])
			}
			h.mu.Unlock()
		}
	}
}

// collect takes the completions of a queue: entries whose phase bit has the value of this round.
func (h *Host) collect(p *pair) {
	if p.cq == nil {
		return
	}
	var found []Completion
	for {
		var raw [CompletionSize]byte
		if !observe(p.cq[CompletionSize*p.head:][:CompletionSize], p.phase, &raw) {
			break
		}
		var x Completion
		x.Decode(&raw)
		found = append(found, x)
		if p.head++; p.head == p.size {
			p.head, p.phase = 0, !p.phase
		}
		if uint32(x.Head) < p.size {
			p.taken = uint32(x.Head)
		}
	}
	if len(found) == 0 {
		return
	}
	h.c.Write32(doorbell+8*p.id+4, p.head) // after which the race detector knows what the controller has written
	close(p.room)
	p.room = make(chan struct{})
	for _, x := range found {
		if done := p.waiting[x.ID]; done != nil {
			delete(p.waiting, x.ID)
			done <- x
		} else {
			p.unknown++
		}
	}
}

// Span is a run of device addresses that data goes to. It begins at a page, except for the first.
type Span struct{ At, Size uint64 }

// Read reads count sectors from block first on to data, which has as many bytes, with one command: at most
// MaxTransfer. With sgl the command has an SGL, otherwise PRP entries.
func (h *Host) Read(ctx context.Context, first uint64, count int, data []Span, sgl bool) error {
	return h.transfer(ctx, Read, first, count, data, sgl)
}

// Write is Read in the other direction: it writes data to count sectors. They are on the media after Flush.
func (h *Host) Write(ctx context.Context, first uint64, count int, data []Span, sgl bool) error {
	return h.transfer(ctx, Write, first, count, data, sgl)
}

// Flush returns when what completed writes have written is on the media.
func (h *Host) Flush(ctx context.Context) error {
	_, err := h.Do(ctx, Command{Opcode: Flush, Namespace: 1})
	return err
}

// transfer runs one command that moves data.
func (h *Host) transfer(ctx context.Context, opcode uint8, first uint64, count int, data []Span, sgl bool) error {
	if count < 1 || count*h.Sector > MaxTransfer {
		return InvalidField
	}
	var slot int
	select {
	case slot = <-h.slots:
	default:
		select {
		case slot = <-h.slots:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-h.stop:
			return ErrHostClosed
		}
	}
	c := Command{Opcode: opcode, Namespace: 1, Words: [6]uint32{uint32(first), uint32(first >> 32), uint32(count - 1)}}
	list := h.pages[5+slot*listSize/HostPage]
	from := slot * listSize % HostPage
	room := Memory{list.Bytes[from : from+listSize], list.At + uint64(from)}
	var err error
	if sgl {
		err = c.describe(data, room)
	} else {
		err = c.point(data, room, h.page)
	}
	if err == nil {
		_, err = h.Do(ctx, c)
	}
	if !errors.Is(err, ErrOutstanding) { // else the controller may still read the list
		h.slots <- slot
	}
	return err
}

var errSpans = errors.New("nvme: data that the command cannot describe")

// point writes PRP entries for data, those after the second to list.
func (c *Command) point(data []Span, list Memory, page uint64) error {
	var entries []uint64
	for i, s := range data {
		for at := s.At; at < s.At+s.Size; at += page - at%page {
			entries = append(entries, at)
		}
		if i > 0 && s.At%page != 0 || i < len(data)-1 && (s.At+s.Size)%page != 0 {
			return errSpans
		}
	}
	c.Pointer = PRP
	switch n := len(entries); {
	case n == 0 || n > len(list.Bytes)/8:
		return errSpans
	case n > 2:
		for i, at := range entries[1:] {
			le.PutUint64(list.Bytes[8*i:], at)
		}
		le.PutUint64(c.Data[8:], list.At)
	case n == 2:
		le.PutUint64(c.Data[8:], entries[1])
	}
	le.PutUint64(c.Data[:], entries[0])
	return nil
}

// describe writes an SGL for data: one data block, or a last segment in list.
func (c *Command) describe(data []Span, list Memory) error {
	block := func(b []byte, at, n uint64, kind byte) {
		le.PutUint64(b, at)
		le.PutUint32(b[8:], uint32(n))
		copy(b[12:16], []byte{0, 0, 0, kind << 4})
	}
	c.Pointer = SGL
	switch n := len(data); {
	case n == 0 || 16*n > len(list.Bytes):
		return errSpans
	case n == 1:
		block(c.Data[:], data[0].At, data[0].Size, sglData)
	default:
		for i, s := range data {
			block(list.Bytes[16*i:], s.At, s.Size, sglData)
		}
		block(c.Data[:], list.At, uint64(16*n), sglLastSegment)
	}
	return nil
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
