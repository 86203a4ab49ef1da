package resources

import "github.com/anekit/anekit/internal/engine/broker/wire"

// What one client may have at a time. A client that asks for more gets a fault that matches ane.ErrExhausted and keeps
// its connection.
const (
	// MaxSurfaces of one client. Each costs a descriptor; 1024 is the usual limit of descriptors of a process, and the
	// broker raises its own.
	MaxSurfaces = 1024
	// MaxPrograms and MaxRequests of one client. A hundred loaded programs is
	// where Apple's engine ends; a request is some hundred bytes.
	MaxPrograms = 256
	MaxRequests = 4096
	// MaxUpload is how many bytes the text and the weights of one program may
	// have together.
	MaxUpload = wire.MaxUpload
	// maxMappings of one client: two for each surface (one of unimem, one of the software engine), one for each loaded
	// program, and those of eight compiles. It is more than MaxSurfaces and MaxPrograms need.
	maxMappings = 4096
	// maxDescriptors of one client: one for each surface, one for each loaded program, and those of the compiles in
	// progress. A client with MaxSurfaces and MaxPrograms has room for 48 compiles of 16 files.
	maxDescriptors = 2048
	// maxRoom is how much memory one compile may have for constants that it computes: what the software engine
	// takes at most.
	maxRoom = 2 << 30
	// DefaultCacheBytes bounds the files of the compile cache.
	DefaultCacheBytes = 1 << 30
)

// What a client is charged for things of the heap, in bytes.
const (
	// treeBytes are charged for each byte of a text during its compile. 40,000 additions took 43, a list of 1,000,000
	// numbers 38, most of it garbage.
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
