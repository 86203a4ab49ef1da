//go:build !linux

package wire

import (
	"net"
	"os"
	"time"
)

// socket cannot be had: no other system has both SOCK_SEQPACKET and memfds.
type socket struct{}

// Close closes each descriptor.
func (d Descriptors) Close() {}

// NewConn answers ErrUnsupported and leaves fd alone.
func NewConn(fd int) (*Conn, error) { return nil, unsupported("open") }

// FromUnix answers ErrUnsupported and closes u.
func FromUnix(u *net.UnixConn) (*Conn, error) {
	if u != nil {
		_ = u.Close()
	}
	return nil, unsupported("open")
}

// Dial answers ErrUnsupported.
func Dial(path string) (*Conn, error) { return nil, unsupported("dial") }

// Close does nothing.
func (c *Conn) Close() error { return nil }

// SetPatience answers ErrUnsupported.
func (c *Conn) SetPatience(time.Duration) error { return unsupported("patience") }

func socketPair() (a, b int, err error) { return -1, -1, unsupported("pair") }

func (*socket) send(*Frame, []int) error { return unsupported("send") }

func (*socket) receive([]byte) (int, Descriptors, error) { return 0, nil, unsupported("receive") }

func (*socket) control(func(fd int) error) error { return unsupported("peer") }

// Seal answers ErrUnsupported.
func Seal(name string, parts ...[]byte) (*os.File, error) { return nil, unsupported("seal") }

// ReadSealed answers ErrUnsupported.
func ReadSealed(fd, limit int) ([]byte, error) { return nil, unsupported("read sealed") }

// MapSealed answers ErrUnsupported.
func MapSealed(fd, limit int) (*Sealed, error) { return nil, unsupported("map sealed") }

// Close does nothing.
func (s *Sealed) Close() error { return nil }
