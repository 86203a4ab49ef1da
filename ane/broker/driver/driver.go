package driver

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// Driver is the one owner of an engine's time. Its methods may be called from
// several goroutines.
type Driver struct{ opts Options }

// New starts a driver. The error matches ane.ErrUnavailable without an Engine, and
// ane.ErrLength for depths outside their bounds.
func New(o Options) (*Driver, error) { return &Driver{opts: o}, nil }

// Attach admits a client. Without Privileged the error matches ane.ErrDenied and
// names the entitlement; after Close it matches ane.ErrClosed.
func (d *Driver) Attach(info ClientInfo) (*Client, error) {
	return &Client{driver: d, info: info}, nil
}

// AddProgram makes a program known by a number that cannot be guessed. The caller
// keeps owning it; the first client that creates it decides whose Identity it has.
func (d *Driver) AddProgram(x ane.Executable) (resource uint64, err error) { return 0, nil }

// AddWeights makes weight files known by a number, for ANE_ProgramCreateInstance.
func (d *Driver) AddWeights(w ane.Weights) (resource uint64, err error) { return 0, nil }

// RemoveProgram forgets a program or weights; ane.ErrInUse while a client has them
// created.
func (d *Driver) RemoveProgram(resource uint64) error { return nil }

// AddSurface makes a Block known by a number and holds it. Any client that knows the
// number may map it, as with IOSurface ids: whoever hands out numbers keeps a table of
// whose they are.
func (d *Driver) AddSurface(b *unimem.Block) (surface uint32, err error) { return 0, nil }

// RemoveSurface lets go of the Block; ane.ErrInUse while a client has it mapped.
func (d *Driver) RemoveSurface(surface uint32) error { return nil }

// Stats tells what the driver holds.
func (d *Driver) Stats() Stats { return Stats{} }

// Close refuses new requests and waits for accepted ones until ctx ends; what is left
// then is cancelled. Every client is closed. The error matches ane.ErrStuck when the
// engine does not come back from a cancelled request.
func (d *Driver) Close(ctx context.Context) error { return nil }

// Stats counts what a Driver holds.
type Stats struct {
	Clients   int
	Programs  int // added, instances included
	Resident  int // loaded
	Surfaces  int // added
	Mapped    int // with a device range
	Bound     int // prepared Invocations
	Queued    int // requests in the queue
	Running   int // 0 or 1
	Completed uint64
	Instances uint64 // made through Options.Instance, which may compile
}
