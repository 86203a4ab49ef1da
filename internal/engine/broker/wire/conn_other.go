//go:build !linux || macrules

package wire

import (
	"os"
	"time"

	"github.com/anekit/anekit/ane"
)

// unsupported is the error of what this system lacks.
func unsupported(op string) error {
	return &Error{Op: op, Err: ErrUnsupported, Cause: ane.ErrUnavailable, Hint: "run it on Linux"}
}

// socket cannot be had: no other system has both SOCK_SEQPACKET and memfds.
type socket struct{}

// Close closes each descriptor.
func (d Descriptors) Close() {}

// NewConn answers ErrUnsupported and leaves fd alone.
func NewConn(fd int) (*Conn, error) { return nil, unsupported("open") }

// Close does nothing.
func (c *Conn) Close() error { return nil }

// SetPatience answers ErrUnsupported.
func (c *Conn) SetPatience(receive, send time.Duration) error { return unsupported("patience") }

func (*socket) send(*Frame, []int) error { return unsupported("send") }

func (*socket) receive([]byte) (int, Descriptors, error) { return 0, nil, unsupported("receive") }

// Control answers ErrUnsupported.
func (c *Conn) Control(func(fd int) error) error { return unsupported("control") }

// Seal answers ErrUnsupported.
func Seal(name string, parts ...[]byte) (*os.File, error) { return nil, unsupported("seal") }

// ReadSealed answers ErrUnsupported.
func ReadSealed(fd, limit int) ([]byte, error) { return nil, unsupported("read sealed") }

// KeepSealed answers ErrUnsupported.
func KeepSealed(fd, limit int) (*Sealed, error) { return nil, unsupported("keep sealed") }

// Map answers ErrUnsupported.
func (s *Sealed) Map() error { return unsupported("map sealed") }

// Close does nothing.
func (s *Sealed) Close() error { return nil }
