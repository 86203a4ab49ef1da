//go:build !linux || macrules

package wire

import (
	"os"
	"time"
)

type box struct{}

func (*box) put(*Frame) uint32 { return 0 }

func (*box) claim(uint32) bool { return false }

func (*box) copy([]byte) uint32 { return 0 }

func (*box) await(seen uint32, _ time.Duration) uint32 { return seen }

// memory cannot be had: a sleeper on memory of two processes needs a futex.
type memory struct{}

func (*memory) enter() bool { return false }

func (*memory) over() bool { return true }

func (*memory) leave() {}

// NewBell answers ErrUnsupported.
func NewBell() (*Bell, *os.File, error) { return nil, nil, unsupported("make a bell") }

// OpenBell answers ErrUnsupported.
func OpenBell(fd int) (*Bell, error) { return nil, unsupported("open a bell") }

// Close does nothing.
func (b *Bell) Close() error { return nil }
