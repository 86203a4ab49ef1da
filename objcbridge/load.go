package objcbridge

import (
	"errors"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/anekit/anekit/internal/bridgedir"
)

// EnvDir is the environment variable with the folder of the bridge library.
const EnvDir = bridgedir.Env

// process is the state that C has once per process and not per Bridge: libraries that cannot be
// unloaded, and memory that C reads.
var process struct {
	sync.Mutex
	libraries map[string]*library          // by resolved path; "" for the one in the binary; never unloaded
	pinned    map[*runtime.Pinner]struct{} // texts and weights of open Programs, which C reads
}

// keep holds p until drop, even if its Program is garbage.
func keep(p *runtime.Pinner) {
	process.Lock()
	defer process.Unlock()
	if process.pinned == nil {
		process.pinned = map[*runtime.Pinner]struct{}{}
	}
	process.pinned[p] = struct{}{}
}

func drop(p *runtime.Pinner) {
	process.Lock()
	delete(process.pinned, p)
	process.Unlock()
	p.Unpin()
}

// load returns the library at the explicit path, or the one found by the search. It loads it at the first call. It does
// not record failures: the next call searches again. A loaded file that is not a bridge of this version stays loaded,
// because Objective-C cannot be unloaded. Only a new process sees a replacement of the same name.
func load(explicit string) (*library, error) {
	if cannotLoad != "" {
		return nil, &unavailable{why: cannotLoad, fix: howToLoad}
	}
	own := builtin()
	path := ""
	if own == nil || explicit != "" {
		var err error
		if path, err = find(explicit, bridgedir.Host()); err != nil {
			return nil, err
		}
	}
	process.Lock()
	defer process.Unlock()
	if l := process.libraries[path]; l != nil {
		return l, nil
	}
	lookup := func(symbol string) uintptr { return own[symbol] }
	if path != "" {
		handle, err := openLibrary(path) // err has the path
		if err != nil {
			return nil, &unavailable{why: "cannot load the library: " + err.Error(), fix: howToGet(), cause: err}
		}
		lookup = func(symbol string) uintptr { return findSymbol(handle, symbol) }
	}
	l := &library{path: path}
	if err := l.fill(lookup); err != nil {
		return nil, &unavailable{why: err.Error(), fix: howToGet(), cause: err}
	}
	if process.libraries == nil {
		process.libraries = map[string]*library{}
	}
	process.libraries[path] = l
	return l, nil
}

// Probe returns nil if Open would find a usable bridge library at Options.Library, which may be empty; otherwise the
// error matches ErrBridgeUnavailable. It loads the library but no framework.
func Probe(library string) error {
	_, err := load(library)
	return err
}

// find returns the absolute path of the bridge library: Options.Library, or where bridgedir finds it. A path or
// folder set by the user ends the search even if it is missing.
func find(explicit string, places bridgedir.Places) (string, error) {
	var path string
	var err error
	if explicit != "" {
		path, err = bridgedir.Existing(explicit, "Options.Library")
	} else {
		path, err = places.Find(LibraryName())
	}
	var none *bridgedir.NotFound
	if errors.As(err, &none) {
		return "", &unavailable{why: none.Why, fix: howToGet(), cause: none.Cause}
	}
	return path, err
}

// Dir returns the folder in which Open with zero Options finds a bridge library on disk; it also has
// the stand-in's libraries. The error matches ErrBridgeUnavailable. Dir also searches the disk if the
// bridge is part of the binary.
func Dir() (string, error) {
	if cannotLoad != "" {
		return "", &unavailable{why: cannotLoad, fix: howToLoad}
	}
	path, err := find("", bridgedir.Host())
	if err != nil {
		return "", err
	}
	return filepath.Dir(path), nil
}
