package wire

import (
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// Compile brings a program: descriptor 0 is a sealed memfd with its text, the others hold
// weight files.
type Compile struct {
	File     string // name used in messages
	Function string // procedure to run; empty means the default
	TextSize uint64 // bytes of MIL at the start of descriptor 0
	Weights  []Weight
	// Key of an earlier Compiled asks for that program out of the broker's cache. With
	// it come neither descriptors nor text nor weights; the answer is a Fault that
	// matches ane.ErrName when the cache has lost it.
	Key string
}

// Weight is one weight file: Size bytes at Offset of a descriptor of the frame. Files may
// share a descriptor.
type Weight struct {
	Name         string // path as the program writes it
	Descriptor   uint32 // below MaxDescriptors
	Offset, Size uint64
}

// Instance makes a program out of a compiled one, with weight files of its own and without
// compiling again. The answer is Compiled.
type Instance struct {
	Program uint32 // the base
	Weights []Weight
	Args    Arguments
}

// Arguments are what one instance of a program may ask for.
type Arguments struct {
	PowerSaving bool
	Aggressive  bool   // more of it; an entitlement of the restricted tier
	KeepWired   bool   // keep the memory of the program wired between requests
	QueueDepth  uint32 // requests in flight, at most driverabi.QueueDepth; 0 for the broker's default
}

// Compiled answers Compile and Instance.
type Compiled struct {
	Program uint32
	Cached  bool
	Key     string // by which the cache knows the program, for Purge
	In, Out []ane.Layout
	Notes   []string
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
	QueueDepth uint32 // granted
}

// Unload undoes Load.
type Unload struct{ Program uint32 }

// Release frees a program.
type Release struct{ Program uint32 }

func (p *Compile) fields(c *coder) {
	c.text("file", &p.File, MaxPath)
	c.text("function", &p.Function, MaxName)
	c.size("text size", &p.TextSize)
	weights(c, &p.Weights)
	c.text("key", &p.Key, MaxName)
}

func (p *Weight) fields(c *coder) {
	c.text("name", &p.Name, MaxPath)
	c.below("descriptor", &p.Descriptor, MaxDescriptors)
	c.size("offset", &p.Offset)
	c.size("size", &p.Size)
}

func weights(c *coder, list *[]Weight) {
	for i := range items(c, "weights", list, MaxWeights) {
		(*list)[i].fields(c)
	}
}

func (p *Instance) fields(c *coder) {
	c.u32("program", &p.Program)
	weights(c, &p.Weights)
	p.Args.fields(c)
}

func (p *Arguments) fields(c *coder) {
	c.flag("power saving", &p.PowerSaving)
	c.flag("aggressive power saving", &p.Aggressive)
	c.flag("keep wired", &p.KeepWired)
	c.below("queue depth", &p.QueueDepth, driverabi.QueueDepth+1)
}

func (p *Compiled) fields(c *coder) {
	c.u32("program", &p.Program)
	c.flag("cached", &p.Cached)
	c.text("key", &p.Key, MaxName)
	layouts(c, "inputs", &p.In)
	layouts(c, "outputs", &p.Out)
	for i := range items(c, "notes", &p.Notes, MaxNotes) {
		c.text("note", &p.Notes[i], MaxText)
	}
}

func (p *Load) fields(c *coder) {
	c.u32("program", &p.Program)
	c.u32("qos", &p.QoS)
	p.Args.fields(c)
}

func (p *Loaded) fields(c *coder) {
	c.u32("program", &p.Program)
	c.below("queue depth", &p.QueueDepth, driverabi.QueueDepth+1)
}

func (p *Unload) fields(c *coder) { c.u32("program", &p.Program) }

func (p *Release) fields(c *coder) { c.u32("program", &p.Program) }

// Status asks about a program.
type Status struct{ Program uint32 }

// StatusReply answers Status.
type StatusReply struct {
	Program  uint32
	Loaded   bool
	Resident bool   // memory wired
	Queued   uint32 // requests waiting
	Running  uint32
	Done     uint64 // requests finished
	Args     Arguments
}

func (p *Status) fields(c *coder) { c.u32("program", &p.Program) }

func (p *StatusReply) fields(c *coder) {
	c.u32("program", &p.Program)
	c.flag("loaded", &p.Loaded)
	c.flag("resident", &p.Resident)
	c.u32("queued", &p.Queued)
	c.u32("running", &p.Running)
	c.u64("done", &p.Done)
	p.Args.fields(c)
}

// layouts is a list of tensors as the program declares them.
func layouts(c *coder, name string, list *[]ane.Layout) {
	for i := range items(c, name, list, MaxTensors) {
		layout(c, &(*list)[i])
	}
}

func layout(c *coder, l *ane.Layout) {
	c.text("name", &l.Name, MaxName)
	dtype := uint32(l.DType)
	c.below("dtype", &dtype, uint32(mil.UInt64)+1)
	l.DType = mil.DType(dtype)
	for i := range items(c, "shape", &l.Shape, ane.MaxRank) {
		length(c, "axis", &l.Shape[i])
	}
	for _, p := range []*int{
		&l.Batches, &l.Channels, &l.Depth, &l.Height, &l.Width,
		&l.BatchStride, &l.PlaneStride, &l.DepthStride, &l.RowStride,
	} {
		length(c, "axis or stride", p)
	}
}

// length is an int from 0 to MaxBytes.
func length(c *coder, field string, p *int) {
	v := uint64(*p)
	if *p < 0 {
		c.fail(field, ErrValue, fmt.Sprintf("%d is negative", *p))
	}
	c.size(field, &v)
	if c.reading {
		*p = int(v)
	}
}
