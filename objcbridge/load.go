package objcbridge

import "github.com/anekit/anekit/internal/bridgedir"

// load returns the library at the explicit path, or the one found by the search. It loads it at the
// first call. It does not record failures: the next call searches again. A file that was loaded and is
// not a bridge of this version stays loaded, because Objective-C cannot be unloaded; only a new
// process sees a replacement of the same name.
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

// Probe returns nil if Open would find a usable bridge library; otherwise the error matches
// ErrBridgeUnavailable. It loads the library but no framework.
func Probe() error { return ProbeLibrary("") }

// ProbeLibrary is Probe for Options.Library. Its error matches ErrBridgeUnavailable, too.
func ProbeLibrary(path string) error {
	_, err := load(path)
	return err
}
