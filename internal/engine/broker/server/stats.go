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
	r := wire.Stats{}
	for _, one := range []struct {
		name  string
		value uint64
	}{
		{"clients", uint64(c.active.Load())},
		{"clients allowed", uint64(c.conf.clients)},
		{"clients admitted", n.clients.Load()},
		{"clients refused", n.refusedPeer.Load()},
		{"faults", n.faults.Load()},
		{"panics", c.engine.panics.Load()},
		{"log lines dropped", c.conf.LogDropped()},
		{"compiles", n.compiles.Load()},
		{"compiles from the cache", n.hits.Load()},
		{"compiles from memory", n.shared.Load()},
		{"cache entries damaged", n.damaged.Load()},
		{"programs not cached", n.uncached.Load()},
		{"instances", n.instances.Load()},
		{"programs in memory", uint64(c.live.Count())},
		{"programs loaded", uint64(d.Resident)},
		{"surfaces mapped", uint64(d.Mapped)},
		{"requests waiting", uint64(d.Queued)},
		{"requests running", uint64(d.Running)},
		{"evaluations", n.Evaluations.Load()},
		{"evaluations failed", n.Failed.Load()},
		{"own surfaces", uint64(c.has.Surfaces.Len())},
		{"own bytes of surfaces", c.has.Surfaces.Pinned},
		{"own programs", uint64(c.has.Programs.Len())},
		{"own requests", uint64(c.has.Requests.Len())},
		{"own surfaces allowed", resources.MaxSurfaces},
		{"own bytes of surfaces allowed", c.conf.PinBytes},
		{"own programs allowed", resources.MaxPrograms},
		{"own requests allowed", resources.MaxRequests},
		{"own frames received", t.FramesIn},
		{"own bytes received", t.BytesIn},
		{"own frames sent", t.FramesOut},
		{"own bytes sent", t.BytesOut},
	} {
		r.Counters = append(r.Counters, wire.Counter{Name: one.name, Value: one.value})
	}
	have := c.has.Owes.Have()
	for kind, b := range c.budgets.Now() {
		r.Counters = append(r.Counters,
			wire.Counter{Name: b.What, Value: uint64(b.Used)},
			wire.Counter{Name: b.What + " allowed", Value: uint64(b.Total)},
			wire.Counter{Name: "refused for want of " + strings.TrimPrefix(b.What, "bytes of "), Value: b.Refused},
			wire.Counter{Name: "own " + b.What, Value: uint64(have[kind])},
			wire.Counter{Name: "own " + b.What + " allowed", Value: uint64(b.Each)})
	}
	for level := driver.LevelOf(driverabi.QoSRealTime); level < driver.Levels; level++ {
		l := d.Levels[level]
		for _, one := range []struct {
			name  string
			value uint64
		}{
			{"sent", l.Sent}, {"completed", l.Completed}, {"failed", l.Failed}, {"cancelled",
				l.Cancelled}, {"timed out",
				l.TimedOut},
			{"refused", l.Refused}, {"waiting", uint64(l.Waiting)}, {"most waiting",
				uint64(l.MostWaiting)}, {"longest wait ns",
				uint64(l.LongestWait)},
		} {
			r.Counters = append(r.Counters,
				wire.Counter{Name: fmt.Sprintf("level %d %s", level, one.name), Value: one.value})
		}
	}
	return &r, nil
}
