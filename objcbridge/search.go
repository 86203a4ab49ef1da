package objcbridge

import (
	"errors"
	"path/filepath"

	"github.com/anekit/anekit/internal/bridgedir"
)

// EnvDir is the environment variable with the folder of the bridge library.
const EnvDir = bridgedir.Env

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
