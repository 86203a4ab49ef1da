package server

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/server/calls"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// counters count since the broker began.
type counters struct {
	calls.Counts
	clients, faults, refusedPeer atomic.Uint64
	compiles, hits, shared       atomic.Uint64
	damaged, uncached, instances atomic.Uint64
}

// stats answers with the counters of the broker, and of this connection. They tell
// of other clients that they exist and are busy, as a load average does, and nothing
// about them.
func (c *session) stats(payload []byte) (wire.Payload, error) {
	var p wire.Empty
	if err := wire.Parse(payload, &p); err != nil {
		return nil, err
	}
	d, n, t := c.driver.Stats(), &c.counts, c.Conn.Traffic().Plus(c.Bell.Traffic())
	r := wire.Stats{Counters: []wire.Counter{
		{Name: "clients", Value: uint64(c.active.Load())},
		{Name: "clients allowed", Value: uint64(c.conf.clients)},
		{Name: "clients admitted", Value: n.clients.Load()},
		{Name: "clients refused", Value: n.refusedPeer.Load()},
		{Name: "faults", Value: n.faults.Load()},
		{Name: "panics", Value: c.engine.panics.Load()},
		{Name: "compiles", Value: n.compiles.Load()},
		{Name: "compiles from the cache", Value: n.hits.Load()},
		{Name: "compiles from memory", Value: n.shared.Load()},
		{Name: "cache entries damaged", Value: n.damaged.Load()},
		{Name: "programs not cached", Value: n.uncached.Load()},
		{Name: "instances", Value: n.instances.Load()},
		{Name: "programs in memory", Value: uint64(c.live.Count())},
		{Name: "programs loaded", Value: uint64(d.Resident)},
		{Name: "surfaces mapped", Value: uint64(d.Mapped)},
		{Name: "requests waiting", Value: uint64(d.Queued)},
		{Name: "requests running", Value: uint64(d.Running)},
		{Name: "evaluations", Value: n.Evaluations.Load()},
		{Name: "evaluations failed", Value: n.Failed.Load()},
		{Name: "own surfaces", Value: uint64(c.has.Surfaces.Len())},
		{Name: "own programs", Value: uint64(c.has.Programs.Len())},
		{Name: "own requests", Value: uint64(c.has.Requests.Len())},
		{Name: "own surfaces allowed", Value: resources.MaxSurfaces},
		{Name: "own programs allowed", Value: resources.MaxPrograms},
		{Name: "own requests allowed", Value: resources.MaxRequests},
		{Name: "own frames received", Value: t.FramesIn},
		{Name: "own bytes received", Value: t.BytesIn},
		{Name: "own frames sent", Value: t.FramesOut},
		{Name: "own bytes sent", Value: t.BytesOut},
	}}
	have := c.has.Owes.Have()
	for kind, b := range c.budgets.Now() {
		r.Counters = append(r.Counters,
			wire.Counter{Name: b.What, Value: uint64(b.Used)},
			wire.Counter{Name: b.What + " allowed", Value: uint64(b.Total)},
			wire.Counter{Name: "refused for want of " + strings.TrimPrefix(b.What, "bytes of "), Value: b.Refused},
			wire.Counter{Name: "own " + b.What, Value: uint64(have[kind])},
			wire.Counter{Name: "own " + b.What + " allowed", Value: uint64(b.Each)})
	}
	for level := driverabi.FirstNormalQueue; level < driver.Levels; level++ {
		l := d.Levels[level]
		name := func(what string) string { return fmt.Sprintf("level %d %s", level, what) }
		r.Counters = append(r.Counters,
			wire.Counter{Name: name("sent"), Value: l.Sent},
			wire.Counter{Name: name("completed"), Value: l.Completed},
			wire.Counter{Name: name("failed"), Value: l.Failed},
			wire.Counter{Name: name("cancelled"), Value: l.Cancelled},
			wire.Counter{Name: name("timed out"), Value: l.TimedOut},
			wire.Counter{Name: name("refused"), Value: l.Refused},
			wire.Counter{Name: name("waiting"), Value: uint64(l.Waiting)},
			wire.Counter{Name: name("most waiting"), Value: uint64(l.MostWaiting)},
			wire.Counter{Name: name("longest wait ns"), Value: uint64(l.LongestWait)})
	}
	return &r, nil
}
