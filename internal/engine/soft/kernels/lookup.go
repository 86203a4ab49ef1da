package kernels

import (
	"slices"
	"sync"

	"github.com/anekit/anekit/ane/fp16"
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
	f      func(fp16.Bits) fp16.Bits
	once   sync.Once
	values *[1 << 16]fp16.Bits
}

// of returns the table of f, whose key no other function has. The first run that needs it makes it.
func (t *Tables) of(key string, f func(fp16.Bits) fp16.Bits) *table {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := t.known[key]
	if i := slices.Index(t.order, key); i >= 0 {
		t.order = slices.Delete(t.order, i, i+1)
	} else {
		found = &table{f: f}
		t.known[key] = found
		if len(t.order) == maxTables {
			delete(t.known, t.order[0])
			t.order = t.order[1:]
		}
	}
	t.order = append(t.order, key)
	return found
}

// make fills the table, unless it is nil.
func (t *table) make() {
	if t == nil {
		return
	}
	t.once.Do(func() {
		var values [1 << 16]fp16.Bits
		for i := range values {
			values[i] = t.f(fp16.Bits(i))
		}
		t.values = &values
	})
}

// TableBytes returns the bytes of the tables that runners use.
func TableBytes(runners []run.Runner) int {
	seen := map[*table]bool{}
	for _, r := range runners {
		if r, ok := r.(interface{ reads() *table }); ok {
			seen[r.reads()] = true
		}
	}
	delete(seen, nil)
	return tableBytes * len(seen)
}
