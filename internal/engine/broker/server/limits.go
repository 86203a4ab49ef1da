package server

import "time"

// What one client, or the broker, may have at a time. A client that asks for more
// gets a fault that matches ane.ErrExhausted and keeps its connection.
const (
	// MaxClients of one broker. Each costs a descriptor, two goroutines and its
	// tables.
	MaxClients = 64
	// MaxSurfaces of one client. Each costs a descriptor once it is mapped; 1024 is
	// the usual limit of descriptors of a process, and the broker raises its own.
	MaxSurfaces = 1024
	// MaxPrograms and MaxRequests of one client. A hundred loaded programs is
	// where Apple's engine ends; a request is some hundred bytes.
	MaxPrograms = 256
	MaxRequests = 4096
	// MaxPinned is how many bytes of surfaces one client may have, unless
	// Config.PinBytes says otherwise: what a 32-bit size of the hardware can name.
	MaxPinned = 4 << 30
	// MaxUpload is how many bytes the text and the weights of one program may
	// have together.
	MaxUpload = 4 << 30
	// MaxCompiles is how many compiles of one client may be unanswered, instances among
	// them.
	MaxCompiles = 256
	// maxCompiling is how many of them are done at a time; the others wait.
	maxCompiling = 8
	// MaxTroubles is how many frames in a row a client may send that are refused
	// before it is cut off as one that does nothing else.
	MaxTroubles = 1000
	// DefaultCacheBytes bounds the files of the compile cache.
	DefaultCacheBytes = 1 << 30
)

// How long the broker waits.
const (
	// helloTime is what a new connection has to introduce itself.
	helloTime = 5 * time.Second
	// writeTime is how long an answer may wait for a client that does not read. It
	// has a socket buffer of its own before that.
	writeTime = 2 * time.Second
	// compileTime bounds a compile; longCompileTime one of a client with the
	// entitlement of the compiler service for large models.
	compileTime     = 60 * time.Second
	longCompileTime = 15 * time.Minute
	// endTime is what running requests have to end when a broker closes.
	endTime = 5 * time.Second
)
