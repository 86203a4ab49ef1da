package server

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/anekit/anekit/internal/engine/broker/wire"
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
// limit is 5/8 of the memory. Clients have half of the memory, heap and other memory together. The worst case is 5/16
// of heap in use, as much garbage, and 3/16 of other memory.
func keepHeapWithin() {
	limit := thisProcess().memory * memoryShare / 8 * 5
	if limit < debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(limit)
	}
}

// spareProcessors is how many goroutines of a broker's own process may run beside the workers of its engine: those that
// read requests and send answers. Two would do with ringers. Where the kernel lacks what they need, each bell has a goroutine, from
// whose sleep the runtime takes the processor only at intervals, so calls of many clients queue for one. With 32 clients
// on two cores up to 21 calls waited. More than ten gain nothing, and each costs the garbage collector.
const spareProcessors = 10

// Processors raises GOMAXPROCS by spareProcessors, and returns what it was: the Workers of the broker's Config. A
// process that is a broker and nothing else calls it once, before it serves. Without the spare ones, a request that
// finds workers on every processor waits for the end of three steps: to be read, to run and to be answered. With them
// the system's scheduler interrupts a worker. From then on GOMAXPROCS does not follow the limits of the process's
// cgroup.
func Processors() (workers int) {
	workers = runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(workers + spareProcessors)
	return workers
}

// What one client, or the broker, may have at a time. A client that asks for more
// gets a fault that matches ane.ErrExhausted and keeps its connection.
const (
	// MaxClients of one broker. Each costs a descriptor, two goroutines and its
	// tables.
	MaxClients = 64
	// MaxTroubles is how many refused frames in a row a client may send before the broker closes its connection.
	MaxTroubles = 1000
)

// What the process keeps for itself of what the system lets it have. Its clients have the rest.
const (
	// defaultMappings is vm.max_map_count as Linux sets it, where it cannot be read.
	defaultMappings = 65530
	// reservedMappings are for the runtime: stacks of threads, the heap's arenas, and ranges of pages that it has given
	// back. A connection has two threads, a thread two stacks. Idle it has some 30.
	reservedMappings = 16384
	// reservedFiles are for MaxClients connections and a quarter more that wait. Each needs a socket, and during a
	// frame the descriptors that came with it and their copies. The listener, the cache and the runtime have 64.
	reservedFiles = 64 + (MaxClients+MaxClients/4)*(4+2*wire.MaxDescriptors)
	// ownFiles are the broker's without clients, and placeFiles what one needs for its socket and while it is admitted.
	// Where the system permits fewer descriptors than reservedFiles, there are fewer places than MaxClients.
	ownFiles   = 16
	placeFiles = 4
	// mostFiles bounds the descriptors where the system does not; each costs memory of the kernel.
	mostFiles = 1 << 18
	// memoryShare is the part of the memory that clients may have: one half. The other one is for the garbage of the
	// heap, which may be as large as what is in use.
	memoryShare = 2
	// boundShare is the part of the clients' memory that prepared requests may have in the driver, which prepares
	// again what it has dropped. It is divided evenly, so one client has 4 MiB of 2 GiB.
	boundShare = 8
)

// How long the broker waits.
const (
	// helloTime is what a new connection has to introduce itself.
	helloTime = 5 * time.Second
	// writeTime is how long an answer may wait for a client that does not read. It
	// has a socket buffer of its own before that.
	writeTime = 2 * time.Second
	// endTime is what running requests have to end when a broker closes.
	endTime = 5 * time.Second
)
