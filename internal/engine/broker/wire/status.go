package wire

// Empty is the payload of frames that say all with their kind.
type Empty struct{}

// Purge removes programs of the client's identity from the cache of compiled programs.
type Purge struct {
	Key string // of Compiled; empty for all
}

// Purged answers Purge.
type Purged struct {
	Programs uint32
	Bytes    uint64
}

// Stats are counters of the broker.
type Stats struct {
	Counters []Counter
}

// Counter is one of them.
type Counter struct {
	Name  string
	Value uint64
}

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

func (p *Empty) fields(*coder) {}

func (p *Purge) fields(c *coder) { c.text("key", &p.Key, MaxName) }

func (p *Purged) fields(c *coder) {
	c.u32("programs", &p.Programs)
	c.u64("bytes", &p.Bytes)
}

func (p *Stats) fields(c *coder) {
	for i := range items(c, "counters", &p.Counters, MaxCounters) {
		c.text("name", &p.Counters[i].Name, MaxName)
		c.u64("value", &p.Counters[i].Value)
	}
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
