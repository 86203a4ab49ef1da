//go:build !linux || macrules

package growthbench

import (
	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/step"
)

// ServeClient does nothing: only Linux has a broker.
func ServeClient() {}

func evaluations(*step.T, int) (func() error, int) { return unavailable() }
func signals(*step.T, int) (func() error, int)     { return unavailable() }

// unavailable fails with ane.ErrUnavailable.
func unavailable() (func() error, int) {
	step.NoError(&ane.Error{Op: "bench", Err: ane.ErrUnavailable, Detail: "a broker and eventfds need Linux"})
	return nil, 0
}
