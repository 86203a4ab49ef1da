package unimem

import (
	"log"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// Stats are counters of this process about the memory of this package.
type Stats struct {
	Blocks     int64 // open Blocks, including forgotten ones
	Bytes      int64 // sum of their sizes, without adopted memory
	Mappings   int64 // open Mappings
	Forgotten  int64 // Blocks that became unreachable before Close; except on the heap they stay mapped
	Unbalanced int64 // Release calls without a Retain
}

// facts is the mutable state of the package.
type facts struct {
	blocks, bytes, mappings, forgotten, unbalanced atomic.Int64

	// lastID is the last id of a Block without an id of the system.
	lastID atomic.Uint32
	// space is a random number of this process for Keys, 0 before its first use.
	space atomic.Uint64
	// memory is the memory of the machine in bytes.
	memory func() uint64
	// types caches which types memory can be viewed as.
	types types
	// exhaustion has the functions that free idle memory; see OnExhausted.
	exhaustion exhaustion
	room       sync.Mutex // held while memory of the Go heap is checked against limits and allocated
}

var process = facts{memory: sync.OnceValue(machineMemory)}

// Live returns what is open now. A test or a command that ends with more Blocks or Mappings than it began with has
// leaked.
func Live() Stats {
	return Stats{
		Blocks:     process.blocks.Load(),
		Bytes:      process.bytes.Load(),
		Mappings:   process.mappings.Load(),
		Forgotten:  process.forgotten.Load(),
		Unbalanced: process.unbalanced.Load(),
	}
}

// nextID returns a new id, never 0.
func (f *facts) nextID() uint32 {
	for {
		if id := f.lastID.Add(1); id != 0 {
			return id
		}
	}
}

// token returns the random number of this process, never 0.
func (f *facts) token() uint64 {
	f.space.CompareAndSwap(0, rand.Uint64()|1)
	return f.space.Load()
}

// forgotten describes an unreachable Block, for the report.
type forgotten struct {
	id   uint32
	size int
	kind string
}

// report runs when the collector finds a Block unreachable. It does not unmap: spans and views may point into the
// mapping, and the collector cannot see them. The collector frees heap memory itself.
func (f forgotten) report() {
	process.forgotten.Add(1)
	fate := "its memory stays mapped"
	if f.kind == kindHeap {
		fate = "the collector frees its memory"
	}
	// As slog.Warn prints it. Package log/slog would link the encoder of JSON into every program, 0.4 MB.
	log.Printf("WARN unimem: Block was forgotten without Close; %s id=%d bytes=%d backing=%s", fate, f.id, f.size, f.kind)
}
