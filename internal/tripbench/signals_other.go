//go:build !linux || macrules

package tripbench

import "github.com/anekit/anekit/ane"

// ServeSignals does nothing: only Linux has the other process.
func ServeSignals() {}

// Signals is another process that returns signals. It needs Linux.
type Signals struct{}

// NewSignals fails with ane.ErrUnavailable: eventfds need Linux.
func NewSignals() (*Signals, error) {
	return nil, &ane.Error{Op: "bench", Err: ane.ErrUnavailable, Detail: "the floor of an evaluation needs eventfds, " +
		"which only Linux has"}
}

// Trip does nothing.
func (s *Signals) Trip() error { return nil }

func (s *Signals) interrupt() {}

// Close does nothing.
func (s *Signals) Close() error { return nil }
