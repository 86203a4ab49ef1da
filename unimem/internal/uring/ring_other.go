//go:build !linux || macrules

package uring

import (
	"context"
	"errors"
	"os"
)

// Ring reads files through io_uring.
type Ring struct{}

// Open is ErrUnavailable.
func Open(int) (*Ring, error) {
	return nil, &Error{Call: "io_uring_setup", Err: errors.ErrUnsupported, Why: "io_uring is of Linux"}
}

// Register is ErrClosed.
func (*Ring) Register(...[]byte) error { return ErrClosed }

// Read is ErrClosed.
func (*Ring) Read(context.Context, *os.File, []*Read, func(int) bool) error { return ErrClosed }

// Close does nothing.
func (*Ring) Close() error { return nil }
