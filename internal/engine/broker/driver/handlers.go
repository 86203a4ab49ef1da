package driver

import (
	"crypto/rand"
	"fmt"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// What the handshake and the version selector say of this engine. The values are ours
// and belong to no chip: where an M1 has the versions 32 and 256 and the CPU subtype 4,
// this driver has 0x534f ("SO", software) and its own revision, and subtype 0.
const (
	engineVersion  = 0x534f
	engineRevision = 1
	engineCount    = 1 // one engine, one queue
	cpuSubtype     = 0
)

// Version is what GetVersion answers.
const Version uint64 = engineVersion<<16 | engineRevision

// guard turns a method of an open connection into a Handler.
func guard(f func(*connection, *driverabi.Args) driverabi.Return) driverabi.Handler {
	return func(client any, a *driverabi.Args) driverabi.Return {
		n := client.(*connection)
		if n.session.Load() == 0 {
			return n.client.refuse(driverabi.NotOpen, "no handshake on this connection", "open it with selector 0", nil)
		}
		return f(n, a)
	}
}

// controlHandlers serve table 27.2. The debug work processor (11 to 15) answers
// Unsupported, as on a release build (table 27.9: internal build No), and so does the
// firmware load (16), which the table disables.
func controlHandlers() map[int]driverabi.Handler {
	return map[int]driverabi.Handler{
		0:  open,
		1:  guard(closeConnection),
		2:  guard(send),
		3:  guard(create),
		4:  guard(prepare),
		5:  guard(unprepare),
		6:  guard(destroy),
		7:  guard(status),
		8:  guard(createInstance),
		9:  guard(chainingPrepare),
		10: guard(version),
	}
}

// directHandlers serve table 27.4.
func directHandlers() map[int]driverabi.Handler {
	return map[int]driverabi.Handler{
		0: open,
		1: guard(closeConnection),
		2: guard(send),
		3: guard(enqueueOutputs),
		4: guard(inputsReady),
		5: guard(mapMemory),
		6: guard(unmapMemory),
		7: guard(sessionHint),
		8: guard(setActiveProcedure),
	}
}

// open is the handshake of table 27.3. Opening an open connection is BadArgument.
func open(client any, a *driverabi.Args) driverabi.Return {
	n := client.(*connection)
	c, d := n.client, n.client.driver
	usage := driverabi.UsageType(a.StructIn[driverabi.DeviceUsage])
	if ret := usage.Check(); ret != driverabi.Success {
		return c.refuse(ret, fmt.Sprintf("usage type %d", usage), "open with usage type 1", nil)
	}
	session := token()
	d.mu.Lock()
	again, closing := n.session.Load() != 0, c.closing.Load()
	if !again && !closing {
		n.session.Store(session)
	}
	d.mu.Unlock()
	switch {
	case again:
		return c.refuse(driverabi.BadArgument, "the connection is open", "close it with selector 1 first", nil)
	case closing:
		return c.refuse(driverabi.NotOpen, "the client is closing", "attach again", nil)
	}
	copy(a.StructOut, a.StructIn)
	driverabi.DeviceToken.Put(a.StructOut, session)
	driverabi.DeviceVersion.Put(a.StructOut, engineVersion)
	driverabi.DeviceRevision.Put(a.StructOut, engineRevision)
	driverabi.DeviceEngines.Put(a.StructOut, engineCount)
	driverabi.DeviceCPUSubtype.Put(a.StructOut, cpuSubtype)
	return driverabi.Success
}

// closeConnection ends a session. All requests of the client are cancelled and their
// completions awaited; with the control connection go its programs and the count of
// sequence numbers, with the direct one its mappings and its hint. A handshake opens it
// again.
func closeConnection(n *connection, _ *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	d.mu.Lock()
	open := n.session.Swap(0) != 0
	if open {
		c.quiet.Add(1)
	}
	d.mu.Unlock()
	if !open {
		return c.refuse(driverabi.NotOpen, "another call closes this connection", "open it with selector 0", nil)
	}
	c.quiesce()
	c.slow.Lock()
	defer c.slow.Unlock()
	if n == &c.control {
		c.dropPrograms()
	} else {
		c.dropMappings()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if n == &c.control {
		c.next = 0
	} else {
		c.hint = HintNone
	}
	c.quiet.Add(-1)
	return driverabi.Success
}

// status answers GetStatus.
func status(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	d.mu.Lock()
	x := Status{
		Clients: uint32(len(d.clients)), Resident: uint32(d.resident), Mapped: uint32(d.mapped),
		Queued:   uint32(d.queue.n),
		InFlight: uint32(c.flying), Depth: uint32(d.opts.QueueDepth), Bell: d.bell,
	}
	if d.running != nil {
		x.Running = 1
	}
	d.mu.Unlock()
	copy(a.StructOut, Bytes(x))
	return driverabi.Success
}

// version answers GetVersion.
func version(_ *connection, a *driverabi.Args) driverabi.Return {
	a.ScalarOut[0] = Version
	return driverabi.Success
}

// sessionHint sets the bias of the session that its token names.
func sessionHint(n *connection, a *driverabi.Args) driverabi.Return {
	c, d := n.client, n.client.driver
	if !c.info.ClientHints {
		return c.refuse(driverabi.NotPrivileged, driverabi.EntitlementClientHints, "send requests without a hint", nil)
	}
	x := Parse[Hint](a.StructIn)
	reply := Hinted{Session: x.Session, Hint: x.Hint}
	d.mu.Lock()
	ok := x.Session == n.session.Load() && x.Hint <= HintBackground
	if ok {
		reply.Before, c.hint = c.hint, x.Hint
		reply.Queued = uint32(c.flying)
	}
	d.mu.Unlock()
	if !ok {
		return c.refuse(driverabi.BadArgument, fmt.Sprintf("another session's token, or hint %d", x.Hint),
			"give the token that this connection's handshake answered with, and a hint that there is", nil)
	}
	copy(a.StructOut, Bytes(reply))
	return driverabi.Success
}

// token returns a number that no client can guess and that is not 0.
func token() uint64 {
	for {
		var b [8]byte
		_, _ = rand.Read(b[:]) // ends the process rather than fail
		if v := le.Uint64(b[:]); v != 0 {
			return v
		}
	}
}
