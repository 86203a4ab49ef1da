package dynamic

import (
	"sync"

	"github.com/anekit/anekit/internal/iosurface"
)

// Paths of the two libraries on macOS. They are in the shared cache, not on disk.
const (
	ioSurfacePath      = "/System/Library/Frameworks/IOSurface.framework/IOSurface"
	coreFoundationPath = "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation"
)

// system loads the libraries once and never unloads them.
var system = sync.OnceValues(func() (*iosurface.Table, error) { return Load(ioSurfacePath, coreFoundationPath) })

// System returns the table of the libraries of macOS.
func System() (*iosurface.Table, error) { return system() }
