package nvme

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/anekit/anekit/internal/dart"
)

// Registers, by their offset.
const (
	regCAP   = 0x00
	regVS    = 0x08
	regINTMS = 0x0c
	regINTMC = 0x10
	regCC    = 0x14
	regCSTS  = 0x1c
	regAQA   = 0x24
	regASQ   = 0x28
	regACQ   = 0x30
	doorbell = 0x1000 // of queue 0; each queue has two, 4 bytes apart
)

// Bits of CC and CSTS.
const (
	enable   = 1 << 0
	ready    = 1 << 0
	fatal    = 1 << 1
	shutDone = 2 << 2
)

// What this controller has.
const (
	MaxQueues  = 8    // I/O queue pairs
	MaxEntries = 1024 // of a queue
	version    = 0x00010400
	maxPage    = 4 // CC.MPS: 64 KiB
	transfer   = 8 // MDTS: 2^8 pages of 4 KiB
	maxEvents  = 4 // Asynchronous Event Requests
	workers    = 4 // commands that run at a time
)

// MaxTransfer is the most data of one command in bytes.
const MaxTransfer = 4096 << transfer

// Config describes a controller.
type Config struct {
	// Table is where the controller reaches memory.
	Table *dart.Table
	// Media has the blocks of the namespace, which Size bytes are. The last block may be shorter; the rest of it
	// reads as zeros. ReadAt may be called concurrently.
	Media io.ReaderAt
	Size  int64
	// Store, if not nil, takes what the host writes; without it the namespace is write protected. It has the same
	// bytes as Media. WriteAt may be called concurrently.
	Store Store
	// Sector is the logical block in bytes, 512 or 4096.
	Sector int
	// Align, if it is more than 1, is what addresses of memory, offsets and lengths of ReadAt and WriteAt must be
	// multiples of, such as for a file opened with O_DIRECT. The controller moves through memory of its own what is
	// not. With a Store, Size is a multiple too.
	Align int
	// Interrupt is called for a vector after a completion, and must not block.
	Interrupt func(vector uint16)
}

// Store is what a host writes to.
type Store interface {
	io.WriterAt
	Sync() error // returns when all that was written before is on the media
}

// Controller is an NVMe controller. Its methods are its registers; they may be used concurrently.
type Controller struct {
	c      Config
	blocks uint64

	// partial is held by a write through the controller's own memory, which also writes bytes that it has only read;
	// writes straight from the host's memory share it.
	partial sync.RWMutex

	switching sync.Mutex // held while CC is written, also while commands end

	mu       sync.Mutex
	changed  *sync.Cond // a doorbell, a completion, the end
	cc, csts uint32
	aqa      uint32
	asq, acq uint64
	mask     uint32
	subs     [MaxQueues + 1]*submission
	comps    [MaxQueues + 1]*completion
	events   []uint16 // commands that wait for an event
	pending  []uint32 // events without a command
	epoch    *epoch
	stats    Stats
	closed   bool
}

// Stats count what a controller has done.
type Stats struct {
	Commands uint64 // completed, also with errors
	Read     uint64 // bytes that went to the host's memory
	Written  uint64 // bytes that came from it
	Bounced  uint64 // of both, bytes that went through the controller's own memory
}

// epoch is the time from enabling to disabling.
type epoch struct {
	over bool
	wg   sync.WaitGroup
	page uint64
}

// submission is a submission queue.
type submission struct {
	at         uint64
	size       uint32
	head, tail uint32
	to         uint16 // its completion queue
	flying     map[uint16]*flight
	gone       bool
}

// flight is a command that runs.
type flight struct{ aborted bool }

// completion is a completion queue.
type completion struct {
	at         uint64
	size       uint32
	head, tail uint32
	phase      bool
	vector     uint16
	interrupts bool
	users      int
}

// NewController makes a disabled controller.
func NewController(c Config) (*Controller, error) {
	switch {
	case c.Table == nil || c.Media == nil || c.Interrupt == nil:
		return nil, errors.New("nvme: a controller needs a table, media and an interrupt")
	case c.Sector != 512 && c.Sector != 4096:
		return nil, fmt.Errorf("nvme: a sector has 512 or 4096 bytes, not %d", c.Sector)
	case c.Size <= 0:
		return nil, fmt.Errorf("nvme: a namespace of %d bytes", c.Size)
	}
	c.Align = max(c.Align, 1)
	if c.Store != nil && c.Size%int64(c.Align) != 0 {
		return nil, fmt.Errorf("nvme: a namespace of %d bytes cannot be written in units of %d", c.Size, c.Align)
	}
	n := &Controller{c: c, blocks: (uint64(c.Size) + uint64(c.Sector) - 1) / uint64(c.Sector)}
	n.changed = sync.NewCond(&n.mu)
	return n, nil
}

