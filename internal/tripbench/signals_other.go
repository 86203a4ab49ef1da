//go:build !linux || macrules

package tripbench

import "github.com/anekit/anekit/ane"

// ServeSignals does nothing: only Linux has the other process.
func ServeSignals() {}

// signals is another process that returns signals. It needs Linux.
type signals struct{}

// newSignals fails with ane.ErrUnavailable: eventfds need Linux.
func newSignals() (*signals, error) {
	return nil, &ane.Error{Op: "bench", Err: ane.ErrUnavailable, Detail: "the floor of an evaluation needs eventfds, " +
		"which only Linux has"}
}

// trip does nothing.
func (s *signals) trip() error { return nil }

func (s *signals) interrupt() {}

// close does nothing.
func (s *signals) close() error { return nil }
