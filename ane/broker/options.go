package broker

import "time"

// Name is what the engine calls itself on receipts.
const Name = "broker"

// Environment names a shared broker's socket for engines that are opened by name.
const Environment = "ANEKIT_BROKER"

// Options says which broker to open.
type Options struct {
	// Path is the socket of a shared broker; empty means a private process.
	Path string
	// Tier asks for an admission tier by name; empty means that of the policy.
	Tier string
	// Patience bounds every wait for the broker in calls that have no context:
	// starting it, binding, closing. Zero means 10 s.
	Patience time.Duration
}

// Counters are facts about one Engine's connections.
type Counters struct {
	Starts   int64 // private processes started, or connections made to a shared broker
	Restarts int64 // those after the first
	Lost     int64 // connections that ended without Close
}