// Blocks is the size of the namespace in sectors.
func (n *Controller) Blocks() uint64 { return n.blocks }

// Stats returns the counters.
func (n *Controller) Stats() Stats {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stats
}

// Read32 reads a register, or half of one. Doorbells and unknown registers read as 0.
func (n *Controller) Read32(reg uint32) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	capability := uint64(MaxEntries-1) | 1<<16 | 20<<24 | 1<<37 | maxPage<<52
	switch reg {
	case regCAP:
		return uint32(capability)
	case regCAP + 4:
		return uint32(capability >> 32)
	case regVS:
		return version
	case regINTMS, regINTMC:
		return n.mask
	case regCC:
		return n.cc
	case regCSTS:
		return n.csts
	case regAQA:
		return n.aqa
	case regASQ, regACQ:
		return uint32(map[uint32]uint64{regASQ: n.asq, regACQ: n.acq}[reg])
	case regASQ + 4, regACQ + 4:
		return uint32(map[uint32]uint64{regASQ + 4: n.asq, regACQ + 4: n.acq}[reg] >> 32)
	}
	return 0
}

// Write32 writes a register, or half of one. Unknown registers ignore it.
func (n *Controller) Write32(reg, v uint32) {
	if reg == regCC {
		n.switching.Lock()
		defer n.switching.Unlock()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	low := func(p *uint64) { *p = *p&^0xffffffff | uint64(v)&^4095 }
	high := func(p *uint64) { *p = *p&0xffffffff | uint64(v)<<32 }
	switch {
	case n.closed:
	case reg == regINTMS:
		n.mask |= v
	case reg == regINTMC:
		n.mask &^= v
	case reg == regCC:
		n.configure(v)
	case n.cc&enable != 0 && reg < doorbell: // the other registers keep their values
	case reg == regAQA:
		n.aqa = v & 0x0fff0fff
	case reg == regASQ:
		low(&n.asq)
	case reg == regASQ+4:
		high(&n.asq)
	case reg == regACQ:
		low(&n.acq)
	case reg == regACQ+4:
		high(&n.acq)
	case reg >= doorbell && n.csts&(ready|fatal) == ready:
		n.ring((reg-doorbell)/4, v)
	}
}

// configure takes a new value of CC. The caller holds the lock, which disabling gives up while commands end.
func (n *Controller) configure(v uint32) {
	before := n.cc
	n.cc = v
	if v>>14&3 != 0 && n.csts&ready != 0 { // a shutdown: nothing here is volatile
		n.csts |= shutDone
	}
	switch {
	case before&enable == 0 && v&enable != 0:
		n.start()
	case before&enable != 0 && v&enable == 0:
		n.stop()
		n.csts = 0
	}
}

// start enables the controller.
func (n *Controller) start() {
	sqs, cqs := n.aqa&0xfff+1, n.aqa>>16&0xfff+1
	mps := n.cc >> 7 & 15
	if n.cc>>4&7 != 0 || mps > maxPage || n.cc>>16&15 != 6 || n.cc>>20&15 != 4 || sqs < 2 || cqs < 2 {
		n.csts |= fatal // a setting that it does not have
		return
	}
	page := uint64(4096) << mps
	if n.asq%page != 0 || n.acq%page != 0 {
		n.csts |= fatal
		return
	}
	n.epoch = &epoch{page: page}
	n.subs[0] = &submission{at: n.asq, size: sqs, flying: map[uint16]*flight{}}
	n.comps[0] = &completion{at: n.acq, size: cqs, phase: true, interrupts: true, users: 1}
	n.csts |= ready
	e := n.epoch
	e.wg.Go(func() { n.administer(e) })
	for range workers {
		e.wg.Go(func() { n.work(e) })
	}
}

// stop ends all queues, and waits for commands that run.
func (n *Controller) stop() {
	e := n.epoch
	if e == nil {
		return
	}
	n.epoch = nil
	e.over = true
	clear(n.subs[:])
	clear(n.comps[:])
	n.events, n.pending = nil, nil
	n.changed.Broadcast()
	n.mu.Unlock()
	e.wg.Wait()
	n.mu.Lock()
}

// die is what the controller does when it cannot reach a queue.
func (n *Controller) die(e *epoch) {
	if n.epoch == e {
		n.csts |= fatal
	}
	e.over = true
	n.changed.Broadcast()
}

// Close disables the controller, for ever, and waits until it accesses nothing.
func (n *Controller) Close() {
	n.switching.Lock()
	defer n.switching.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	n.stop()
}

// ring takes the value of a doorbell: of submission queues the even ones, of completion queues the odd ones.
func (n *Controller) ring(number, v uint32) {
	const badRegister, badValue = 0, 1 << 8 // error events
	queue := number / 2
	if queue > MaxQueues {
		n.event(badRegister)
		return
	}
	if s := n.subs[queue]; number%2 == 0 && s != nil && v < s.size {
		s.tail = v
	} else if c := n.comps[queue]; number%2 == 1 && c != nil && v < c.size && n.within(c, v) {
		c.head = v
	} else if number%2 == 0 && s == nil || number%2 == 1 && c == nil {
		n.event(badRegister)
		return
	} else {
		n.event(badValue)
		return
	}
	n.changed.Broadcast()
}

// within reports whether the host can have read up to entry v.
func (n *Controller) within(c *completion, v uint32) bool {
	return (v+c.size-c.head)%c.size <= (c.tail+c.size-c.head)%c.size
}

// event reports an error to the host.
func (n *Controller) event(info uint32) {
	const page = 1 << 16 // the log page of errors
	if len(n.pending) < maxEvents {
		n.pending = append(n.pending, info|page)
	}
	n.changed.Broadcast()
}

// administer runs commands of administration and reports events until the epoch is over.
func (n *Controller) administer(e *epoch) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for !e.over {
		s := n.subs[0]
		switch {
		case len(n.events) > 0 && len(n.pending) > 0:
			id, info := n.events[0], n.pending[0]
			n.events, n.pending = n.events[1:], n.pending[1:]
			n.complete(e, 0, s, Completion{Result: info, ID: id})
		case s.head != s.tail:
			n.fetch(e, 0, s)
		default:
			n.changed.Wait()
		}
	}
}

