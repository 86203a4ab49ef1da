//go:build cgo

package standin

import (
	"fmt"
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
	mu     sync.Mutex
	users  int
	path   string
	before string // of the variable
	set    bool
}

// open counts an engine more.
func (p *programs) open() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users == 0 {
		if err := p.enter(); err != nil {
			return &ane.Error{Op: "open", Engine: Name, Err: ane.Because(ane.ErrUnavailable, err),
				Detail: "no folder for the files of programs", Hint: "set " + temporary + " to a folder that can be written"}
		}
	}
	p.users++
	return nil
}

func (p *programs) enter() error {
	p.before, p.set = os.LookupEnv(temporary)
	base := p.before
	if base == "" {
		base = os.TempDir()
	}
	path := filepath.Join(base, fmt.Sprintf("anekit-standin-%d", os.Getpid()))
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	p.path = path
	return os.Setenv(temporary, path)
}

// close counts one less and removes the folder with the last.
func (p *programs) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users--; p.users > 0 {
		return nil
	}
	if p.set {
		os.Setenv(temporary, p.before)
	} else {
		os.Unsetenv(temporary)
	}
	return os.Remove(p.path)
}
