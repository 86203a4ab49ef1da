package driver

import "github.com/anekit/anekit/internal/engine/driverabi"

// Memory lists surfaces to map or unmap. Ours: +0x00 count, at most
// driverabi.MaxSurfaces; from +0x20 an entry of 16 bytes for each, whose first 4 bytes
// are the surface's identifier. The one scalar of the map selector says which of them
// the device address in the answer belongs to.
type Memory struct{ Surfaces []uint32 }

const (
	memoryEntries = 0x20
	memoryEntry   = 16
)

// Encode writes x to s; an error of driverabi that matches ErrRange for more than
// driverabi.MaxSurfaces.
func (x Memory) Encode(s *driverabi.MemoryMap) error {
	if len(x.Surfaces) > driverabi.MaxSurfaces {
		return &driverabi.Error{Structure: "MemoryMap surfaces", Want: driverabi.MaxSurfaces,
			Have: uint64(len(x.Surfaces)),
			Hint: "map them in several calls", Err: driverabi.ErrRange}
	}
	le.PutUint32(s.Raw[0:], uint32(len(x.Surfaces)))
	for i, id := range x.Surfaces {
		le.PutUint32(s.Raw[memoryEntries+i*memoryEntry:], id)
	}
	return nil
}

// decode reads x from the bytes of a map or unmap request; false for a bad count.
func (x *Memory) decode(raw []byte) bool {
	n := le.Uint32(raw)
	if n == 0 || n > driverabi.MaxSurfaces {
		return false
	}
	x.Surfaces = x.Surfaces[:0]
	for i := range int(n) {
		x.Surfaces = append(x.Surfaces, le.Uint32(raw[memoryEntries+i*memoryEntry:]))
	}
	return true
}

// Hint is what SessionHint takes and gives: a bias for all requests of the session.
// Ours: +0x00 session token, +0x08 hint; in the answer +0x0c the hint before, and
// +0x10 the session's requests in the queue.
type Hint struct {
	Session uint64
	Hint    uint32
	Before  uint32
	Queued  uint32
}

// Hints of a session.
const (
	HintNone       uint32 = 0
	HintBackground uint32 = 1 // every request runs at the lowest level
)

// Encode writes the question to s.
func (x Hint) Encode(s *driverabi.SessionHint) {
	le.PutUint64(s.Raw[0:], x.Session)
	le.PutUint32(s.Raw[8:], x.Hint)
}

func (x *Hint) decode(s *driverabi.SessionHint) {
	x.Session, x.Hint = le.Uint64(s.Raw[0:]), le.Uint32(s.Raw[8:])
}

func (x Hint) encode(s *driverabi.SessionHintReply) {
	le.PutUint64(s.Raw[0:], x.Session)
	le.PutUint32(s.Raw[8:], x.Hint)
	le.PutUint32(s.Raw[12:], x.Before)
	le.PutUint32(s.Raw[16:], x.Queued)
}

// Decode reads the answer from s.
func (x *Hint) Decode(s *driverabi.SessionHintReply) {
	x.Session, x.Hint = le.Uint64(s.Raw[0:]), le.Uint32(s.Raw[8:])
	x.Before, x.Queued = le.Uint32(s.Raw[12:]), le.Uint32(s.Raw[16:])
}

// Status is what GetStatus gives. Ours: numbers of 32 bits from +0x00 on, in this
// order.
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

func (x Status) encode(s *driverabi.Status) {
	for i, v := range [...]uint32{x.Clients, x.Resident, x.Mapped, x.Queued, x.Running, x.InFlight, x.Depth, x.Bell} {
		le.PutUint32(s.Raw[4*i:], v)
	}
}

// Decode reads x from s.
func (x *Status) Decode(s *driverabi.Status) {
	for i, v := range []*uint32{&x.Clients, &x.Resident, &x.Mapped, &x.Queued, &x.Running, &x.InFlight, &x.Depth,
		&x.Bell} {
		*v = le.Uint32(s.Raw[4*i:])
	}
}
