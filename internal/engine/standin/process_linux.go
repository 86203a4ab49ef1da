//go:build cgo

package standin

import (
	"os"
	"sync"

	"github.com/anekit/anekit/ane"
)

// process holds what a process has only once: libraries that are never unloaded
// and classes that are never unregistered.
var process struct {
	mu        sync.Mutex // guards library and framework, and serializes their creation
	library   *library
	framework *Framework
	pool      *os.File // made here, and open as long as the process; nil if another names the pool

	programs programs
}

// loaded returns the libraries in dir. It loads them at the first call.
func loaded(dir string) (*library, error) {
	dir, err := folder(dir)
	if err != nil {
		return nil, err
	}
	if l := process.library; l != nil {
		if l.dir != dir {
			return nil, &ane.Error{Op: "open", Engine: Name, Name: dir, Err: ane.ErrInUse,
				Detail: "this process has loaded the libraries in " + l.dir,
				Hint:   "use that folder or another process"}
		}
		return l, nil
	}
	var l *library
	err = process.programs.choose(func(own string) (err error) {
		if l, err = load(dir); err == nil && own != "" {
			l.setTempDir(own)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	process.library = l
	return l, nil
}
