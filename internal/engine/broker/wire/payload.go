package wire

// Limits of what payloads hold.
const (
	MaxName     = 1 << 10  // bytes of a name: tensor, tier, entitlement
	MaxPath     = 4 << 10  // bytes of a path: PATH_MAX of Linux
	MaxText     = 16 << 10 // bytes of a text for people: note, message, hint
	MaxTensors  = 256      // inputs or outputs of a program
	MaxWeights  = 4 << 10  // weight files of a program
	MaxSteps    = 1 << 10  // requests of a chain
	MaxNotes    = 1 << 10  // remarks of a compile
	MaxLines    = 4 << 10  // faults that a compile finds in one program
	MaxFaults   = 2 * MaxTensors
	MaxCauses   = 16  // sentinels that one error matches
	MaxCounters = 256 // counters of a Stats
	// MaxBytes bounds a size, offset or stride: ane.MaxBytes.
	MaxBytes = 1 << 40
)

// Payload is what a frame carries: every struct of this package that a Kind names.
type Payload interface {
	// Append writes the payload after b, whatever it holds.
	Append(b []byte) []byte
	// Parse reads a whole payload, replacing every field. On an error, an *Error, the
	// fields hold nothing of use.
	Parse(b []byte) error
	fields(*coder)
}

// Check tells the first field of a payload that the other side would refuse.
func Check(p Payload) error {
	c := writer(nil)
	p.fields(&c)
	if c.err == nil && len(c.b) > MaxLong {
		c.fail("payload", ErrLong, "more than MaxLong bytes")
	}
	return c.err
}

// The methods of every payload. They are written out because a call through an interface
// would put coder and payload on the heap, for every frame.

func (p *Hello) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Hello) Parse(b []byte) error   { c := reader(b, KindHello); p.fields(&c); return c.end() }

func (p *HelloReply) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *HelloReply) Parse(b []byte) error {
	c := reader(b, KindHello|Reply)
	p.fields(&c)
	return c.end()
}

func (p *Surface) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Surface) Parse(b []byte) error   { c := reader(b, KindSurface); p.fields(&c); return c.end() }

func (p *SurfaceReply) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *SurfaceReply) Parse(b []byte) error {
	c := reader(b, KindSurface|Reply)
	p.fields(&c)
	return c.end()
}

func (p *Drop) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Drop) Parse(b []byte) error   { c := reader(b, KindDrop); p.fields(&c); return c.end() }

func (p *Compile) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Compile) Parse(b []byte) error   { c := reader(b, KindCompile); p.fields(&c); return c.end() }

func (p *Instance) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Instance) Parse(b []byte) error   { c := reader(b, KindInstance); p.fields(&c); return c.end() }

func (p *Compiled) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Compiled) Parse(b []byte) error {
	c := reader(b, KindCompile|Reply)
	p.fields(&c)
	return c.end()
}

func (p *Load) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Load) Parse(b []byte) error   { c := reader(b, KindLoad); p.fields(&c); return c.end() }

func (p *Loaded) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Loaded) Parse(b []byte) error   { c := reader(b, KindLoad|Reply); p.fields(&c); return c.end() }

func (p *Unload) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Unload) Parse(b []byte) error   { c := reader(b, KindUnload); p.fields(&c); return c.end() }

func (p *Release) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Release) Parse(b []byte) error   { c := reader(b, KindRelease); p.fields(&c); return c.end() }

func (p *Bind) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Bind) Parse(b []byte) error   { c := reader(b, KindBind); p.fields(&c); return c.end() }

func (p *Bound) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Bound) Parse(b []byte) error   { c := reader(b, KindBind|Reply); p.fields(&c); return c.end() }

func (p *Unbind) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Unbind) Parse(b []byte) error   { c := reader(b, KindUnbind); p.fields(&c); return c.end() }

func (p *Evaluate) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Evaluate) Parse(b []byte) error   { c := reader(b, KindEvaluate); p.fields(&c); return c.end() }

func (p *Chain) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Chain) Parse(b []byte) error   { c := reader(b, KindChain); p.fields(&c); return c.end() }

func (p *Done) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Done) Parse(b []byte) error {
	c := reader(b, KindEvaluate|Reply)
	p.fields(&c)
	return c.end()
}

func (p *Cancel) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Cancel) Parse(b []byte) error   { c := reader(b, KindCancel); p.fields(&c); return c.end() }

func (p *Cancelled) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Cancelled) Parse(b []byte) error {
	c := reader(b, KindCancel|Reply)
	p.fields(&c)
	return c.end()
}

func (p *Purge) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Purge) Parse(b []byte) error   { c := reader(b, KindPurge); p.fields(&c); return c.end() }

func (p *Purged) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Purged) Parse(b []byte) error   { c := reader(b, KindPurge|Reply); p.fields(&c); return c.end() }

func (p *Stats) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Stats) Parse(b []byte) error   { c := reader(b, KindStats|Reply); p.fields(&c); return c.end() }

func (p *Status) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Status) Parse(b []byte) error   { c := reader(b, KindStatus); p.fields(&c); return c.end() }

func (p *StatusReply) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *StatusReply) Parse(b []byte) error {
	c := reader(b, KindStatus|Reply)
	p.fields(&c)
	return c.end()
}

func (p *Empty) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Empty) Parse(b []byte) error   { c := reader(b, 0); p.fields(&c); return c.end() }

func (p *Fault) Append(b []byte) []byte { c := writer(b); p.fields(&c); return c.b }
func (p *Fault) Parse(b []byte) error   { c := reader(b, KindFault); p.fields(&c); return c.end() }
