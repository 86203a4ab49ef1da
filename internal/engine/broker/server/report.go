package server

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
)

// reports are what the broker tells of its own memory.
type reports struct {
	turn     chan struct{} // holds a token while the kernel counts pages, and for the rest after that
	patience time.Duration // that a client waits for the turn

	mu      sync.Mutex
	clients map[fileID]int // how often memory of clients is mapped
}

func newReports(patience time.Duration) *reports {
	return &reports{turn: make(chan struct{}, 1), patience: patience, clients: map[fileID]int{}}
}

// enter notes that memory of a client is about to be mapped; leave that it is unmapped.
func (r *reports) enter(id fileID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients[id]++
}

func (r *reports) leave(id fileID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clients[id]--; r.clients[id] == 0 {
		delete(r.clients, id)
	}
}

// ofClient reports whether a client registered the memory.
func (r *reports) ofClient(id fileID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clients[id] > 0
}

// report tells how one surface of this client is mapped, and what the process has beside all surfaces. A token names
// surfaces of this connection only, so the answer is about no other. What the kernel counts page by page waits for
// its turn in a goroutine, one for each client, which ends with the connection.
func (c *session) report(f *wire.Frame) (wire.Payload, error) {
	var q wire.Report
	if err := q.Parse(f.Payload); err != nil {
		return nil, err
	}
	s := c.surfaces.table.find(q.Surface)
	if s == nil {
		return nil, unknown("report", "surface", q.Surface)
	}
	cost := needs{memory: reportBytes + int64(q.Pages)*frameBytes}
	if err := c.owes.take("report", fmt.Sprintf("surface %d", q.Surface), cost); err != nil {
		return nil, err
	}
	p := &wire.Reported{PID: pid(), Frames: make([]uint64, q.Pages), Hidden: true}
	where := span{of: s.at}
	if s.block != nil {
		p.Address = uint64(s.block.Address())
		p.Hidden = !frames(p.Frames, s.block, p.Address, int(q.Page))
		where.start, where.end = p.Address, p.Address+s.size
	}
	if !q.Memory {
		c.owes.give(cost)
		return p, nil
	}
	if !c.reporting.CompareAndSwap(false, true) {
		c.owes.give(cost)
		return nil, exhausted("report", "", "reports on memory that were not answered", 1, "wait for the answer")
	}
	c.counting.Go(func() {
		err := c.reports.count(c.ctx, where, p)
		c.owes.give(cost)
		c.reporting.Store(false)
		if err == nil {
			err = c.reply(f, p)
		}
		if err != nil {
			c.fault(f.ID, err)
		}
	})
	return nil, nil
}

// span is where a surface is mapped; empty while it is not.
type span struct {
	start, end uint64
	of         fileID
}

// frames looks up the pages of a surface from one on, and reports whether the system shows them. Pages that the memory
// has are touched first: the kernel has no entry for a page that this process has not used. A hole stays one.
func frames(to []uint64, b *unimem.Block, address uint64, page int) (shown bool) {
	memory, size := b.Bytes(), os.Getpagesize()
	n := min(len(to), (len(memory)+size-1)/size-page)
	if n <= 0 {
		return false
	}
	if err := data(b.Handle(), page*size, n*size, func(from, to int) {
		for at := from / size * size; at < to; at += size {
			touch(memory[at:][:1])
		}
	}); err != nil {
		return false
	}
	found, shown := procmem.Frames(0, address+uint64(page*size), n)
	copy(to, found)
	return shown
}

// touch reads the first and the last byte.
//
//go:noinline
func touch(b []byte) byte { return b[0] ^ b[len(b)-1] }

// count fills in what the kernel counts. One client at a time has it do so, and the turn rests restShare times as long
// as that took, so that all clients together keep a processor busy for a part of the time only. The surface may be
// unmapped meanwhile: memory that another client then has at its place is not told of.
func (r *reports) count(ctx context.Context, where span, p *wire.Reported) error {
	late := time.NewTimer(r.patience)
	defer late.Stop()
	select {
	case r.turn <- struct{}{}:
	case <-late.C:
		return &ane.Error{Op: "report", Engine: Name, Err: ane.ErrExhausted, Detail: "other reports on memory go first",
			Hint: "ask again, or without Memory"}
	case <-ctx.Done():
		return ane.Deadline("report", Name, ctx.Err())
	}
	start := time.Now()
	defer func() { time.AfterFunc(restShare*time.Since(start), func() { <-r.turn }) }()
	var of, rest procmem.Amounts
	err := procmem.Mappings(0, func(m *procmem.Mapping) {
		switch id := (fileID{m.Device, m.Inode}); {
		case m.Start < where.end && where.start < m.End && (id == where.of || !r.ofClient(id)):
			if m.Start <= p.Address {
				p.Mapping.Device, p.Mapping.Inode, p.Mapping.Shared = m.Device, m.Inode, m.Shared
				p.Mapping.Offset = m.Offset + p.Address - m.Start
			}
			p.Mapping.Shared = p.Mapping.Shared && m.Shared
			of.Add(m.Amounts)
		case !m.OnDisk() && !r.ofClient(id):
			rest.Add(m.Amounts)
		}
	})
	if err != nil {
		return &ane.Error{Op: "report", Engine: Name, Err: err, Hint: "check that /proc is mounted"}
	}
	p.Mapping.Amounts, p.Rest = amounts(of), amounts(rest)
	return nil
}

func amounts(a procmem.Amounts) wire.Amounts {
	return wire.Amounts{Resident: uint64(a.Resident), Proportional: uint64(a.Proportional),
		PrivateDirty: uint64(a.PrivateDirty)}
}
