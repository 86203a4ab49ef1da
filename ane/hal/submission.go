package hal

import (
	"context"
	"errors"
	"sync"
	"time"
)

// kindOfWork says what a submission does between its waits and its signals.
type kindOfWork uint8

const (
	execute kindOfWork = iota
	alloca
	dealloca
)

func (k kindOfWork) String() string { return [...]string{"execute", "alloca", "dealloca"}[k] }

// submission is one call of the Queue: waits, then work, then signals.
type submission struct {
	device  *Device
	ctx     context.Context
	work    kindOfWork
	buffers []*CommandBuffer
	codes   []*code // of buffers, when they were submitted
	buffer  *Buffer // of alloca and dealloca

	waits   []waiter
	from    []*Semaphore // of waits
	signals []Point
	few     struct { // room for few points
		waits   [2]waiter
		from    [2]*Semaphore
		signals [2]Point
	}

	stop func() bool // ends the watch of ctx; nil without one

	next, prev *submission // in Device.waiting

	number     int64 // for the Trace
	at, starts time.Duration

	mu      sync.Mutex // guards the fields below
	left    int        // waits that are not met
	decided bool       // begun, failed, or not accepted
	err     error      // the reason to fail
}

// list is a list of submissions.
type list struct{ first *submission }

func (l *list) add(s *submission) {
	s.next = l.first
	if l.first != nil {
		l.first.prev = s
	}
	l.first = s
}

func (l *list) remove(s *submission) {
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		l.first = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	s.next, s.prev = nil, nil
}

// submit accepts a submission, or returns an error and changes nothing.
func (d *Device) submit(s *submission, waits, signals []Point) error {
	s.capture(waits, signals)
	s.mu.Lock() // met and abort wait until all waits are registered
	for i := range s.waits {
		if decided, err := s.from[i].add(&s.waits[i]); decided {
			s.note(err)
		}
	}
	if err := d.accept(s); err != nil {
		s.decided = true
		s.mu.Unlock()
		s.drop()
		return err
	}
	if s.ctx.Done() != nil {
		if err := s.ctx.Err(); err != nil {
			s.note(err)
		} else {
			s.stop = context.AfterFunc(s.ctx, func() { s.abort(s.ctx.Err()) })
		}
	}
	act := s.decide()
	s.mu.Unlock()
	if act {
		s.act(work{}).run()
	}
	return nil
}

// capture copies the points.
func (s *submission) capture(waits, signals []Point) {
	if len(waits) <= len(s.few.waits) {
		s.waits, s.from = s.few.waits[:len(waits)], s.few.from[:len(waits)]
	} else {
		s.waits, s.from = make([]waiter, len(waits)), make([]*Semaphore, len(waits))
	}
	for i, p := range waits {
		s.waits[i] = waiter{value: p.Value, to: s, at: -1}
		s.from[i] = p.Semaphore
	}
	s.signals = append(s.few.signals[:0], signals...)
	s.left = len(waits)
}

// accept checks what only one submission at a time may, and counts s as pending.
func (d *Device) accept(s *submission) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.open(s.work.String()); err != nil {
		return err
	}
	if err := s.reserve(); err != nil {
		return err
	}
	if d.config.cycles {
		if err := s.cycle(); err != nil {
			s.release(true)
			return err
		}
	}
	if s.work == alloca {
		d.buffers[s.buffer] = struct{}{}
	}
	d.active.Enter()
	d.waiting.add(s)
	s.number = d.stats.submissions.Add(1)
	s.at = d.trace.now()
	return nil
}

// reserve marks what s names as pending. The caller holds the Device's mutex.
func (s *submission) reserve() error {
	for i, c := range s.buffers {
		var err error
		switch {
		case c.closed:
			err = closed("execute", "CommandBuffer", "make a new one")
		case c.mode == OneShot && c.submitted:
			err = c.unfit("it is OneShot and was submitted before")
		}
		if err != nil {
			s.buffers = s.buffers[:i]
			s.release(true)
			return err
		}
		c.submitted = true
		c.pending++
		s.codes[i].hold(1)
	}
	if s.buffer != nil {
		s.buffer.pending++
	}
	return nil
}

