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
	regCC    = 0x14
	regCSTS  = 0x1c
	regAQA   = 0x24
	regASQ   = 0x28
	regACQ   = 0x30
	doorbell = 0x1000 // of queue 0; each queue has two, 4 bytes apart
)

// Bits of CC and CSTS.
const (
	enable = 1 << 0
	ready  = 1 << 0
	fatal  = 1 << 1
	// entrySizes are the only values of CC.IOSQES and CC.IOCQES: 2^6 and 2^4 bytes. The other settings are 0.
	entrySizes = 6<<16 | 4<<20
)

// What this controller has.
const (
	Sector      = 4096        // bytes of a logical block
	MaxTransfer = 256 * pages // the most data of one command in bytes
	pages       = 4096        // bytes of a memory page
	queues      = 2           // pairs: of administration, of I/O
	maxEntries  = 1024        // of a queue
	version     = 0x00010400
	workers     = 4 // commands that run at a time
)

// Config describes a controller.
type Config struct {
	// Table is where the controller reaches memory.
	Table *dart.Table
	// Media has the Size bytes of the namespace. The last sector may be shorter; the rest of it reads as zeros.
	// ReadAt may be called concurrently.
	Media io.ReaderAt
	Size  int64
	// Store, if not nil, takes what the host writes; without it the namespace is write protected. It has the same
	// bytes as Media. WriteAt may be called concurrently.
	Store Store
	// Interrupt is called after each completion, and must not block.
	Interrupt func()
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

	switching sync.Mutex     // held while CC is written, also while commands end
	running   sync.WaitGroup // the goroutines of an enabled controller

	mu       sync.Mutex
	changed  *sync.Cond // a doorbell, a completion, the end
	cc, csts uint32
	aqa      uint32
	asq, acq uint64
	subs     [queues]*submission
	comps    [queues]*completion
	over     bool // running commands end early, and no others begin
	closed   bool
}

// submission is a submission queue.
type submission struct {
	at         uint64
	size       uint32
	head, tail uint32
	flying     map[uint16]*flight
}

// flight is a command that runs.
type flight struct{ aborted bool }

// completion is a completion queue.
type completion struct {
	at         uint64
	size       uint32
	head, tail uint32
	phase      bool
}

// NewController makes a disabled controller. The error says what a Config lacks.
func NewController(c Config) (*Controller, error) {
	switch {
	case c.Table == nil || c.Media == nil || c.Interrupt == nil:
		return nil, errors.New("nvme: a controller needs a table, media and an interrupt")
	case c.Size <= 0:
		return nil, fmt.Errorf("nvme: a namespace of %d bytes", c.Size)
	}
	n := &Controller{c: c, blocks: (uint64(c.Size) + Sector - 1) / Sector}
	n.changed = sync.NewCond(&n.mu)
	return n, nil
}

// Read32 reads a register, or half of one. Doorbells and unknown registers read as 0.
func (n *Controller) Read32(reg uint32) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	const capability = uint64(maxEntries-1) | 1<<16 | 20<<24 | 1<<37
	switch reg {
	case regCAP:
		return uint32(capability & 0xffffffff)
	case regCAP + 4:
		return uint32(capability >> 32)
	case regVS:
		return version
	case regCC:
		return n.cc
	case regCSTS:
		return n.csts
	case regAQA:
		return n.aqa
	case regASQ:
		return uint32(n.asq)
	case regASQ + 4:
		return uint32(n.asq >> 32)
	case regACQ:
		return uint32(n.acq)
	case regACQ + 4:
		return uint32(n.acq >> 32)
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
	if n.cc != enable|entrySizes || sqs < 2 || cqs < 2 {
		n.csts |= fatal // a setting that it does not have
		return
	}
	n.subs[0] = &submission{at: n.asq, size: sqs, flying: map[uint16]*flight{}}
	n.comps[0] = &completion{at: n.acq, size: cqs, phase: true}
	n.csts |= ready
	n.over = false
	n.running.Go(func() { n.work(0) })
	for range workers {
		n.running.Go(func() { n.work(1) })
	}
}

// stop ends all queues, and waits for commands that run.
func (n *Controller) stop() {
	n.over = true
	clear(n.subs[:])
	clear(n.comps[:])
	n.changed.Broadcast()
	n.mu.Unlock()
	n.running.Wait()
	n.mu.Lock()
}

// die ends a controller that cannot reach a queue.
func (n *Controller) die() {
	n.csts |= fatal
	n.over = true
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

// ring takes the value of a doorbell: of submission queues the even ones, of completion queues the odd ones. A doorbell
// of no queue, or a value that no queue can have, changes nothing.
func (n *Controller) ring(number, v uint32) {
	queue := number / 2
	if queue >= queues {
		return
	}
	if s := n.subs[queue]; number%2 == 0 && s != nil && v < s.size {
		s.tail = v
	}
	if c := n.comps[queue]; number%2 == 1 && c != nil && v < c.size && c.within(v) {
		c.head = v
	}
	n.changed.Broadcast()
}

// within reports whether the host can have read up to entry v.
func (c *completion) within(v uint32) bool {
	return (v+c.size-c.head)%c.size <= (c.tail+c.size-c.head)%c.size
}

// work runs the commands of a queue until the controller is disabled.
func (n *Controller) work(q uint16) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for !n.over {
		if s := n.subs[q]; s != nil && s.head != s.tail {
			n.fetch(q, s)
		} else {
			n.changed.Wait()
		}
	}
}

// fetch runs one command.
func (n *Controller) fetch(q uint16, s *submission) {
	var raw [CommandSize]byte
	if n.c.Table.Load(s.at+CommandSize*uint64(s.head), raw[:]) != nil {
		n.die()
		return
	}
	s.head = (s.head + 1) % s.size
	var c Command
	c.Decode(&raw)
	x := Completion{ID: c.ID, Queue: q}
	switch {
	case c.Flags != 0:
		x.Status = InvalidField
	case q == 0:
		x.Result, x.Status = n.admin(&c)
	default:
		f := &flight{}
		s.flying[c.ID] = f
		n.mu.Unlock()
		x.Status = n.io(&c, f)
		n.mu.Lock()
		if s.flying[c.ID] == f {
			delete(s.flying, c.ID)
		}
	}
	x.Final = x.Status != Success && x.Status != AbortRequested
	n.complete(s, x)
}

// complete posts a completion, as soon as its queue has room.
func (n *Controller) complete(s *submission, x Completion) {
	c := n.comps[x.Queue]
	for !n.over && (c.tail+1)%c.size == c.head {
		n.changed.Wait()
	}
	if n.over {
		return
	}
	x.Head, x.Phase = uint16(s.head), c.phase
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
		n.die()
		return
	}
	if c.tail++; c.tail == c.size {
		c.tail, c.phase = 0, !c.phase
	}
	n.c.Interrupt()
}
