package driver

import (
	"fmt"
	"math/rand/v2"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// What the handshake and the version selector say of this engine. No chip has these values. An M1 has the versions 32
// and 256 and the CPU subtype 4; this driver has 0x534f ("SO", software), its own revision, and subtype 0.
const (
	engineVersion  = 0x534f
	engineRevision = 1
	engineCount    = 1 // one engine, one queue
	cpuSubtype     = 0
)

// Version is what GetVersion answers.
const Version uint64 = engineVersion<<16 | engineRevision

// handler serves a selector on a connection.
type handler func(*connection, *driverabi.Args) error

// guard demands an open connection.
func guard(h handler) driverabi.Handler {
	return func(client any, a *driverabi.Args) error {
		n := client.(*connection)
		if n.session.Load() == 0 {
			return refuse(driverabi.NotOpen, "no handshake on this connection, or it is closing",
				"open it with selector 0, or attach again")
		}
		return coded(h(n, a))
	}
}

// slow is guard for what waits for the client's other slow calls.
func slow(h handler) driverabi.Handler {
	guarded := guard(h)
	return func(client any, a *driverabi.Args) error {
		c := client.(*connection).client
		c.slow.Lock()
		defer c.slow.Unlock()
		return guarded(client, a)
	}
}

// reads has f take its message.
func reads[In any](f func(*connection, In) error) handler {
	return func(n *connection, a *driverabi.Args) error { return f(n, Parse[In](a.StructIn)) }
}

// replies has f take its message, and answer with another one.
func replies[In, Out any](f func(*connection, In) (Out, error)) handler {
	return func(n *connection, a *driverabi.Args) error {
		out, err := f(n, Parse[In](a.StructIn))
		if err == nil {
			copy(a.StructOut, Bytes(out))
		}
		return err
	}
}

// controlHandlers serve table 27.2. The debug work processor (11 to 15) answers Unsupported, as on a release build
// (table 27.9: internal build No). So does the firmware load (16), which the table disables.
func controlHandlers() map[int]driverabi.Handler {
	return map[int]driverabi.Handler{
		0:  open,
		1:  guard(closeConnection),
		2:  guard(send),
		3:  slow(reads(create)),
		4:  slow(replies(prepare)),
		5:  slow(reads(unprepare)),
		6:  slow(reads(destroy)),
		7:  guard(replies(status)),
		8:  slow(reads(createInstance)),
		9:  guard(chaining(replies(chainingPrepare))),
		10: guard(version),
	}
}

// directHandlers serve table 27.4.
func directHandlers() map[int]driverabi.Handler {
	return map[int]driverabi.Handler{
		0: open,
		1: guard(closeConnection),
		2: guard(send),
		3: guard(chaining(reads(enqueueOutputs))),
		4: guard(chaining(inputsReady)),
		5: slow(mapMemory),
		6: slow(reads(unmapMemory)),
		7: guard(replies(sessionHint)),
		8: guard(chaining(reads(setActiveProcedure))),
	}
}

// open is the handshake of table 27.3. Opening an open connection is BadArgument.
func open(client any, a *driverabi.Args) error {
	n := client.(*connection)
	c, d := n.client, n.client.driver
	usage := driverabi.UsageType(a.StructIn[driverabi.DeviceUsage])
	if ret := usage.Check(); ret != driverabi.Success {
		return refuse(ret, fmt.Sprintf("usage type %d", usage), "open with usage type 1")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case c.quiet.Load() > 0:
		return refuse(driverabi.NotOpen, "the client, or a connection of it, is closing",
			"wait for the end of the connection, or attach again")
	case n.session.Load() != 0:
		return refuse(driverabi.BadArgument, "the connection is open", "close it with selector 1 first")
	}
	n.session.Store(token())
	copy(a.StructOut, a.StructIn)
	driverabi.DeviceToken.Put(a.StructOut, n.session.Load())
	driverabi.DeviceVersion.Put(a.StructOut, engineVersion)
	driverabi.DeviceRevision.Put(a.StructOut, engineRevision)
	driverabi.DeviceEngines.Put(a.StructOut, engineCount)
	driverabi.DeviceCPUSubtype.Put(a.StructOut, cpuSubtype)
	return nil
}

// closeConnection ends a session. It cancels all requests of the client and waits for their completions. The control
// connection releases its programs and the count of sequence numbers, the direct one its mappings and its hint. A
// handshake opens it again.
func closeConnection(n *connection, _ *driverabi.Args) error {
	c, d := n.client, n.client.driver
	d.mu.Lock()
	open := n.session.Swap(0) != 0
	if open {
		c.quiet.Add(1)
	}
	d.mu.Unlock()
	if !open {
		return refuse(driverabi.NotOpen, "another call closes this connection", "open it with selector 0")
	}
	c.quiesce()
	c.slow.Lock()
	defer c.slow.Unlock()
	anew := &c.next
	if n == &c.control {
		c.dropPrograms()
	} else {
		c.dropMappings()
		anew = &c.hint
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	*anew = 0
	c.quiet.Add(-1)
	return nil
}

// status answers GetStatus.
func status(n *connection, _ struct{}) (Status, error) {
	d := n.client.driver
	s := d.Stats()
	d.mu.Lock()
	defer d.mu.Unlock()
	return Status{
		Clients: uint32(s.Clients), Resident: uint32(s.Resident), Mapped: uint32(s.Mapped),
		Queued: uint32(s.Queued), Running: uint32(s.Running),
		InFlight: uint32(n.client.flying), Depth: uint32(d.depth), Bell: d.bell,
	}, nil
}

// version answers GetVersion.
func version(_ *connection, a *driverabi.Args) error {
	a.ScalarOut[0] = Version
	return nil
}

// sessionHint sets the bias of the session that its token names.
func sessionHint(n *connection, x Hint) (Hinted, error) {
	c, d := n.client, n.client.driver
	if !c.info.ClientHints {
		return Hinted{}, refuse(driverabi.NotPrivileged, driverabi.EntitlementClientHints, "send requests without a hint")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	reply := Hinted{Session: x.Session, Hint: x.Hint, Before: c.hint, Queued: uint32(c.flying)}
	if x.Session != n.session.Load() || x.Hint > HintBackground {
		return reply, refuse(driverabi.BadArgument, fmt.Sprintf("another session's token, or hint %d", x.Hint),
			"give the token that this connection's handshake answered with, and a hint that there is")
	}
	c.hint = x.Hint
	return reply, nil
}

func counted(n int, what string) string { return fmt.Sprintf("%d %s", n, what) }

// token returns a number that no client can guess and that is not 0: of the runtime's ChaCha8, whose key is the system's.
// Package crypto/rand would have every program of a user compile math/big.
func token() uint64 {
	for {
		if v := rand.Uint64(); v != 0 {
			return v
		}
	}
}