// release reverses reserve. undone means that s was not accepted. The caller holds the Device's mutex.
func (s *submission) release(undone bool) {
	for i, c := range s.buffers {
		c.pending--
		if undone && c.mode == OneShot {
			c.submitted = false
		}
		s.codes[i].hold(-1)
	}
	if s.buffer != nil {
		s.buffer.pending--
	}
}

// hold counts n more submissions that name what the code uses.
func (c *code) hold(n int) {
	for _, b := range c.buffers {
		b.pending += n
	}
	for _, k := range c.bindings {
		k.exec.pending += n
	}
}

// met implements receiver.
func (s *submission) met(w *waiter, todo work) work {
	s.mu.Lock()
	s.note(w.err)
	act := s.decide()
	s.mu.Unlock()
	if act {
		return s.act(todo)
	}
	return todo
}

// note records a decided wait, or the end of ctx. The caller holds mu.
func (s *submission) note(err error) {
	if s.err == nil {
		s.err = err
	}
	s.left--
}

// abort fails s unless it has begun.
func (s *submission) abort(cause error) {
	s.mu.Lock()
	if s.err == nil && !s.decided {
		s.err = cause
	}
	act := s.decide()
	s.mu.Unlock()
	if act {
		s.act(work{}).run()
	}
}

// decide reports whether the caller has to act, which one caller does. That holds mu.
func (s *submission) decide() bool {
	if s.decided || s.err == nil && s.left > 0 {
		return false
	}
	s.decided = true
	return true
}

// drop removes the waits that are registered.
func (s *submission) drop() {
	for i := range s.waits {
		_, _ = s.from[i].drop(&s.waits[i])
	}
}

// act begins s, or fails it.
func (s *submission) act(todo work) work {
	if s.stop != nil {
		s.stop()
	}
	d := s.device
	d.mu.Lock()
	d.waiting.remove(s)
	d.mu.Unlock()
	if s.err != nil {
		s.drop()
		return s.finish(s.err, todo)
	}
	s.starts = d.trace.now()
	if s.work == execute && len(s.buffers) == 0 {
		return s.finish(nil, todo)
	}
	go s.run()
	return todo
}

// run does the work in a goroutine of its own.
func (s *submission) run() {
	var err error
	switch s.work {
	case execute:
		err = s.batch()
	case alloca:
		err = s.buffer.allocate()
	default:
		err = s.buffer.deallocate()
	}
	s.finish(err, work{}).run()
}

// finish ends s: objects are free before the signals tell it.
func (s *submission) finish(err error, todo work) work {
	d := s.device
	d.mu.Lock()
	if err != nil && s.work == alloca && s.buffer.state == absent {
		s.buffer.state = gone
		delete(d.buffers, s.buffer)
	}
	s.release(false)
	d.mu.Unlock()
	if d.trace.on {
		d.trace.submission(s, err)
	}
	if err != nil {
		todo = fail(s.signals, err, todo)
	} else {
		todo = raise(s.signals, todo)
	}
	d.active.Leave()
	return todo
}

// batch runs the command buffers, if all memory is there.
func (s *submission) batch() error {
	d := s.device
	ctx, stop := d.bound(s.ctx)
	defer stop()
	var recorded int64
	for _, c := range s.codes {
		recorded += int64(c.recorded)
	}
	if err := s.usable(); err != nil {
		return err
	}
	var buffers []*Buffer
	for _, c := range s.codes {
		buffers = append(buffers, c.buffers...)
	}
	if !d.pin(buffers) {
		return closed("execute", "the memory of a Buffer is not there",
			"wait for its Alloca, and run before its Dealloca and Close")
	}
	d.stats.commands.Add(recorded)
	var err error
	for _, c := range s.codes {
		if err = c.run(ctx, s); err != nil {
			break
		}
	}
	if err != nil && s.ctx.Err() != nil && !errors.Is(err, s.ctx.Err()) {
		err = errors.Join(err, s.ctx.Err())
	}
	if err != nil && s.ctx.Err() == nil && d.life.Err() != nil {
		err = errors.Join(err, d.shut("execute"))
	}
	return errors.Join(err, d.unpin(buffers))
}

// usable refuses a batch with an Executable that is closed.
func (s *submission) usable() error {
	s.device.mu.Lock()
	defer s.device.mu.Unlock()
	for _, c := range s.codes {
		for _, k := range c.bindings {
			if k.exec.closed {
				return closed("execute", "Executable", "prepare the program again")
			}
		}
	}
	return nil
}
