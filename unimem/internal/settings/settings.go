// Package settings holds what the options of package unimem set. It exists so that package
// surfaces can make an option of its own.
package settings

import (
	"log/slog"

	"github.com/anekit/anekit/unimem/internal/iosurface"
)

// Settings is the sum of the options of one call.
type Settings struct {
	Warm    bool
	Pin     bool
	PerCell bool
	Heap    bool
	Poison  bool
	Foreign bool             // the caller names a library of surfaces: Table, which may be nil
	Clash   bool             // the caller names two libraries of surfaces
	Adopted bool             // the memory exists already and belongs to its creator as well
	Table   *iosurface.Table // nil: the system's library
	Log     *slog.Logger     // nil: slog.Default when the message is written
}

// Surfaces makes s take the memory from the library with table t.
func (s *Settings) Surfaces(t *iosurface.Table) {
	s.Clash = s.Clash || s.Foreign && s.Table != t
	s.Foreign, s.Table = true, t
}
