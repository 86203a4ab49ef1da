package server

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

// allowance is what the broker's process may spend on its clients.
type allowance struct {
	mappings int64
	files    int64 // descriptors
	memory   int64 // bytes
	clients  int   // places
}

// or fills in what p does not say.
func (p allowance) or(q allowance) allowance {
	return allowance{mappings: cmp.Or(p.mappings, q.mappings), files: cmp.Or(p.files, q.files),
		memory: cmp.Or(p.memory, q.memory), clients: cmp.Or(p.clients, q.clients)}
}

// placesBeside is how many clients have a place where the broker keeps so many descriptors for itself.
func placesBeside(files int64) int {
	return int(min(max((files-ownFiles)/placeFiles, 1), MaxClients))
}

// spare is what a limit leaves beside a reserve; half of a limit that is smaller than twice that.
func spare(limit, reserve int64) int64 { return max(limit-reserve, limit/2) }

// keepHeapWithin has the collector work harder before the heap and its garbage take what else the process needs: its
// limit is 5/8 of the memory. Clients have one half of that, for the heap and for other memory together, so at the
// worst 5/16 of heap in use, as much garbage, and 3/16 of other memory.
func keepHeapWithin() {
	limit := thisProcess().memory * memoryShare / 8 * 5
	if limit < debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(limit)
	}
}

// spareProcessors is how many goroutines of a broker's own process may run beside the workers of its engine: those that
// read requests and send answers. Two would do if one that waits at a bell gave back its place, but the runtime takes
// it only when it looks, so that the calls of many clients queue up for a place: with 32 clients on two cores up to 21,
// which took half of the throughput. More than ten gain nothing, and each is one more for the collector of garbage.
const spareProcessors = 10

// Processors raises GOMAXPROCS by spareProcessors, and returns what it was: the Workers of the broker's Config. A
// process that is a broker and nothing else calls it once, before it serves. Without the spare ones a request that
// arrives while workers compute on every processor would wait for the end of a step to be read, for the end of the next
// one to run, and for a third to be answered; with them the system's scheduler interrupts a worker. From then on
// GOMAXPROCS does not follow the limits of the process's cgroup.
func Processors() (workers int) {
	workers = runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(workers + spareProcessors)
	return workers
}
