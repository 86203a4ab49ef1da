package objcbridge

import (
	"runtime"
	"sync"
)

// process is what belongs to the process rather than to a Bridge, because C has it once: libraries
// that cannot be unloaded, the one function that C calls back, and memory that C reads.
var process struct {
	sync.Mutex
	libraries map[string]*library // by resolved path, "" for the one in the binary; never unloaded
	// C address of completed, made when the first run starts: such addresses are never freed
	callback uintptr
	runs     map[uintptr]*run             // asynchronous runs without an answer, by number
	lastRun  uintptr                      // numbers rise; none is used twice
	pinned   map[*runtime.Pinner]struct{} // keeps texts and weights of Programs that nobody closed: C still reads them
}

// keep holds p until drop, also when the Program that it belongs to is garbage.
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
