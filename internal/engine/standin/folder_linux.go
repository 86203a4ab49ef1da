//go:build cgo

package standin

import (
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/anekit/anekit/ane"
)

// temporary names the variable that GNUstep looks at for the folder of temporary
// files, where the framework keeps programs.
const temporary = "TEMP"

// programs gives the framework a folder of this process for as long as engines are
// open. Without it processes that compile the same program share its files, and one
// may remove them while another compiles: on a Mac a broker stands between them.
type programs struct {
	mu    sync.Mutex
	users int
	path  string // empty until the libraries are loaded; the folder is there while users > 0
}

// choose settles the path and calls load with the variable set to it: GNUstep copies
// the environment when it is loaded, and never looks again.
func (p *programs) choose(load func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, set := os.LookupEnv(temporary)
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
	return load()
}

// unused returns the path of a folder that can be made in base, or where temporary
// files go when base is empty.
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
		Detail: "no folder for the files of programs", Hint: "set " + temporary + " to a folder that can be written"}
}

// open counts an engine more.
func (p *programs) open() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users == 0 {
		if err := os.Mkdir(p.path, 0o700); err != nil {
			return noFolder(err)
		}
	}
	p.users++
	return nil
}

// close counts one less and removes the folder with the last, also when there are
// files left, as the framework leaves them where it cannot open their folders.
func (p *programs) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users--; p.users > 0 {
		return nil
	}
	err := os.Remove(p.path)
	if err == nil {
		return nil
	}
	return &ane.Error{Op: "close", Engine: Name,
		Err:    ane.Because(ane.ErrEngine, errors.Join(err, os.RemoveAll(p.path))),
		Detail: "the framework has left files of programs", Hint: "check the limit of open files (ulimit -n)"}
}
