package server

import (
	"cmp"
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
