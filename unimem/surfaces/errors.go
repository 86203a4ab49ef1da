package surfaces

import (
	"errors"
	"fmt"
	"strings"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/internal/iosurface/dynamic"
)

// ErrNoLoader: Load in a build that cannot open libraries: neither macOS nor Linux with
// CGO_ENABLED=1.
var ErrNoLoader = dynamic.ErrNoLoader

// ErrNoSystem: System on an operating system without IOSurface.
var ErrNoSystem = dynamic.ErrNoSystem

// ErrPath: a path that does not name a file.
var ErrPath = errors.New("not the path of a library")

// LoadError is the error of a library of surfaces that cannot be loaded.
type LoadError struct {
	IOSurface, CoreFoundation string // the paths; empty for the system's own
	Err                       error  // ErrPath, ErrNoLoader, ErrNoSystem, or the error of the loader
}

func (e *LoadError) Error() string {
	if e.IOSurface == "" && e.CoreFoundation == "" {
		return fmt.Sprintf("surfaces: load: %v", e.Err)
	}
	return fmt.Sprintf("surfaces: load %q and %q: %v", e.IOSurface, e.CoreFoundation, e.Err)
}

// Unwrap returns unimem.ErrCreate and Err.
func (e *LoadError) Unwrap() []error { return []error{unimem.ErrCreate, e.Err} }

// checkPath refuses paths that the loader would read differently: an empty path is the program
// itself, a name without folder is searched for, and a zero byte ends the path.
func checkPath(path string) error {
	switch {
	case path == "":
		return fmt.Errorf("%w: it is empty", ErrPath)
	case strings.ContainsRune(path, 0):
		return fmt.Errorf("%w: %q has a zero byte", ErrPath, path)
	case !strings.ContainsAny(path, `/\`):
		return fmt.Errorf("%w: %q has no folder; write ./%s for the working directory", ErrPath, path, path)
	}
	return nil
}
