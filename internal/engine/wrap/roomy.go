package wrap

import "github.com/anekit/anekit/ane"

// Roomy returns an engine that works like e and wants surfaces of at least 48 KiB, and of one size on each side of a
// request, as Apple's. It owns e. Tests use it.
func Roomy(e ane.Engine) ane.Engine { return roomy{Engine{e}} }

type roomy struct{ Engine }

// Info implements ane.Engine.
func (r roomy) Info() ane.Info {
	i := r.Engine.Info()
	i.MinSurface = 48 << 10
	return i
}
