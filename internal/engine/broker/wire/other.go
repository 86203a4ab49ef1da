//go:build !linux || macrules

package wire

import (
	"os"
	"time"

	"github.com/anekit/anekit/ane"
)

// unsupported is the error of what this system lacks.
func unsupported(op string) error {
	return &Error{Op: op, Err: ane.ErrUnavailable, Hint: "run it on Linux"}
}

// socket cannot be had: no other system has both SOCK_SEQPACKET and memfds.
type socket struct{}

// Close closes each descriptor.
func (d Descriptors) Close() {}

// NewConn answers ane.ErrUnavailable and leaves fd alone.
func NewConn(fd int) (*Conn, error) { return nil, unsupported("open") }

// Close does nothing.
func (c *Conn) Close() error { return nil }

// SetPatience answers ane.ErrUnavailable.
func (c *Conn) SetPatience(receive, send time.Duration) error { return unsupported("patience") }

func (*socket) send(*Frame, []int) error { return unsupported("send") }

func (*socket) receive([]byte) (int, Descriptors, error) { return 0, nil, unsupported("receive") }

// Control answers ane.ErrUnavailable.
func (c *Conn) Control(func(fd int) error) error { return unsupported("control") }

// Seal answers ane.ErrUnavailable.
func Seal(name string, parts ...[]byte) (*os.File, error) { return nil, unsupported("seal") }

// ReadSealed answers ane.ErrUnavailable.
func ReadSealed(fd, limit int) ([]byte, error) { return nil, unsupported("read sealed") }

// KeepSealed answers ane.ErrUnavailable.
func KeepSealed(fd, limit int) (*Sealed, error) { return nil, unsupported("keep sealed") }

// Map answers ane.ErrUnavailable.
func (s *Sealed) Map() error { return unsupported("map sealed") }

// Close does nothing.
func (s *Sealed) Close() error { return nil }

type box struct{}

func (*box) put(*Frame) uint32 { return 0 }

func (*box) claim(uint32) bool { return false }

func (*box) copy([]byte) uint32 { return 0 }

func (*box) await(seen uint32, _ time.Duration) uint32 { return seen }

// memory cannot be had: a sleeper on memory of two processes needs a futex.
type memory struct{ users }

// NewBell answers ane.ErrUnavailable.
func NewBell() (*Bell, *os.File, error) { return nil, nil, unsupported("make a bell") }

// OpenBell answers ane.ErrUnavailable.
func OpenBell(fd int) (*Bell, error) { return nil, unsupported("open a bell") }

// Close does nothing.
func (b *Bell) Close() error { return nil }

// MaxBells is 0: there are no bells.
const MaxBells = 0

// Sleeper has nothing to sleep at.
type Sleeper struct{}

// CanSleepAtBells is false.
func CanSleepAtBells() bool { return false }

// Wakes is 0.
func (*Sleeper) Wakes() uint32 { return 0 }

// Wake does nothing.
func (*Sleeper) Wake() {}

// Sleep returns at once.
func (*Sleeper) Sleep(uint32, []*Bell) {}
