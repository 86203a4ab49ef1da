//go:build !linux || macrules

package procmem

import "errors"

// Group is a control group of Linux.
type Group struct{ Path string }

// NewGroup returns errors.ErrUnsupported.
func NewGroup(int64) (*Group, error) { return nil, errors.ErrUnsupported }

// Join returns errors.ErrUnsupported.
func Join(string) error { return errors.ErrUnsupported }

// Close does nothing.
func (g *Group) Close() error { return nil }
