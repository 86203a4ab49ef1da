// Package settings defines what the options of package unimem set, so that package surfaces
// can make an option too.
package settings

import (
	"log/slog"

	"github.com/anekit/anekit/unimem/internal/iosurface"
)

// Settings are the settings of all options of one call.
type Settings struct {
	Warm     bool
	Pin      bool
	PerCell  bool
	Stale    bool // closing a Grid makes taken cells stale
	Heap     bool
	Poison   bool
	Foreign  bool             // an option sets a library of surfaces: Table, which may be nil
	Clash    bool             // two options set different libraries of surfaces
	Adopted  bool             // the memory exists and has another owner as well
	ReadOnly bool             // the adopted memory must not be written to
	Table    *iosurface.Table // nil for the library of macOS
	Log      *slog.Logger     // nil for slog.Default at the time of the message
}

// Surfaces makes s use the library of surfaces with table t.
func (s *Settings) Surfaces(t *iosurface.Table) {
	s.Clash = s.Clash || s.Foreign && s.Table != t
	s.Foreign, s.Table = true, t
}
