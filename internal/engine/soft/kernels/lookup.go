package kernels

import (
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// TableBytes returns the bytes of the tables that runners use. A program keeps those of its steps as long as it lives,
// which counts in its Footprint.
func TableBytes(runners []run.Runner) (n int) {
	seen := map[*halves.Table]bool{}
	for _, r := range runners {
		if r, ok := r.(interface{ reads() *halves.Table }); ok && r.reads() != nil && !seen[r.reads()] {
			seen[r.reads()] = true
			n += r.reads().Bytes()
		}
	}
	return n
}
