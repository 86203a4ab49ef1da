package surfaces

import (
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/internal/iosurface"
	"github.com/anekit/anekit/unimem/internal/iosurface/dynamic"
	"github.com/anekit/anekit/unimem/internal/settings"
)

// Library is a loaded library of surfaces. The zero value and nil have no surfaces: opening
// memory with them returns unimem.ErrOption.
type Library struct {
	table *iosurface.Table
}

// Load opens the libraries with the functions of IOSurface and of CoreFoundation, by their
// paths; both may be the same library. A path has at least one slash: names without folder,
// which the loader would search for, are refused.
//
// The error is a *LoadError. It matches unimem.ErrCreate, and ErrNoLoader in a build that
// cannot open libraries (other than macOS, and Linux with cgo).
func Load(ioSurface, coreFoundation string) (*Library, error) {
	for _, path := range []string{ioSurface, coreFoundation} {
		if err := checkPath(path); err != nil {
			return nil, &LoadError{ioSurface, coreFoundation, err}
		}
	}
	t, err := dynamic.Load(ioSurface, coreFoundation)
	if err != nil {
		return nil, &LoadError{ioSurface, coreFoundation, err}
	}
	return &Library{t}, nil
}

// System returns the library of the operating system. On systems other than macOS the error is
// a *LoadError that matches ErrNoSystem.
func System() (*Library, error) {
	t, err := dynamic.System()
	if err != nil {
		return nil, &LoadError{Err: err}
	}
	return &Library{t}, nil
}

// Option makes unimem.Open, NewGrid, Start and NewLayout create surfaces of this library, each
// locked from creation until Close. The Blocks have Backing "IOSurface".
func (l *Library) Option() unimem.Option {
	return func(s *settings.Settings) { s.Surfaces(l.functions()) }
}

func (l *Library) functions() *iosurface.Table {
	if l == nil {
		return nil
	}
	return l.table
}
