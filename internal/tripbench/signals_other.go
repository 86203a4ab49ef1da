//go:build !linux || macrules

package tripbench

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/measure"
)

// ServeSignals does nothing: only Linux has the other process.
func ServeSignals() {}

// trips fails with ane.ErrUnavailable: eventfds need Linux.
func trips(context.Context) (measure.Loop, func() error, error) {
	return nil, nil, &ane.Error{Op: "bench", Err: ane.ErrUnavailable, Detail: "the floor of an evaluation needs eventfds, " +
		"which only Linux has"}
}
