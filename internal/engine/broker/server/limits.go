package server

import (
	"time"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// What one client, or the broker, may have at a time. A client that asks for more
// gets a fault that matches ane.ErrExhausted and keeps its connection.
const (
	// MaxClients of one broker. Each costs a descriptor, two goroutines and its
	// tables.
	MaxClients = 64
	// MaxTroubles is how many frames in a row a client may send that are refused
	// before it is cut off as one that does nothing else.
	MaxTroubles = 1000
)

// What the process keeps for itself of what the system lets it have. Its clients have the rest.
const (
	// defaultMappings is vm.max_map_count as Linux sets it, where it cannot be read.
	defaultMappings = 65530
	// reservedMappings are for the runtime: stacks of threads (two for each of two threads for a connection), the
	// heap's arenas, and ranges of pages that it has given back. Idle it has some 30.
	reservedMappings = 16384
	// reservedFiles are for MaxClients connections and a quarter more that wait: the socket, and while a frame is
	// answered the descriptors that came with it and their copies; and 64 for the listener, the cache and the runtime.
	reservedFiles = 64 + (MaxClients+MaxClients/4)*(4+2*wire.MaxDescriptors)
	// ownFiles are the broker's without clients, and placeFiles what one needs for its socket and while it is admitted.
	// Where the system permits fewer descriptors than reservedFiles, there are fewer places than MaxClients.
	ownFiles   = 16
	placeFiles = 4
	// mostFiles bounds the descriptors where the system does not; each costs memory of the kernel.
	mostFiles = 1 << 18
	// memoryShare is the part of the memory that clients may have: one half. The other one is for the garbage of the
	// heap, which may be as large as what is in use.
	memoryShare = 2
	// boundShare is the part of the clients' memory that prepared requests may have in the driver, which prepares
	// again what it has dropped. It is divided evenly, so one client has 4 MiB of 2 GiB.
	boundShare = 8
)

// How long the broker waits.
const (
	// helloTime is what a new connection has to introduce itself.
	helloTime = 5 * time.Second
	// writeTime is how long an answer may wait for a client that does not read. It
	// has a socket buffer of its own before that.
	writeTime = 2 * time.Second
	// endTime is what running requests have to end when a broker closes.
	endTime = 5 * time.Second
)
