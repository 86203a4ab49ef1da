package driver

import (
	"encoding/binary"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// This file is the whole of what is ours in the ABI: the source gives most structures a size and no field. Every
// message is a Go struct, as long as its selector's structure. Its fields stand in memory order, little-endian, with no
// gaps but blank fields.
var le = binary.LittleEndian

// Bytes are the bytes of a message.
func Bytes(message any) []byte {
	b, _ := binary.Append(nil, le, message) // fails for what has no fixed size alone
	return b
}

// Parse reads a message of type T from the bytes of its structure, to whose length the
// dispatcher saw.
func Parse[T any](b []byte) (message T) {
	_, _ = binary.Decode(b, le, &message) // fails for a b that is too short alone
	return message
}

// Create asks for a program (control selector 3).
type Create struct {
	Resource uint64
	_        [24]byte
}

// Arguments of an instance.
const (
	PowerSaving    uint32 = 1 << 0 // runs one level lower
	MoreAggressive uint32 = 1 << 1 // runs at the lowest level; restricted tier only
	KeepWired      uint32 = 1 << 2 // opts out of memory unwiring, of which this driver has none
)

// Instance asks for a program that has the code of a base and weights of its own (control
// selector 8).
type Instance struct {
	Base     uint64 // token
	Resource uint64 // of the weights
	Flags    uint32 // arguments
	Depth    uint32 // of the queue, 0 for the client's
	_        [8]byte
}

// Prepare names the program that create or create-instance was given (control selector 4, in and out). The answer has
// its token and the handle of its intermediate buffers. All that share a resident program have one handle.
type Prepare struct {
	Resource            uint64
	Token, Intermediate uint64 // out
	_                   [32]byte
}

// Unprepare names a prepared program (control selector 5).
type Unprepare struct {
	Token uint64
	_     [48]byte
}

// Destroy names a program that is not prepared (control selector 6). If Token is 0, Resource names it: it never got a
// token.
type Destroy struct{ Token, Resource uint64 }

// Status is what GetStatus gives (control selector 7).
type Status struct {
	Clients  uint32 // attached
	Resident uint32 // programs loaded
	Mapped   uint32 // surfaces with a device range
	Queued   uint32 // requests of all clients in the queue
	Running  uint32 // 0 or 1
	InFlight uint32 // requests of this client that have not completed
	Depth    uint32 // how many it may have
	Bell     uint32 // doorbells rung since the queue was last empty, as a mask
}

// RunInline, a flag of a request, asks for a run on the caller's goroutine. If the engine or its queue is busy, the
// request is queued as without it.
const RunInline uint32 = 1 << 0

// Fields that a request has beside the documented ones, after its surface identifiers. The
// one scalar of its selector is the doorbell index.
const (
	RequestFlags   driverabi.Field32 = 0x220
	RequestTimeout driverabi.Field64 = 0x228 // ns from when it is accepted, waiting included; 0 for any
)

// Values of the status flag in the answer to a request. The source gives none; these
// are the status types of Apple's evaluate path, and 0.
const (
	StatusAccepted uint32 = 0 // with a port: the completion tells the rest
	StatusFinished uint32 = 8
	StatusFailed   uint32 = 9
)

// Resident submission: a chain is a prepared program whose output surfaces are named ahead of the inputs. Output sets
// wait in the order in which they were enqueued. Inputs-ready takes the first of them, runs the program, and answers
// when the outputs are written, as a request without a port. Its structure begins as a request, with the chain's token
// for the program's and the inputs for its surfaces. Requests of a chain have numbers of their own, which the driver
// does not compare; StopChain ends the one in flight. Setting the procedure begins a chain again, without output sets.

// MaxOutputs is how many surfaces an output set has at most: what fits its 40 bytes.
const MaxOutputs = 6

// MaxOutputSets is how many output sets of one chain may wait: as many as requests.
const MaxOutputSets = driverabi.QueueDepth

// Chain asks for the chain of a program (control selector 9).
type Chain struct {
	Token uint64 // of the program
	_     [8]byte
}

// Chained is the answer to Chain.
type Chained struct {
	Token uint64 // of the chain
	Sets  uint32 // how many output sets may wait
	_     [12]byte
}

// OutputSet is the outputs of one future run (direct selector 3).
type OutputSet struct {
	Chain    uint64 // token
	Count    uint32 // of surfaces
	_        uint32
	Surfaces [MaxOutputs]uint32
}

// NewOutputSet is the set of at most MaxOutputs surfaces.
func NewOutputSet(chain uint64, surfaces []uint32) OutputSet {
	x := OutputSet{Chain: chain, Count: uint32(len(surfaces))}
	copy(x.Surfaces[:], surfaces)
	return x
}

// Procedure is what SetActiveProcedure takes (direct selector 8).
type Procedure struct {
	Chain  uint64 // token
	Number uint32 // a program of this driver has procedure 0 alone
	_      [20]byte
}

// Hints of a session.
const (
	HintNone       uint32 = 0
	HintBackground uint32 = 1 // every request runs at the lowest level
)

// Hint is a bias for all requests of a session (direct selector 7).
type Hint struct {
	Session uint64 // token
	Hint    uint32
	_       uint32
}

// Hinted is the answer to Hint.
type Hinted struct {
	Session uint64
	Hint    uint32
	Before  uint32 // the hint before
	Queued  uint32 // the session's requests in the queue
	_       uint32
}

// Memory names a surface to map or unmap (direct selectors 5 and 6). The one scalar of the
// map selector is 0.
type Memory struct {
	Surface uint32
	_       [driverabi.MemoryMapSize - 4]byte
}
