package driver

import (
	"encoding/binary"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// This file is the whole of what is ours in the ABI: the source gives most structures
// a size and no field. Every type here is written into, and read from, bytes that
// package driverabi keeps as unknown. Numbers are little-endian and stand at the
// offsets given.
var le = binary.LittleEndian

// Create asks for a program. Ours: +0x00 resource.
type Create struct{ Resource uint64 }

// Encode writes x to s.
func (x Create) Encode(s *driverabi.ProgramCreate) { le.PutUint64(s.Raw[0:], x.Resource) }

// Decode reads x from s.
func (x *Create) Decode(s *driverabi.ProgramCreate) { x.Resource = le.Uint64(s.Raw[0:]) }

// Arguments of an instance.
const (
	PowerSaving    uint32 = 1 << 0 // runs one level lower
	MoreAggressive uint32 = 1 << 1 // runs at the lowest level; restricted tier only
	KeepWired      uint32 = 1 << 2 // opts out of memory unwiring, of which this driver has none
)

// Instance asks for a program that has the code of a base and weights of its own.
// Ours: +0x00 token of the base, +0x08 resource of the weights, +0x10 arguments,
// +0x14 queue depth, 0 for the client's.
type Instance struct {
	Base     uint64
	Resource uint64
	Flags    uint32
	Depth    uint32
}

// Encode writes x to s.
func (x Instance) Encode(s *driverabi.CreateInstance) {
	le.PutUint64(s.Raw[0:], x.Base)
	le.PutUint64(s.Raw[8:], x.Resource)
	le.PutUint32(s.Raw[16:], x.Flags)
	le.PutUint32(s.Raw[20:], x.Depth)
}

// Decode reads x from s.
func (x *Instance) Decode(s *driverabi.CreateInstance) {
	x.Base, x.Resource = le.Uint64(s.Raw[0:]), le.Uint64(s.Raw[8:])
	x.Flags, x.Depth = le.Uint32(s.Raw[16:]), le.Uint32(s.Raw[20:])
}

// Prepare names what create or create-instance was given; the answer has its token
// and the handle of its intermediate buffers, which is one for all that share a
// resident program. Ours: in and out +0x00 resource; out +0x08 token, +0x10 handle.
type Prepare struct{ Resource, Token, Intermediate uint64 }

// Encode writes x to s.
func (x Prepare) Encode(s *driverabi.ProgramPrepare) {
	le.PutUint64(s.Raw[0:], x.Resource)
	le.PutUint64(s.Raw[8:], x.Token)
	le.PutUint64(s.Raw[16:], x.Intermediate)
}

// Decode reads x from s.
func (x *Prepare) Decode(s *driverabi.ProgramPrepare) {
	x.Resource, x.Token, x.Intermediate = le.Uint64(s.Raw[0:]), le.Uint64(s.Raw[8:]), le.Uint64(s.Raw[16:])
}

// Unprepare names a prepared program. Ours: +0x00 token.
type Unprepare struct{ Token uint64 }

// Encode writes x to s.
func (x Unprepare) Encode(s *driverabi.ProgramUnprepare) { le.PutUint64(s.Raw[0:], x.Token) }

// Decode reads x from s.
func (x *Unprepare) Decode(s *driverabi.ProgramUnprepare) { x.Token = le.Uint64(s.Raw[0:]) }

// Destroy names a program that is not prepared: by its token, or, with token 0, by its
// resource, for one that never got as far. Ours: +0x00 token, +0x08 resource.
type Destroy struct{ Token, Resource uint64 }

// Encode writes x to s.
func (x Destroy) Encode(s *driverabi.ProgramDestroy) {
	le.PutUint64(s.Raw[0:], x.Token)
	le.PutUint64(s.Raw[8:], x.Resource)
}

// Decode reads x from s.
func (x *Destroy) Decode(s *driverabi.ProgramDestroy) {
	x.Token, x.Resource = le.Uint64(s.Raw[0:]), le.Uint64(s.Raw[8:])
}

// RunInline, a flag of a request, asks for the run on the caller's goroutine when the
// engine and its queue are idle; otherwise the request is queued as without it.
const RunInline uint32 = 1 << 0

// Submit is what a request has beside its documented fields. Ours: +0x220, after the
// surface identifiers, flags; +0x228 the nanoseconds it may take once it is accepted, waiting
// included, 0 for any. The one scalar of the selector is the doorbell index.
type Submit struct {
	Flags   uint32
	Timeout uint64
}

// Offsets of Submit within a request.
const (
	submitFlags   = 0x220
	submitTimeout = 0x228
)

// Encode writes x to s.
func (x Submit) Encode(s *driverabi.SendRequest) {
	le.PutUint32(s.Raw[submitFlags:], x.Flags)
	le.PutUint64(s.Raw[submitTimeout:], x.Timeout)
}

// Decode reads x from s.
func (x *Submit) Decode(s *driverabi.SendRequest) {
	x.Flags, x.Timeout = le.Uint32(s.Raw[submitFlags:]), le.Uint64(s.Raw[submitTimeout:])
}

// Values of the status flag in the answer to a request. The source gives none; these
// are the status types of Apple's evaluate path, and 0.
const (
	StatusAccepted uint32 = 0 // with a port: the completion tells the rest
	StatusFinished uint32 = 8
	StatusFailed   uint32 = 9
)
