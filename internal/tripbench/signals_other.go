//go:build !linux

package tripbench

import "errors"

// ServeSignals does nothing: only Linux has the other process.
func ServeSignals() {}

// Signals is another process that answers signals. It needs Linux.
type Signals struct{}

// NewSignals fails: eventfds are Linux's.
func NewSignals() (*Signals, error) { return nil, errors.New("tripbench: eventfds are Linux's") }

// Trip does nothing.
func (s *Signals) Trip() error { return nil }

func (s *Signals) interrupt() {}

// Close does nothing.
func (s *Signals) Close() error { return nil }
