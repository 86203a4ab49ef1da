// Package resources is what the clients of a broker hold. They hold programs in memory and in the cache on disk, and
// uploads that become programs. They hold registered memory, and requests that tie a program to memory. Budgets limit
// all of it. Only compiles and loads wait for the engine here; package calls has the other waits.
//
// Everything of one client is guarded by its connection's turn, unless a comment says otherwise.
package resources

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// Name is what errors of the broker give as the engine.
const Name = "broker"

// Exhausted is the answer to one more than a client may have.
func Exhausted(op, name, what string, limit int, hint string) error {
	return &ane.Error{Op: op, Engine: Name, Name: name, Err: ane.ErrExhausted,
		Detail: fmt.Sprintf("limit of %d %s", limit, what), Hint: hint}
}

// Unknown is the answer to a handle that the connection does not have.
func Unknown(op, what string, handle uint32) error {
	return &ane.Error{Op: op, Engine: Name, Name: fmt.Sprintf("%s %d", what, handle), Err: ane.ErrForeign,
		Detail: "this connection has none of this number", Hint: "use the numbers that the broker answered with"}
}

// Client is what one client holds.
type Client struct {
	Owes     *Account
	Surfaces Registrations
	Programs Programs
	Requests Requests
}

// NewClient makes a client that holds nothing. Open follows when it is admitted, and Free.
func NewClient(b *Budgets, live *Residents) *Client {
	c := &Client{Owes: b.Open()}
	c.Surfaces = Registrations{driver: live.driver, owes: c.Owes, table: newTable[registration](nil)}
	handles := &atomic.Uint32{} // of programs and requests
	c.Programs = Programs{driver: live.driver, live: live, owes: c.Owes, loaded: map[*Resident]*attachment{},
		table: newTable[Program](handles)}
	c.Requests = Requests{programs: &c.Programs, surfaces: &c.Surfaces, table: newTable[Request](handles)}
	return c
}

// Open gives the client its connections to the driver.
func (c *Client) Open(dev *Device) { c.Surfaces.dev, c.Programs.dev = dev, dev }

// Free gives back everything. The driver has ended its client.
func (c *Client) Free() error {
	defer c.Owes.Close()
	return errors.Join(c.Surfaces.free(), c.Programs.free())
}

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
