//go:build !macrules

package wire

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// The memory is two boxes. A box begins with a word that counts frames, on which the other side sleeps (futex). Then
// come the length of the present frame and the count of the last frame taken. The frame follows after a cache line of
// 64 bytes.
const (
	boxHead  = 64
	boxSize  = boxHead + (MaxFrame+63)&^63
	bellSize = 2 * boxSize
)

// bellSeals keep the memory of a Bell from going away under the processes that have mapped it.
const bellSeals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// memory is the mapping of a Bell. The last call inside unmaps it.
type memory struct {
	mem []byte
	users
}

// NewBell makes a Bell and the descriptor of its memory for the other end, which OpenBell
// takes. Both are the caller's. Errors: ErrSocket.
func NewBell() (*Bell, *os.File, error) {
	const op = "make a bell"
	f, err := sealedFile(op, "bell", bellSeals, func(f *os.File) error {
		if err := f.Truncate(bellSize); err != nil {
			return socketError(op, "ftruncate", err)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	b, err := mapBell(op, int(f.Fd()))
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	b.own, b.far = boxAt(b.mem), boxAt(b.mem[boxSize:])
	return b, f, nil
}

// OpenBell is the other end of a Bell. The descriptor stays the caller's and is not needed any
// longer. Errors: ErrSeal, ErrLong, ErrShort, ErrSocket.
func OpenBell(fd int) (*Bell, error) {
	const op = "open a bell"
	s, err := sealedStat(op, fd, bellSeals, bellSize)
	if err != nil {
		return nil, err
	}
	if s.Size != bellSize {
		return nil, &Error{Op: op, Err: ErrShort, Detail: fmt.Sprintf("%d bytes of %d", s.Size, bellSize),
			Hint: "make it with NewBell of the same release"}
	}
	b, err := mapBell(op, fd)
	if err != nil {
		return nil, err
	}
	b.own, b.far = boxAt(b.mem[boxSize:]), boxAt(b.mem)
	return b, nil
}

func mapBell(op string, fd int) (*Bell, error) {
	mem, err := unix.Mmap(fd, 0, bellSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, socketError(op, "mmap", err)
	}
	b := &Bell{}
	b.mem = mem
	b.open()
	return b, nil
}

// Close ends every call on this end with ErrClosed. Repeating it returns nil. A hostile
// other end can take a sleeper's wake-up away (FUTEX_REQUEUE): that one sleeps to the
// end of its wait.
func (b *Bell) Close() error {
	if b != nil && b.users.close() {
		b.own.wake(math.MaxInt32) // the other end may have put sleepers of its own before ours
		b.leave()
	}
	return nil
}

func (m *memory) leave() {
	if m.users.leave() {
		_ = unix.Munmap(m.mem) // fails for what is no mapping alone
	}
}
