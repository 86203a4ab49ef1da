package objcbridge

import (
	"os"
	"path/filepath"
	"strings"
)

// EnvDir is the environment variable with the folder of the bridge library.
const EnvDir = "ANEKIT_BRIDGE_DIR"

// places are the inputs of search. It is a type so that tests can replace the executable's path.
type places struct {
	explicit   string                 // Options.Library
	dir        string                 // value of EnvDir
	executable func() (string, error) // os.Executable
}

func hostPlaces(explicit string) places {
	return places{explicit: explicit, dir: os.Getenv(EnvDir), executable: os.Executable}
}

// find returns the absolute path of the bridge library. It resolves symbolic links so that one file is
// loaded once. A path or folder set by the user ends the search even if it is missing.
func (p places) find() (string, error) {
	if p.explicit != "" {
		return existing(p.explicit, "Options.Library")
	}
	if p.dir != "" {
		return existing(filepath.Join(p.dir, LibraryName()), EnvDir)
	}
	var looked []string
	for _, dir := range p.besideExecutable() {
		path := filepath.Join(dir, LibraryName())
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			return resolved, nil
		}
		looked = append(looked, path)
	}
	why := EnvDir + " is not set, and the path of the executable is unknown"
	if len(looked) > 0 {
		why = EnvDir + " is not set, and there is neither " + strings.Join(looked, " nor ")
	}
	return "", &unavailable{why: why, fix: howToGet()}
}

// besideExecutable lists the folders to search beside the executable, in order.
func (p places) besideExecutable() []string {
	path, err := p.executable()
	if err != nil {
		return nil
	}
	if path, err = filepath.EvalSymlinks(path); err != nil || !filepath.IsAbs(path) {
		return nil
	}
	dir := filepath.Dir(path)
	return []string{dir, filepath.Join(dir, "bridge")}
}

// existing resolves a path that the user gave in the named setting.
func existing(path, setting string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute)
	}
	if err != nil {
		return "", &unavailable{why: setting + " leads to " + path + ": " + err.Error(), fix: howToGet(), cause: err}
	}
	return absolute, nil
}

// Dir returns the folder in which Open with zero Options finds a bridge library on disk; it also has
// the stand-in's libraries. The error matches ErrBridgeUnavailable. Dir also searches the disk if the
// bridge is part of the binary.
func Dir() (string, error) {
	if cannotLoad != "" {
		return "", &unavailable{why: cannotLoad, fix: howToLoad}
	}
	path, err := hostPlaces("").find()
	if err != nil {
		return "", err
	}
	return filepath.Dir(path), nil
}
