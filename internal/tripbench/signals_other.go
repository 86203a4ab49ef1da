//go:build !linux || macrules

package tripbench

import (
	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/step"
)

// ServeSignals does nothing: only Linux has the other process.
func ServeSignals() {}

// trips fails with ane.ErrUnavailable: eventfds need Linux.
func trips(*step.T) measure.Loop {
	step.NoError(&ane.Error{Op: "bench", Err: ane.ErrUnavailable, Detail: "the floor of an evaluation needs eventfds, " +
		"which only Linux has"})
	return nil
}
