//go:build cgo

package standin

import "github.com/anekit/anekit/ane"

// Framework is the running stand-in.
type Framework struct{}

func notYet() error {
	return &ane.Error{Op: "open", Engine: Name, Err: ane.ErrUnavailable, Detail: "the framework's libraries are not built", Hint: "run make bridge"}
}

// Probe returns nil when the framework can be started.
func Probe() error { return notYet() }

// Start starts the framework.
func Start(o Options) (*Framework, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return nil, notYet()
}

// Fault arms a fault.
func (f *Framework) Fault(string, FaultKind, int, int64) error { return notYet() }

// ReleaseHangs lets hanging calls go on.
func (f *Framework) ReleaseHangs() {}

// FireLost delivers completions held back.
func (f *Framework) FireLost() {}

// ClearFaults lifts all faults.
func (f *Framework) ClearFaults() {}

// Counts is what the framework holds.
func (f *Framework) Counts() Counts { return Counts{} }

// SurfaceCounts is what the surface library holds.
func (f *Framework) SurfaceCounts() SurfaceCounts { return SurfaceCounts{} }

// Instances counts objects of a class.
func (f *Framework) Instances(string) int { return 0 }

// SetBudget sets the compile budget.
func (f *Framework) SetBudget(int) {}

// PurgeAll empties the cache.
func (f *Framework) PurgeAll() {}

// FailSurface makes a function of the surface library fail.
func (f *Framework) FailSurface(string, int) {}
