package unimem

import (
	"sync/atomic"

	"github.com/anekit/anekit/internal/iosurface"
)

// Port is a mach port of a Block's surface: a send right, which processes pass in a mach
// message or an XPC dictionary. It keeps the surface alive until Close.
type Port struct {
	name   uint32
	table  *iosurface.Table
	closed atomic.Bool
}

// SharePort makes a Port of a Block on a surface; other memory has Share. Errors: ErrClosed,
// ErrShare (memory that is not a surface, or a library without ports), ErrCreate.
//
// It is tested against a stand-in on Linux only, not on a Mac.
func (b *Block) SharePort() (*Port, error) {
	const op = "share port"
	if err := b.Retain(); err != nil {
		return nil, &Error{Op: op, Size: b.size(), Err: ErrClosed, Hint: "share the Block before closing it"}
	}
	defer b.Release()
	s, ok := b.back.(interface{ port() (*Port, error) })
	if !ok {
		return nil, &Error{Op: op, Size: b.size(), Err: ErrShare, Hint: "only surfaces have ports: use Share"}
	}
	return s.port()
}

func (s *surface) port() (*Port, error) {
	const op = "share port"
	if err := checkPorts(s.table, op, s.Size); err != nil {
		return nil, err
	}
	name, err := s.Surface.Port()
	if err != nil {
		return nil, systemError(op, s.Size, err)
	}
	return &Port{name: name, table: s.table}, nil
}

func checkPorts(t *iosurface.Table, op string, size int) error {
	if t.HasPorts() {
		return nil
	}
	return &Error{Op: op, Size: size, Err: ErrShare,
		Hint: "the library of surfaces has no mach ports: use the library of macOS"}
}

// Name is the port's mach_port_name_t in this process, 0 after Close.
func (p *Port) Name() uint32 {
	if p == nil || p.closed.Load() {
		return 0
	}
	return p.name
}

// Close deallocates the send right, once; repeating it returns nil. It does not close Blocks
// adopted from the Port.
func (p *Port) Close() error {
	if p == nil || p.table == nil || !p.closed.CompareAndSwap(false, true) {
		return nil
	}
	if err := iosurface.ClosePort(p.table, p.name); err != nil {
		return &Error{Op: "close port", Err: ErrRelease, Cause: err}
	}
	return nil
}

// AdoptPort makes a Block of the first size bytes of the surface of a mach port; name is the
// port's name in this process. The caller owns the port and may close it at once. Everything
// else is as for AdoptSurface, which finds surfaces by their ids.
//
// Errors: ErrZeroSize, ErrSize (negative, or with ErrCreate: the surface is smaller),
// ErrCreate (not a port of a surface), ErrLock, ErrExhausted (with ErrLock), ErrOption,
// ErrShare (a system without mach ports). It is tested against a stand-in on Linux only, not
// on a Mac.
func AdoptPort(name uint32, size int, opts ...Option) (*Block, error) {
	return adoptFound(size, opts, func(t *iosurface.Table) (*iosurface.Surface, error) {
		if err := checkPorts(t, "adopt", size); err != nil {
			return nil, err
		}
		return iosurface.LookupPort(t, name, size)
	})
}
