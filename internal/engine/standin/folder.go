package standin

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/host"
)

// temporary is the environment variable with the folder of temporary files. GNUstep
// reads it, and the framework keeps programs there.
const temporary = "TEMP"

// userTempDir is the user's folder without EnvTempDir, as in the stand-in's confstr.
const userTempDir = "/tmp"

// programs gives the framework a folder of this process while engines are open, so
// that what it leaves is seen. With EnvTempDir the folder is that of all processes.
type programs struct {
	mu     sync.Mutex
	users  int
	shared bool   // the folder is not this process's own
	path   string // empty until the libraries are loaded; an own folder exists while users > 0
}

// choose sets the path and calls load with the variable set to it: GNUstep copies
// the environment when it is loaded and does not read it again. load gets the path if
// it is this process's folder.
func (p *programs) choose(load func(own string) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, set := os.LookupEnv(temporary)
	if user := os.Getenv(EnvTempDir); user != "" && p.path == "" {
		p.path, p.shared = cmp.Or(os.Getenv("TMPDIR"), user), true
	}
	if foreign := os.Getenv("TMPDIR"); host.Mac && p.path == "" && foreign != "" && filepath.Clean(foreign) != userTempDir {
		p.path, p.shared = foreign, true // which macOS 27 refuses
	}
	if p.path == "" {
		path, err := unused(before)
		if err != nil {
			return noFolder(err)
		}
		p.path = path
	}
	if err := os.Setenv(temporary, p.path); err != nil {
		return noFolder(err)
	}
	defer func() {
		if set {
			os.Setenv(temporary, before)
		} else {
			os.Unsetenv(temporary)
		}
	}()
	if p.shared {
		return load("")
	}
	return load(p.path)
}

// unused returns the path of a new folder in base, or in the system's folder of
// temporary files if base is empty.
func unused(base string) (string, error) {
	if base == "" {
		base = os.TempDir()
	}
	base, err := filepath.Abs(base)
	if err != nil {
		return "", err
	}
	path, err := os.MkdirTemp(base, "anekit-standin-")
	if err != nil {
		return "", err
	}
	return path, os.Remove(path)
}

func noFolder(err error) error {
	return &ane.Error{Op: "open", Engine: Name, Err: ane.Because(ane.ErrUnavailable, err),
		Detail: "the folder for programs' files cannot be made", Hint: "set " + temporary + " to a writable folder"}
}

// open adds an engine and makes the folder for the first.
func (p *programs) open() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users == 0 && !p.shared {
		if err := os.Mkdir(p.path, 0o700); err != nil {
			return noFolder(err)
		}
	}
	p.users++
	return nil
}

// close removes an engine. After the last it removes the folder, even if the
// framework has left files in it because it could not open their folders.
func (p *programs) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users--; p.users > 0 || p.shared {
		return nil
	}
	err := os.Remove(p.path)
	if err == nil {
		return nil
	}
	return &ane.Error{Op: "close", Engine: Name,
		Err:    ane.Because(ane.ErrEngine, errors.Join(err, os.RemoveAll(p.path))),
		Detail: "the framework left programs' files", Hint: "check the limit of open files (ulimit -n)"}
}
