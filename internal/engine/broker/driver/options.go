package driver

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// TotalDepth is how many requests all clients together may have in the queue: that of
// eight full clients, and one more for every client that has none. It bounds what a
// completion can have to wait for.
const TotalDepth = 8 * driverabi.QueueDepth

// Options configure a Driver.
type Options struct {
	// Engine is the one that compiled the programs that will be added. The driver calls
	// nothing of it. The caller closes it, after the Driver.
	Engine ane.Engine
	// QueueDepth bounds the requests of one client, 1 to driverabi.QueueDepth; 0 means driverabi.QueueDepth.
	QueueDepth int
	// TotalDepth bounds the requests of all clients; 0 means TotalDepth. A client that
	// has none is admitted all the same, so that the others cannot keep it out.
	TotalDepth int
	// BoundBytes bounds what the prepared Invocations of one client take together, as far as their programs
	// tell (see Measured); 0 is no bound. The one that is bound last stays in any case.
	BoundBytes int64
	// Instance makes a program that differs from base in its weights alone; the driver
	// closes it. weights holds the files that differ; the others are the base's. It is
	// asked for bases that are no Instancer, and may compile.
	// nil refuses those bases.
	Instance func(ctx context.Context, base ane.Executable, weights ane.Weights) (ane.Executable, error)
}

// Instancer is an Executable that can make another one of the same program with
// other weights, without compiling. weights holds the files that differ. The caller
// owns the new one, and keeps the base open during the call.
type Instancer interface {
	NewInstance(ctx context.Context, weights ane.Weights) (ane.Executable, error)
}

// Measured is an Executable that tells what it takes, in bytes: until Close besides text and weights, while it is
// loaded, and for each Invocation.
type Measured interface {
	Footprint() (held, loaded, bound int64)
}

// ClientInfo is what a driver learns about a client when it attaches.
type ClientInfo struct {
	// Privileged is com.apple.ane.iokit-user-access. Without it Attach refuses.
	Privileged bool
	// AllowDataChaining is com.apple.ane.allow-dataChaining-access, which the
	// chaining selectors demand.
	AllowDataChaining bool
	// RealTime is com.apple.ane.realtime-priority-client, which requests of
	// quality of service 0 demand.
	RealTime bool
	// ClientHints is com.apple.private.ane.allow-set-client-hints, which the hint of a session demands.
	ClientHints bool
	// Restricted is the broker's tier of that name, which the argument "more
	// aggressive power saving" of an instance demands.
	Restricted bool
	// Identity stands for the team identifier and the code-directory hash. A
	// program that is resident is shared between clients of one Identity alone; clients
	// whose Identity is empty share nothing.
	Identity string
	// Wake is the asynchronous port: it is called once for every request that was
	// accepted with one, without any lock, by the goroutine that ran the request or
	// removed it, perhaps several at a time and perhaps before Control returns. The
	// engine waits meanwhile, so Wake must not block: it may cancel, and send requests
	// with a port, but a request without one, or the end of the client or of a
	// connection, would wait for Wake itself.
	// nil refuses requests with a port.
	Wake func(Completion)
}

// Completion is the end of one request.
type Completion struct {
	Port     uint64 // as the request gave it
	Sequence uint32
	Return   driverabi.Return // Success, or why there is no result
	Reply    [driverabi.SendReplySize]byte
	Err      error // of the engine, or the reason of an end without a result; nil with Success
}
