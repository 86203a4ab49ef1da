// Package uring reads files through io_uring of Linux. One thread keeps many reads in flight. The kernel resolves the
// pages of registered memory once, not in each read.
package uring

import (
	"errors"
	"fmt"
)

// ErrUnavailable: this system has no io_uring for this process. The error is an *Error.
var ErrUnavailable = errors.New("io_uring is not available")

// ErrClosed: use after Close.
var ErrClosed = errors.New("the ring is closed")

// ErrMemory: a read to memory outside of what was registered under its number.
var ErrMemory = errors.New("outside of the registered memory")

// Error says why a call of io_uring failed.
type Error struct {
	Call string // the system call
	Err  error  // of the system
	Why  string // what it means here
	// InFlight: the kernel may still write to the memory of reads.
	InFlight bool
}

func (e *Error) Error() string {
	return fmt.Sprintf("%v: %s: %v: %s", ErrUnavailable, e.Call, e.Err, e.Why)
}

// Unwrap returns ErrUnavailable and Err.
func (e *Error) Unwrap() []error { return []error{ErrUnavailable, e.Err} }

// Read is one read of a file to memory. The fields after Off are the Ring's.
type Read struct {
	Mem    []byte // where to; not empty
	Off    int64  // in the file
	Memory int    // number of Register, or -1 for memory that is not registered
	N      int    // bytes that were read: fewer than len(Mem) at the end of the file
	Err    error  // of the system, or nil
}
