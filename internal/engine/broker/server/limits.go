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
	MaxUpload = wire.MaxUpload
	// MaxCompiles is how many compiles of one client may be unanswered, instances among
	// them.
	MaxCompiles = 256
	// maxCompiling is how many of them are done at a time; the others wait.
	maxCompiling = 8
	// shortText is how long a text is whose compile goes with the short ones: 10 ms of reading.
	shortText = 64 << 10
	// shortInRow compiles that have not run for a slice go before one that has.
	shortInRow = 8
	// maxLong is how long a frame may be that comes in a memfd, of which each client has one at a time: the names of
	// some 10,000 weight files. It is memory before it can be charged.
	maxLong = 1 << 20
	// MaxTroubles is how many frames in a row a client may send that are refused
	// before it is cut off as one that does nothing else.
	MaxTroubles = 1000
	// maxMappings of one client: two for each surface that is bound, as unimem and the software engine have one
	// each, one for each loaded program, and those of maxCompiling compiles. It is more than MaxSurfaces and
	// MaxPrograms need.
	maxMappings = 4096
	// maxDescriptors of one client: one for each surface, one for each loaded program, and those of the compiles
	// that are out. A client with MaxSurfaces and MaxPrograms has room for 48 compiles of 16 files.
	maxDescriptors = 2048
	// maxRoom is how much memory one compile may have for constants that it computes: what the software engine
	// takes at most. It has an eighth of what is left to the client where that is less.
	maxRoom = 2 << 30
	// DefaultCacheBytes bounds the files of the compile cache.
	DefaultCacheBytes = 1 << 30
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
	// reservedAddresses are for threads, where the address space is limited: each has a stack of 8 MiB and may have an
	// arena of the C library of 64 MiB.
	reservedAddresses = 1 << 30
	// leastMemory is what a private broker lets its client have where next to none is left of the address space.
	leastMemory = 128 << 20
	// mostFiles bounds the descriptors where the system does not; each costs memory of the kernel.
	mostFiles = 1 << 18
	// memoryShare is the part of the memory that clients may have: one half. The other one is for the garbage of the
	// heap, which may be as large as what is in use.
	memoryShare = 2
	// boundShare is the part of the clients' memory that prepared requests may have in the driver, which prepares
	// again what it has dropped. It is divided evenly, so one client has 4 MiB of 2 GiB.
	boundShare = 8
)

// What a client is charged for things of the heap, in bytes.
const (
	// treeBytes for each byte of a text while it is compiled: 43 with 40,000 additions, 38 with a list of
	// 1,000,000 numbers, most of it garbage.
	treeBytes = 48
	// waitingBytes for a compile that waits, besides twice its frame: a goroutine, and the lists of its files.
	waitingBytes = 16 << 10
	// programBytes for each handle of a program, and layoutBytes for each of its inputs and outputs.
	programBytes = 1 << 10
	layoutBytes  = 256
	// requestBytes for a request, with 2,376 of its evaluation in flight, and portBytes for each of its surfaces.
	requestBytes = 4 << 10
	portBytes    = 64
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
	// compileSlice is how long a compile runs before it gives way to others, between two of its steps. A compile of a
	// ready program takes 1 to 30 ms.
	compileSlice = 50 * time.Millisecond
	// endTime is what running requests have to end when a broker closes.
	endTime = 5 * time.Second
)
