// Package bridgedir finds the folder with the libraries that `make bridge` builds.
package bridgedir

import (
	"os"
	"path/filepath"
	"strings"
)

// Env is the environment variable with the folder.
const Env = "ANEKIT_BRIDGE_DIR"

// Surface is the library with the stand-ins for IOSurface, CoreFoundation and libSystem.
const Surface = "libstandinsurface.so"

// Remedy says how to get the libraries.
const Remedy = "run `make bridge`, which builds it into build/bridge, and set " + Env + " to that folder"

// Places are where Find looks. It is a type so that tests can replace them.
type Places struct {
	Dir        string                 // value of Env
	Executable func() (string, error) // os.Executable
}

// Host returns the places of this process.
func Host() Places { return Places{os.Getenv(Env), os.Executable} }

// NotFound is the error of a library that is in no place.
type NotFound struct {
	Why   string // the places that were searched
	Cause error  // the error of a path that the user gave; may be nil
}

func (e *NotFound) Error() string { return e.Why }

// Unwrap returns Cause.
func (e *NotFound) Unwrap() error { return e.Cause }

// Find returns the absolute path of the library called name: in Dir if that is set, else beside the executable or
// in the folder bridge there. It resolves symbolic links so that one file is loaded once. The error is a *NotFound.
func (p Places) Find(name string) (string, error) {
	if p.Dir != "" {
		return Existing(filepath.Join(p.Dir, name), Env)
	}
	var looked []string
	for _, dir := range p.besideExecutable() {
		path := filepath.Join(dir, name)
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			return resolved, nil
		}
		looked = append(looked, path)
	}
	why := Env + " is not set, and the path of the executable is unknown"
	if len(looked) > 0 {
		why = Env + " is not set, and there is neither " + strings.Join(looked, " nor ")
	}
	return "", &NotFound{Why: why}
}

// besideExecutable lists the folders to search beside the executable, in order.
func (p Places) besideExecutable() []string {
	path, err := p.Executable()
	if err != nil {
		return nil
	}
	if path, err = filepath.EvalSymlinks(path); err != nil || !filepath.IsAbs(path) {
		return nil
	}
	dir := filepath.Dir(path)
	return []string{dir, filepath.Join(dir, "bridge")}
}

// Existing resolves a path that the user gave in the named setting. The error is a *NotFound.
func Existing(path, setting string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute)
	}
	if err != nil {
		return "", &NotFound{Why: setting + " leads to " + path + ": " + err.Error(), Cause: err}
	}
	return absolute, nil
}