// work runs I/O commands until the epoch is over.
func (n *Controller) work(e *epoch) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for !e.over {
		if q, s := n.next(); s != nil {
			n.fetch(e, q, s)
		} else {
			n.changed.Wait()
		}
	}
}

// next finds an I/O queue with a command.
func (n *Controller) next() (uint16, *submission) {
	for q, s := range n.subs {
		if q > 0 && s != nil && s.head != s.tail {
			return uint16(q), s
		}
	}
	return 0, nil
}

// fetch runs one command.
func (n *Controller) fetch(e *epoch, q uint16, s *submission) {
	var raw [CommandSize]byte
	if n.c.Table.Load(s.at+CommandSize*uint64(s.head), raw[:]) != nil {
		n.die(e)
		return
	}
	s.head = (s.head + 1) % s.size
	var c Command
	c.Decode(&raw)
	if c.Fused != 0 {
		n.complete(e, q, s, Completion{ID: c.ID, Status: InvalidField, Final: true})
		return
	}
	if q == 0 {
		n.admin(e, s, &c)
		return
	}
	f := &flight{}
	s.flying[c.ID] = f
	n.mu.Unlock()
	status := n.io(e, &c, f)
	n.mu.Lock()
	if s.flying[c.ID] == f {
		delete(s.flying, c.ID)
	}
	n.complete(e, q, s, Completion{ID: c.ID, Status: status, Final: status != Success && status != AbortRequested})
}

// complete posts a completion, as soon as its queue has room.
func (n *Controller) complete(e *epoch, q uint16, s *submission, x Completion) {
	c := n.comps[s.to]
	for !e.over && !s.gone && c != nil && (c.tail+1)%c.size == c.head {
		n.changed.Wait()
		c = n.comps[s.to]
	}
	if e.over || s.gone || c == nil {
		return
	}
	x.Head, x.Queue, x.Phase = uint16(s.head), q, c.phase
	var raw [CompletionSize]byte
	x.Encode(&raw)
	err := n.c.Table.Do(c.at+CompletionSize*uint64(c.tail), CompletionSize, dart.Write, func(mem []byte) error {
		if len(mem) < CompletionSize { // its page ends
			return errors.New("cut")
		}
		publish(mem, &raw)
		return nil
	})
	if err != nil {
		n.die(e)
		return
	}
	if c.tail++; c.tail == c.size {
		c.tail, c.phase = 0, !c.phase
	}
	n.stats.Commands++
	if c.interrupts && (c.vector > 31 || n.mask>>c.vector&1 == 0) {
		n.c.Interrupt(c.vector)
	}
}
