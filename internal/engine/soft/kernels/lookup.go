package kernels

import (
	"sync"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// A half has 65,536 values, so that every function of one half is a table of 128 KiB. The first run of a
// step that has enough elements makes the table; smaller steps compute each element.
//
// The engine keeps the tables that were asked for last, at most maxTables (8 MiB), and shares them among
// programs, by operator, settings and rules. A program keeps those of its steps as long as it lives, which
// counts in its Footprint.
const (
	maxTables  = 64
	tableBytes = 2 << 16
	// tabled is the least number of elements for which a step uses a table. The table costs as much as
	// 65,536 elements, once.
	tabled = 4096
)

// Tables are the newest tables of an engine.
type Tables struct {
	mu    sync.Mutex
	known map[string]*table
	order []string // the keys of known, the one that was asked for last at the end
}

// NewTables returns tables that share nothing with others.
func NewTables() *Tables { return &Tables{known: map[string]*table{}} }

// table is a function of one half, by the half's bits.
type table struct {
	once   sync.Once
	values *[1 << 16]fp16.Bits
}

// of returns the table for a key, made by the first run that needs it.
func (t *Tables) of(key string) *table {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := t.known[key]
	if found == nil {
		found = &table{}
		t.known[key] = found
		if len(t.order) == maxTables {
			delete(t.known, t.order[0])
			t.order = t.order[1:]
		}
	} else {
		for i, k := range t.order {
			if k == key {
				t.order = append(t.order[:i], t.order[i+1:]...)
				break
			}
		}
	}
	t.order = append(t.order, key)
	return found
}

// make fills the table.
func (t *table) make(f func(fp16.Bits) fp16.Bits) {
	t.once.Do(func() {
		var values [1 << 16]fp16.Bits
		for i := range values {
			values[i] = f(fp16.Bits(i))
		}
		t.values = &values
	})
}

// halfUnary is a function of one half.
type halfUnary struct {
	f     func(fp16.Bits) fp16.Bits
	table *table // nil in a step of few elements
}

// Work of one element, in the units of spread: of a look-up, and of a function of the math package.
const (
	lookupCost = 1
	mathCost   = 32
)

func (r *halfUnary) Run(c *run.Call) { c.Spread(c.Out[0].Len(), r.Element()) }

func (r *halfUnary) Element() int {
	if r.table == nil {
		return mathCost
	}
	r.table.make(r.f)
	return lookupCost
}

func (r *halfUnary) Span(c *run.Call, lo, hi, worker int) {
	in, out := c.In[0].Half, c.Out[0].Half
	for ; lo < hi && !c.Pause(worker); lo += 8 * run.Chunk {
		end := min(lo+8*run.Chunk, hi)
		x, y := in[lo:end], out[lo:end]
		y = y[:len(x)]
		if r.table == nil {
			for i, h := range x {
				y[i] = r.f(h)
			}
			continue
		}
		halves.Lookup(y, x, r.table.values)
	}
}
