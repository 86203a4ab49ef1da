package metal

import (
	"sync"
	"time"
)

// machine is the part of the fake that runs work: events, one queue in order, and kernels on the CPU.
type machine struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced when an event changes
	events  map[uintptr]uint64
	buffers map[uintptr]span
	memory  [][]byte
	kernels map[uintptr]run
	ends    map[uintptr]chan end // by command buffer
	last    chan struct{}        // closed when the queue's last work has ended

	// compile makes a kernel of a text; nil: kernels do nothing.
	compile func(text, function string) (k run, reads uint32, fault string)
	threads int
	started []work
	fail    end // of the next command buffer
	capture struct {
		path, fault string
		open        bool
	}
}

// run runs a kernel: arguments by their numbers.
type run func(arguments []uintptr, groups, group [3]int)

type span struct {
	address uintptr
	size    int
}

type end struct {
	code  int
	fault string
}

func newMachine() *machine {
	ended := make(chan struct{})
	close(ended)
	return &machine{changed: make(chan struct{}), events: map[uintptr]uint64{}, buffers: map[uintptr]span{},
		kernels: map[uintptr]run{}, ends: map[uintptr]chan end{}, last: ended, threads: 1024}
}

func (m *machine) value(event uintptr) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.events[event]
}

func (m *machine) signal(event uintptr, v uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events[event] = v
	close(m.changed)
	m.changed = make(chan struct{})
}

// reached waits until an event has a value, or end delivers.
func (m *machine) reached(event uintptr, v uint64, end <-chan time.Time) bool {
	for {
		m.mu.Lock()
		value, changed := m.events[event], m.changed
		m.mu.Unlock()
		if value >= v {
			return true
		}
		select {
		case <-changed:
		case <-end:
			return false
		}
	}
}

func (m *machine) await(event uintptr, v, milliseconds uint64) bool {
	end := time.NewTimer(time.Duration(milliseconds) * time.Millisecond)
	defer end.Stop()
	return m.reached(event, v, end.C)
}

// start runs work in order, in a goroutine of its own.
func (m *machine) start(commands uintptr, w work) {
	m.mu.Lock()
	before, ended := m.last, make(chan struct{})
	m.last = ended
	over := make(chan end, 1)
	m.ends[commands] = over
	failure := m.fail
	m.fail = end{}
	m.started = append(m.started, w)
	m.mu.Unlock()
	go func() {
		defer close(ended)
		<-before
		for _, e := range w.waits {
			m.reached(e.event, e.value, nil)
		}
		if failure.code == 0 {
			for _, s := range w.steps {
				if s.blit != nil {
					m.blit(*s.blit)
				} else {
					m.dispatch(s.dispatch)
				}
			}
			for _, e := range w.signals {
				m.signal(e.event, e.value)
			}
		}
		over <- failure
	}()
}

func (m *machine) dispatch(d dispatch) {
	m.mu.Lock()
	k := m.kernels[d.pipeline]
	arguments := make([]uintptr, 31)
	for _, b := range d.buffers {
		arguments[b.at] = m.buffers[b.buffer].address + uintptr(b.offset)
	}
	m.mu.Unlock()
	if k == nil {
		return
	}
	if len(d.push) > 0 {
		arguments[d.pushAt] = addressOfBytes(d.push)
	}
	k(arguments, d.groups, d.group)
}

// blit does what a blit encoder does, and refuses what that of macOS does not.
func (m *machine) blit(b blit) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if (b.toOffset|b.fromOffset|b.length)%4 != 0 {
		panic("a blit that is not of whole words")
	}
	to := bytesAt(m.buffers[b.to].address+uintptr(b.toOffset), b.length)
	if b.from != 0 {
		copy(to, bytesAt(m.buffers[b.from].address+uintptr(b.fromOffset), b.length))
		return
	}
	for i := range to {
		to[i] = b.value
	}
}

func (m *machine) finish(commands uintptr) (code int, fault string) {
	m.mu.Lock()
	over := m.ends[commands]
	m.mu.Unlock()
	e := <-over
	return e.code, e.fault
}

// fill adds the functions to a driver whose create makes references.
func (m *machine) fill(d *driver, create func(what ...any) uintptr) {
	newBuffer := d.newBuffer
	d.newBuffer = func(device, address uintptr, size int) uintptr {
		ref := newBuffer(device, address, size)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.buffers[ref] = span{address, size}
		return ref
	}
	d.allocate = func(_ uintptr, size int) uintptr {
		memory := make([]byte, size)
		ref := create("memory", size)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.memory = append(m.memory, memory) // the fake keeps it
		m.buffers[ref] = span{addressOfBytes(memory), size}
		return ref
	}
	d.contents = func(ref uintptr) uintptr {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.buffers[ref].address
	}
	d.unified = func(uintptr) bool { return true }
	d.newQueue = func(uintptr) uintptr { return create("queue") }
	d.newFence = func(uintptr) uintptr { return create("fence") }
	d.newKernel = func(_ uintptr, text, function string) pipeline {
		var k run
		var reads uint32
		if m.compile != nil {
			var fault string
			if k, reads, fault = m.compile(text, function); k == nil {
				return pipeline{fault: fault}
			}
		}
		ref := create("kernel", function)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.kernels[ref] = k
		return pipeline{ref: ref, threads: m.threads, reads: reads}
	}
	d.newEvent = func(uintptr) uintptr { return create("event") }
	d.value, d.signal, d.await = m.value, m.signal, m.await
	d.start = func(_ uintptr, w work) uintptr {
		ref := create("commands")
		if ref != 0 {
			m.start(ref, w)
		}
		return ref
	}
	d.finish = m.finish
	d.capture = func(_ uintptr, path string) (string, bool) {
		m.capture.path = path
		m.capture.open = m.capture.fault == ""
		return m.capture.fault, m.capture.open
	}
	d.endCapture = func() { m.capture.open = false }
}
