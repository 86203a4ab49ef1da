package halves

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/ane/fp16"
)

// Sizes of Tables.
const (
	Tabled     = 1 << 12 // the least number of elements for which the first use makes a table
	rarely     = 1 << 8  // and for which a later one does
	entries    = 1 << 16
	maxTables  = 64
	tableBytes = 2 * entries
)

// Tables are the tables that were asked for last, at most maxTables (8 MiB), of functions that have keys.
type Tables struct {
	mu    sync.Mutex
	known []named // the one that was asked for last at the end
}

type named struct {
	key string
	*Table
}

// Table is a function of one half. A half has 65,536 values, so that all its results take 128 KiB and the time of as
// many elements. They are computed at the first use by an operator of Tabled elements, or once operators of fewer ones
// have computed as many. For the smallest operators each element is computed, always.
type Table struct {
	f      func(fp16.Bits) fp16.Bits
	fill   func(values []fp16.Bits) // makes all; nil for each by f
	few    bool
	left   atomic.Int64 // elements that are computed before the table is
	once   sync.Once
	values *[entries]fp16.Bits
}

// Of returns the table of f for an operator of some elements. No other function has the key. fill, which may be nil,
// makes all 65,536 values in less time.
func (t *Tables) Of(key string, elements int, f func(fp16.Bits) fp16.Bits, fill func(values []fp16.Bits)) *Table {
	if elements < rarely {
		return &Table{f: f, few: true}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	found := named{key, &Table{f: f, fill: fill}}
	found.left.Store(entries)
	if i := slices.IndexFunc(t.known, func(n named) bool { return n.key == key }); i >= 0 {
		found = t.known[i]
		t.known = slices.Delete(t.known, i, i+1)
	} else if len(t.known) == maxTables {
		t.known = slices.Delete(t.known, 0, 1)
	}
	t.known = append(t.known, found)
	if elements >= Tabled {
		found.left.Store(0)
	}
	return found.Table
}

// Bytes is the memory that the table takes, or will take.
func (t *Table) Bytes() int {
	if t.few {
		return 0
	}
	return tableBytes
}

// made makes the table if it is due, and reports whether n elements are looked up.
func (t *Table) made(n int) bool {
	if t.few || t.left.Load() > 0 && t.left.Add(-int64(n)) > 0 {
		return false
	}
	t.once.Do(func() {
		var values [entries]fp16.Bits
		for i := 0; i < entries && t.fill == nil; i++ {
			values[i] = t.f(fp16.Bits(i))
		}
		if t.fill != nil {
			t.fill(values[:])
		}
		t.values = &values
	})
	return true
}

// Apply sets each dst[i] to the function of x[i]. dst may be x.
func (t *Table) Apply(dst, x []fp16.Bits) {
	if t.made(len(x)) {
		lookup(dst, x, t.values)
		return
	}
	for i, h := range x {
		dst[i] = t.f(h)
	}
}

// Value returns the function of a half.
func (t *Table) Value(h fp16.Bits) fp16.Bits {
	if t.made(1) {
		return t.values[h]
	}
	return t.f(h)
}

// lookup sets dst[i] to the element of table at the bits of x[i]. dst may be x.
func lookup(dst, x []fp16.Bits, table *[entries]fp16.Bits) {
	x = x[:len(dst)]
	for len(x) >= 8 && len(dst) >= 8 {
		in, out := (*[8]fp16.Bits)(x), (*[8]fp16.Bits)(dst)
		a, b, c, d := table[in[0]], table[in[1]], table[in[2]], table[in[3]]
		e, f, g, h := table[in[4]], table[in[5]], table[in[6]], table[in[7]]
		out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7] = a, b, c, d, e, f, g, h
		x, dst = x[8:], dst[8:]
	}
	for i, b := range x {
		dst[i] = table[b]
	}
}
