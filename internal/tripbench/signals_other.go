//go:build !linux || macrules

package tripbench

import "errors"

// ServeSignals does nothing: only Linux has the other process.
func ServeSignals() {}

// Signals is another process that returns signals. It needs Linux.
type Signals struct{}

// NewSignals fails: eventfds need Linux.
func NewSignals() (*Signals, error) { return nil, errors.New("tripbench: eventfds need Linux") }

// Trip does nothing.
func (s *Signals) Trip() error { return nil }

func (s *Signals) interrupt() {}

// Close does nothing.
func (s *Signals) Close() error { return nil }
