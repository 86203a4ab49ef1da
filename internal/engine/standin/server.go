package standin

import (
	"log"
	"runtime/debug"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/internal/engine/emulate"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/unimem"
)

// memory finds surfaces by the ids that the framework passes.
type memory interface {
	// open returns a Block on the first size bytes of a surface, to be closed with
	// close. For a shorter surface the error matches unimem.ErrSize.
	open(id uint32, size int) (*unimem.Block, error)
	close(b *unimem.Block) error
	// share and unshare enclose the time in which the engine maps b. Meanwhile the
	// engine holds no CPU lock on the surface.
	share(b *unimem.Block) error
	unshare(b *unimem.Block) error
}

// server compiles and evaluates for the framework. It is the entry.Server, so no panic of
// its exported methods reaches C. All methods may be called from several threads.
type server struct {
	memory memory
	engine ane.Engine
	dump   *Dump // the dump to replay, or nil
	// profile is that of the Options; empty reads every program.
	profile string

	mu       sync.RWMutex // guards the fields below; never held during compiling, binding or computing
	last     uint64       // the last handle
	programs map[uint64]*program
	requests map[uint64][]*bound // by request; one bound for each procedure that it was evaluated on
}

func newServer(m memory, d *Dump) *server {
	return &server{memory: m, dump: d, engine: soft.New(), programs: map[uint64]*program{},
		requests: map[uint64][]*bound{}}
}

// emulating makes the server refuse what the compiler of a chip refuses; 0 is no chip.
func (s *server) emulating(c chip.Chip) *server {
	if c.Valid() {
		s.engine = emulate.New(s.engine, c, emulate.NewHost())
	}
	return s
}

// Compile implements entry.Server.
func (s *server) Compile(directory string) (program uint64, kind int32, fault string) {
	defer logPanic("compile", func() { kind, fault = invalidText, "the compiler panicked; see the log for the stack" })
	program, err := s.compile(directory)
	if err != nil {
		kind, fault = kindOf(err), faults(err)
	}
	return program, kind, fault
}

// Evaluate implements entry.Server.
func (s *server) Evaluate(program uint64, procedure uint32, request uint64, in, out []uint32) uint32 {
	return uint32(s.evaluate(program, procedure, request, in, out))
}

// compile compiles the program in a directory and returns its handle.
func (s *server) compile(directory string) (handle uint64, err error) {
	p, err := s.build(directory)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	p.handle = s.last
	s.programs[p.handle] = p
	return p.handle, nil
}

// Attributes implements entry.Server: it returns the property list of a program, or nil for an unknown handle.
func (s *server) Attributes(handle uint64) (plist []byte) {
	defer logPanic("attributes", func() { plist = nil })
	if p := s.program(handle); p != nil {
		return p.attributes
	}
	return nil
}

func (s *server) program(handle uint64) *program {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.programs[handle]
}

// DropRequest implements entry.Server: it drops the bounds of a request.
func (s *server) DropRequest(request uint64) {
	defer logPanic("drop request", func() {})
	s.mu.Lock()
	gone := s.requests[request]
	delete(s.requests, request)
	s.mu.Unlock()
	for _, b := range gone {
		b.release()
	}
}

// DropProgram implements entry.Server: it drops a program and its bounds.
func (s *server) DropProgram(handle uint64) {
	defer logPanic("drop program", func() {})
	s.mu.Lock()
	p := s.programs[handle]
	delete(s.programs, handle)
	var gone []*bound
	for request, list := range s.requests {
		var kept []*bound
		for _, b := range list {
			if b.procedure.program == p {
				gone = append(gone, b)
			} else {
				kept = append(kept, b)
			}
		}
		s.keep(request, kept)
	}
	s.mu.Unlock()
	for _, b := range gone {
		b.release()
	}
	if p != nil {
		p.drop()
	}
}

// keep replaces the list of a request. The caller holds the lock.
func (s *server) keep(request uint64, list []*bound) {
	if len(list) == 0 {
		delete(s.requests, request)
		return
	}
	s.requests[request] = list
}

// logPanic stops a panic from crossing the C caller's frames, which would end the
// process without a message. It must be deferred.
func logPanic(call string, fail func()) {
	if p := recover(); p != nil {
		log.Printf("standin: %s panicked: %v\n%s", call, p, debug.Stack())
		fail()
	}
}
