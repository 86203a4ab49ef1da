package unimem

import (
	"log/slog"
	"sync/atomic"
)

// Stats are the facts of this process about the memory of this package.
type Stats struct {
	Blocks     int64 // open Blocks, forgotten ones included
	Bytes      int64 // their sizes together; memory that was adopted is its maker's and not counted
	Mappings   int64 // open Mappings
	Forgotten  int64 // Blocks that became unreachable before Close; but on the heap they stay mapped
	Unbalanced int64 // Release calls that had no Retain to undo
}

// facts is the only mutable state of the package.
type facts struct {
	blocks, bytes, mappings, forgotten, unbalanced atomic.Int64

	// lastID numbers Blocks that have no number from the system.
	lastID atomic.Uint32
	// total is the memory of the machine in bytes, 0 until first asked for.
	total atomic.Uint64
	// plain remembers types known to be free of pointers; see pointerFree.
	plain [64]atomic.Uintptr
	// exhaustion has the functions that free idle memory; see OnExhausted.
	exhaustion exhaustion
}

var process facts

// Live reports what is open now. A test or a command that ends with Blocks or Mappings
// above where it began has leaked.
func Live() Stats {
	return Stats{
		Blocks:     process.blocks.Load(),
		Bytes:      process.bytes.Load(),
		Mappings:   process.mappings.Load(),
		Forgotten:  process.forgotten.Load(),
		Unbalanced: process.unbalanced.Load(),
	}
}

// nextID never gives 0.
func (f *facts) nextID() uint32 {
	for {
		if id := f.lastID.Add(1); id != 0 {
			return id
		}
	}
}

func (f *facts) memory() uint64 {
	if n := f.total.Load(); n != 0 {
		return n
	}
	n := machineMemory()
	f.total.Store(n)
	return n
}

// forgotten is what a lost Block leaves behind for the report.
type forgotten struct {
	id   uint32
	size int
	kind string
	log  *slog.Logger // nil for the default
}

// report runs when the collector finds a Block unreachable. A mapping stays: spans and views
// point into it and the collector cannot see them. Heap memory is the collector's own.
func (f forgotten) report() {
	process.forgotten.Add(1)
	fate := "its memory stays mapped"
	if f.kind == kindHeap {
		fate = "the collector takes its memory"
	}
	log := f.log
	if log == nil {
		log = slog.Default()
	}
	log.Warn("unimem: Block was forgotten without Close; "+fate,
		"id", f.id, "bytes", f.size, "backing", f.kind)
}
