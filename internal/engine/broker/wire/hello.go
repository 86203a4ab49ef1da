package wire

// Hello is the first frame of a client; everything before it is refused. The memory of a
// Bell may come beside it.
type Hello struct {
	Version    uint32 // Version
	Tier       string `max:"name"` // wanted tier; empty for what the broker grants
	Numerics   uint32 `max:"mode"` // numerics.Mode of the client's programs
	Executable string `max:"path"` // path of the client's program, for logs only
}

// HelloReply admits a client.
type HelloReply struct {
	Version  uint32
	PID      uint32 // the broker's process
	Tier     string `max:"name"` // granted
	Identity string `max:"name"` // what the broker binds caches and residency to

	// Engine of the broker, as ane.Info has it.
	Chip, OSBuild string `max:"name"`
	Numerics      string `max:"text"`

	Queued uint32 // requests that the client may have in flight; Stats has its other limits
	Bell   bool   // the broker answers the Bell that came beside Hello
}

// Empty is the payload of frames that say all with their kind.
type Empty struct{}

// Purge removes programs of the client's identity from the cache of compiled programs.
type Purge struct {
	Key string `max:"name"` // of Compiled; empty for all
}

// Purged answers Purge.
type Purged struct {
	Programs uint32
	Bytes    uint64
}

// Stats are counters of the broker.
type Stats struct {
	Counters []Counter `max:"counters"`
}

// Counter is one of them.
type Counter struct {
	Name  string `max:"name"`
	Value uint64
}
