package server

import (
	"fmt"
	"sync/atomic"

	"github.com/anekit/anekit/internal/engine/broker/driver"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// counters count since the broker began.
type counters struct {
	clients, faults                  atomic.Uint64
	compiles, hits, shared           atomic.Uint64
	damaged, uncached, instances     atomic.Uint64
	evaluations, failed, refusedPeer atomic.Uint64
}

// stats answers with the counters of the broker, and of this connection. They tell
// of other clients that they exist and are busy, as a load average does, and nothing
// about them.
func (c *session) stats(payload []byte) (wire.Payload, error) {
	var p wire.Empty
	if err := wire.Parse(payload, &p); err != nil {
		return nil, err
	}
	d, n, t := c.driver.Stats(), &c.counts, c.conn.Traffic().Plus(c.bell.Traffic())
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
		{"programs in memory", uint64(c.live.count())},
		{"programs loaded", uint64(d.Resident)},
		{"surfaces mapped", uint64(d.Mapped)},
		{"requests waiting", uint64(d.Queued)},
		{"requests running", uint64(d.Running)},
		{"evaluations", n.evaluations.Load()},
		{"evaluations failed", n.failed.Load()},
		{"mappings", uint64(c.quotas.mappings.held())},
		{"descriptors", uint64(c.quotas.descriptors.held())},
		{"bytes of memory", uint64(c.quotas.memory.held())},
		{"mappings allowed", uint64(c.quotas.mappings.total)},
		{"descriptors allowed", uint64(c.quotas.descriptors.total)},
		{"bytes of memory allowed", uint64(c.quotas.memory.total)},
		{"refused for want of mappings", c.quotas.mappings.refused.Load()},
		{"refused for want of descriptors", c.quotas.descriptors.refused.Load()},
		{"refused for want of memory", c.quotas.memory.refused.Load()},
		{"own mappings", uint64(c.owes.mappings.held())},
		{"own descriptors", uint64(c.owes.descriptors.held())},
		{"own bytes of memory", uint64(c.owes.memory.held())},
		{"own mappings allowed", uint64(c.quotas.mappings.each)},
		{"own descriptors allowed", uint64(c.quotas.descriptors.each)},
		{"own bytes of memory allowed", uint64(c.quotas.memory.each)},
		{"own surfaces", uint64(c.surfaces.table.len())},
		{"own bytes of surfaces", c.surfaces.pinned},
		{"own programs", uint64(c.programs.table.len())},
		{"own requests", uint64(c.requests.table.len())},
		{"own surfaces allowed", MaxSurfaces},
		{"own bytes of surfaces allowed", c.conf.PinBytes},
		{"own programs allowed", MaxPrograms},
		{"own requests allowed", MaxRequests},
		{"own frames received", t.FramesIn},
		{"own bytes received", t.BytesIn},
		{"own frames sent", t.FramesOut},
		{"own bytes sent", t.BytesOut},
	} {
		r.Counters = append(r.Counters, wire.Counter{Name: one.name, Value: one.value})
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
