//go:build !linux || !cgo

package standin

import (
	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
)

// Framework is the running stand-in. This build has none: Start always fails.
type Framework struct{}

// unavailable is the error of this build.
func unavailable() error {
	e := &ane.Error{Op: "open", Engine: Name, Err: ane.ErrUnavailable,
		Detail: "the stand-in framework needs Linux, this is " + host.Name,
		Hint:   "run it on Linux, or use the soft engine"}
	if host.Name == "linux" {
		e.Detail = "this program was built without cgo and cannot load libraries"
		e.Hint = "build with CGO_ENABLED=1, or use the soft engine"
	}
	return e
}

// Probe returns an error matching ane.ErrUnavailable.
func Probe() error { return unavailable() }

// Start returns an error matching ane.ErrUnavailable.
func Start(Options) (*Framework, error) { return nil, unavailable() }

// Replayed returns no dump: there is no framework.
func Replayed() (d *Dump, ok bool) { return nil, false }

// Fault returns an error matching ane.ErrUnavailable.
func (f *Framework) Fault(string, FaultKind, int, int64) error { return unavailable() }

// ReleaseHangs does nothing: no call hangs.
func (f *Framework) ReleaseHangs() {}

// FireLost does nothing: no completion is withheld.
func (f *Framework) FireLost() {}

// ClearFaults does nothing: no fault is armed.
func (f *Framework) ClearFaults() {}

// Counts returns zeros: there is no framework.
func (f *Framework) Counts() Counts { return Counts{} }

// SurfaceCounts returns zeros: there are no surfaces.
func (f *Framework) SurfaceCounts() SurfaceCounts { return SurfaceCounts{} }

// Instances returns 0: there are no objects.
func (f *Framework) Instances(string) int { return 0 }

// PurgeAll does nothing: there is no cache.
func (f *Framework) PurgeAll() {}

// FailSurface returns an error matching ane.ErrUnavailable.
func (f *Framework) FailSurface(string, int) error { return unavailable() }

// Surfaces returns an option that no memory can be opened with.
func (f *Framework) Surfaces() unimem.Option { return blockoption.On(nil) }

// Config returns a configuration that apple.Open rejects.
func (f *Framework) Config() apple.Config { return apple.Config{Name: Name} }

// Leftovers returns nil: nothing was made.
func (f *Framework) Leftovers() []string { return nil }
