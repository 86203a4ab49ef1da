package objcbridge

import (
	"runtime"
	"sync"
)

// process is the state that C has once per process and not per Bridge: libraries that cannot be
// unloaded, the function that C calls back, and memory that C reads.
var process struct {
	sync.Mutex
	libraries map[string]*library // by resolved path; "" for the one in the binary; never unloaded
	// C address of completed, made when the first run starts: such addresses are never freed
	callback uintptr
	runs     map[uintptr]*run             // asynchronous runs without an answer, by number
	lastRun  uintptr                      // numbers increase and are never used again
	pinned   map[*runtime.Pinner]struct{} // texts and weights of open Programs, which C reads
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
