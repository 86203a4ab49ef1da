package dynamic

import (
	"sync"

	"github.com/anekit/anekit/unimem/internal/iosurface"
)

// Where macOS keeps the two libraries. They live in the shared cache, not on disk.
const (
	ioSurfacePath      = "/System/Library/Frameworks/IOSurface.framework/IOSurface"
	coreFoundationPath = "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation"
)

// system is loaded once and never unloaded.
var system = sync.OnceValues(func() (*iosurface.Table, error) { return Load(ioSurfacePath, coreFoundationPath) })

// System is the table of this machine's own libraries.
func System() (*iosurface.Table, error) { return system() }
