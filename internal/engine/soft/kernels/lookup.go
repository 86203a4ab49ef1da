package kernels

import (
	"slices"
	"sync"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// A half has 65,536 values, so that every function of one half is a table of 128 KiB. The first run of a
// step that has enough elements makes the table; smaller steps compute each element.
//
// The engine keeps the tables that were asked for last, at most maxTables (8 MiB), and shares them among programs, by
// operator, settings and rules. A program keeps those of its steps as long as it lives, which counts in its Footprint.
const (
	maxTables  = 64
	tableBytes = 2 << 16
	// tabled is the least number of elements for which a step uses a table. The table costs as much as
	// 65,536 elements, once.
	tabled = 4096
)

// Tables are the newest tables of an engine. The zero value shares nothing with others.
type Tables struct {
	mu    sync.Mutex
	known []named // the one that was asked for last at the end
}

type named struct {
	key string
	*table
}

// table is a function of one half, by the half's bits.
type table struct {
	f      func(fp16.Bits) fp16.Bits
	few    bool // f is computed for each element
	once   sync.Once
	values *[1 << 16]fp16.Bits
}

// of returns the table of f, whose key no other function has. The first run that needs it makes it.
func (t *Tables) of(key string, f func(fp16.Bits) fp16.Bits) *table {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := named{key, &table{f: f}}
	if i := slices.IndexFunc(t.known, func(n named) bool { return n.key == key }); i >= 0 {
		found = t.known[i]
		t.known = slices.Delete(t.known, i, i+1)
	} else if len(t.known) == maxTables {
		t.known = slices.Delete(t.known, 0, 1)
	}
	t.known = append(t.known, found)
	return found.table
}

// table returns that of a step that looks up some elements, with a key that no other function has. For few elements it
// is not filled.
func (s *Step) table(key string, elements int, f func(fp16.Bits) fp16.Bits) *table {
	if elements < tabled {
		return &table{f: f, few: true}
	}
	return s.Arith.Tables.of(key, f)
}

// apply sets each dst[i] to the function of x[i]. dst may be x.
func (t *table) apply(dst, x []fp16.Bits) {
	if !t.few {
		t.once.Do(t.fill)
		halves.Lookup(dst, x, t.values)
		return
	}
	for i, h := range x {
		dst[i] = t.f(h)
	}
}

// value returns the function of a half.
func (t *table) value(h fp16.Bits) fp16.Bits {
	if t.few {
		return t.f(h)
	}
	t.once.Do(t.fill)
	return t.values[h]
}

func (t *table) fill() {
	var values [1 << 16]fp16.Bits
	for i := range values {
		values[i] = t.f(fp16.Bits(i))
	}
	t.values = &values
}

// TableBytes returns the bytes of the tables that runners use.
func TableBytes(runners []run.Runner) int {
	seen := map[*table]bool{}
	for _, r := range runners {
		if r, ok := r.(interface{ reads() *table }); ok && r.reads() != nil && !r.reads().few {
			seen[r.reads()] = true
		}
	}
	return tableBytes * len(seen)
}
