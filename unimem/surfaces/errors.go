package surfaces

import (
	"errors"
	"fmt"
	"strings"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/internal/iosurface/dynamic"
)

// ErrNoLoader answers Load in a build that cannot open libraries: neither macOS nor Linux
// with CGO_ENABLED=1.
var ErrNoLoader = dynamic.ErrNoLoader

// ErrNoSystem answers System where the operating system has no IOSurface.
var ErrNoSystem = dynamic.ErrNoSystem

// ErrPath answers a path that does not name one file.
var ErrPath = errors.New("not the path of a library")

// LoadError is a library of surfaces that could not be loaded.
type LoadError struct {
	IOSurface, CoreFoundation string // the paths; empty for the system's own
	Err                       error  // ErrPath, ErrNoLoader, ErrNoSystem, or what the loader said
}

func (e *LoadError) Error() string {
	if e.IOSurface == "" && e.CoreFoundation == "" {
		return fmt.Sprintf("surfaces: load: %v", e.Err)
	}
	return fmt.Sprintf("surfaces: load %q and %q: %v", e.IOSurface, e.CoreFoundation, e.Err)
}

// Unwrap makes errors.Is match unimem.ErrCreate as well as the reason.
func (e *LoadError) Unwrap() []error { return []error{unimem.ErrCreate, e.Err} }

// checkPath refuses what the loader would take for something else: no name is the program
// itself, a bare name is searched for, and a zero byte cuts a name short.
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
