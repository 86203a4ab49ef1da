package wire

import (
	"github.com/anekit/anekit/ane"
)

// Compile brings a program: descriptor 0 is a sealed memfd with its text, the others hold
// weight files.
type Compile struct {
	File     string   `max:"path"`  // name used in messages
	Function string   `max:"name"`  // procedure to run; empty means the default
	TextSize uint64   `max:"bytes"` // bytes of MIL at the start of descriptor 0
	Weights  []Weight `max:"weights"`
	// Key of an earlier Compiled asks for that program out of the broker's cache. The client sends no descriptors, text
	// or weights with it. If the cache has lost the program, the answer is a Fault that matches ane.ErrName.
	Key string `max:"name"`
}

// Weight is one weight file: Size bytes at Offset of a descriptor of the frame. Files may
// share a descriptor.
type Weight struct {
	Name         string `max:"path"`       // path as the program writes it
	Descriptor   uint32 `max:"descriptor"` // below MaxDescriptors
	Offset, Size uint64 `max:"bytes"`
}

// Instance makes a program out of a compiled one, with weight files of its own and without
// compiling again. The answer is Compiled.
type Instance struct {
	Program uint32   // the base
	Weights []Weight `max:"weights"`
	Args    Arguments
}

// Arguments are what one instance of a program may ask for.
type Arguments struct {
	PowerSaving bool
	Aggressive  bool   // more of it; an entitlement of the restricted tier
	KeepWired   bool   // keep the memory of the program wired between requests
	QueueDepth  uint32 `max:"depth"` // requests in flight, at most driverabi.QueueDepth; 0 for the broker's default
}

// Compiled answers Compile and Instance.
type Compiled struct {
	Program uint32
	Cached  bool
	Key     string       `max:"name"` // by which the cache knows the program, for Purge
	In, Out []ane.Layout `max:"tensors"`
	Notes   []string     `max:"notes,text"`
}

// Load makes a program ready to run.
type Load struct {
	Program uint32
	QoS     uint32 // quality of service of its requests, in Apple's numbers (0x21, ...)
	Args    Arguments
}

// Loaded answers Load.
type Loaded struct {
	Program    uint32
	QueueDepth uint32 `max:"depth"` // granted
}

// Unload undoes Load.
type Unload struct{ Program uint32 }

// Release frees a program.
type Release struct{ Program uint32 }
