package wire

import "github.com/anekit/anekit/internal/numerics"

// Hello is the first frame of a client; everything before it is refused. The memory of a
// Bell may come beside it.
type Hello struct {
	Version    uint32 // Version
	Tier       string // wanted tier; empty for what the broker grants
	Numerics   uint32 // numerics.Mode of the client's programs
	Executable string // path of the client's program, for logs only
}

// HelloReply admits a client.
type HelloReply struct {
	Version  uint32
	Session  uint64 // number of the connection, for logs
	PID      uint32 // the broker's process
	Tier     string // granted
	Identity string // what the broker binds caches and residency to

	// Engine of the broker, as ane.Info has it.
	Engine, Chip, OSBuild, Numerics, Sharing string
	Offsets                                  bool

	Limits Limits
	Bell   bool // the broker answers the Bell that came beside Hello
}

// Limits are what a broker grants one client.
type Limits struct {
	Surfaces, Programs, Requests, Queued uint32
	PinnedBytes                          uint64
	Mappings, Descriptors, MemoryBytes   uint64 // budgets of the broker's process; see Stats for what is used
}

func (p *Hello) fields(c *coder) {
	c.u32("version", &p.Version)
	c.text("tier", &p.Tier, MaxName)
	c.below("numerics", &p.Numerics, uint32(len(numerics.Modes())))
	c.text("executable", &p.Executable, MaxPath)
}

func (p *HelloReply) fields(c *coder) {
	c.u32("version", &p.Version)
	c.u64("session", &p.Session)
	c.u32("pid", &p.PID)
	c.text("tier", &p.Tier, MaxName)
	c.text("identity", &p.Identity, MaxName)
	c.text("engine", &p.Engine, MaxName)
	c.text("chip", &p.Chip, MaxName)
	c.text("os build", &p.OSBuild, MaxName)
	c.text("numerics", &p.Numerics, MaxText)
	c.text("sharing", &p.Sharing, MaxText)
	c.flag("offsets", &p.Offsets)
	c.u32("surfaces", &p.Limits.Surfaces)
	c.u32("programs", &p.Limits.Programs)
	c.u32("requests", &p.Limits.Requests)
	c.u32("queued", &p.Limits.Queued)
	c.u64("pinned bytes", &p.Limits.PinnedBytes)
	c.u64("mappings", &p.Limits.Mappings)
	c.u64("descriptors", &p.Limits.Descriptors)
	c.u64("memory bytes", &p.Limits.MemoryBytes)
	c.flag("bell", &p.Bell)
}

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
