// Package blockoption defines what the options of package unimem set. It is apart from unimem so that the stand-in and
// tests can make an option for surfaces of their own library.
package blockoption

import "github.com/anekit/anekit/internal/iosurface"

// Settings are the settings of all options of one call.
type Settings struct {
	Warm     bool
	Pin      bool
	PerCell  bool
	InBlocks bool // a Tape of several Blocks
	Each     int  // the least bytes of each; 0 for one span each
	Stale    bool // closing a Grid makes taken cells stale
	Heap     bool
	Poison   bool
	Foreign  bool             // an option sets a library of surfaces: Table, which may be nil
	Clash    bool             // two options set different libraries of surfaces
	Adopted  bool             // the memory exists and has another owner as well
	ReadOnly bool             // the adopted memory must not be written to
	Table    *iosurface.Table // nil for the library of macOS
}

// On returns the unimem.Option for surfaces of the library with table t. With a nil t every call returns
// unimem.ErrOption.
func On(t *iosurface.Table) func(*Settings) {
	return func(s *Settings) {
		s.Clash = s.Clash || s.Foreign && s.Table != t
		s.Foreign, s.Table = true, t
	}
}
