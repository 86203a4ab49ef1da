package dart

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// PageSize is the page of a DART in bytes.
const PageSize = 16 << 10

// entries is the number of pages that one table of the lowest level has.
const entries = 2048

var (
	// ErrFull: the Table has not enough free addresses.
	ErrFull = errors.New("no device addresses are left")
	// ErrMemory: no bytes to map, or an Options.Longest that is not whole pages.
	ErrMemory = errors.New("no memory, or no whole pages of 16 KiB")
)

// Access says what a device may do with pages, and what it does in one access.
type Access uint8

// The device reads memory, or writes to it.
const (
	Read Access = 1 << iota
	Write
)

// Fault is the error of an access that the Table does not permit.
type Fault struct {
	At     uint64 // the device address
	Access Access // Read or Write
	Denied bool   // the page is mapped without this Access; if false, it is not mapped
}

func (f *Fault) Error() string {
	verb, why := "read", "is not mapped"
	if f.Access == Write {
		verb = "wrote"
	}
	if f.Denied {
		why = "is mapped without this access"
	}
	return fmt.Sprintf("DART fault: the device %s %#x, which %s", verb, f.At, why)
}

// page is an entry of a table: a page of the memory of a Mapping.
type page struct {
	m *Mapping
	n int // bytes of the memory before it
}

// Table has the translations of one device. A device sees no other device's addresses: equal addresses of
// two Tables are different memory. All methods are safe for concurrent use.
type Table struct {
	faults atomic.Uint64

	mu     sync.Mutex
	free   ranges
	leaves map[uint64]*[entries]page
	live   int
}

// NewTable makes a Table of the addresses of r, which has whole pages. A Table without addresses maps nothing.
func NewTable(r Range) *Table {
	t := &Table{leaves: map[uint64]*[entries]page{}}
	if r.Size > 0 {
		t.free = ranges{r}
	}
	return t
}

// Options say how Map lays memory on addresses.
type Options struct {
	Access  Access
	Longest uint64 // of one Range in bytes, whole pages; 0 for any
	Most    int    // Ranges; 0 for any
}

// Mapping is memory that a device reaches.
type Mapping struct {
	table  *Table
	mem    []byte
	access Access
	ranges []Range

	// The Table's lock guards the rest.
	users int           // accesses that have begun
	gone  bool          // no access begins
	done  chan struct{} // closed when it is gone and has no users: its addresses are free
}

// Map maps the first bytes of mem: all of them if Most permits. It takes the lowest free addresses that hold
// them in one Range, or else the largest free Ranges. Ranges have whole pages; an access to the part of the last page
// after the end of mem faults. The caller keeps mem until Unmap returns. After an error nothing is mapped.
//
// Errors: ErrFull, ErrMemory.
func (t *Table) Map(mem []byte, o Options) (*Mapping, error) {
	if len(mem) == 0 || o.Longest%PageSize != 0 {
		return nil, ErrMemory
	}
	m := &Mapping{table: t, mem: mem, access: o.Access, done: make(chan struct{})}
	t.mu.Lock()
	defer t.mu.Unlock()
	left := (uint64(len(mem)) + PageSize - 1) / PageSize * PageSize
	for left > 0 && (o.Most == 0 || len(m.ranges) < o.Most) {
		want := left
		if o.Longest > 0 {
			want = min(want, o.Longest)
		}
		r, ok := t.free.take(want)
		if !ok && o.Most != 1 {
			r, ok = t.free.part(want)
		}
		if !ok {
			for _, r := range m.ranges {
				t.free.give(r)
			}
			return nil, ErrFull
		}
		m.ranges = append(m.ranges, r)
		left -= r.Size
	}
	at := 0
	for _, r := range m.ranges {
		for p := r.At; p < r.At+r.Size; p += PageSize {
			*t.entry(p, true) = page{m, at}
			at += PageSize
		}
	}
	m.mem = mem[:min(at, len(mem)):min(at, len(mem))]
	t.live++
	return m, nil
}

// entry returns the entry of an address; with add it adds the table that has none.
func (t *Table) entry(at uint64, add bool) *page {
	n := at / PageSize
	leaf := t.leaves[n/entries]
	if leaf == nil {
		if !add {
			return nil
		}
		leaf = new([entries]page)
		t.leaves[n/entries] = leaf
	}
	return &leaf[n%entries]
}

// Ranges are the addresses of the Mapping in the order of its bytes. The caller does not change them.
func (m *Mapping) Ranges() []Range { return m.ranges }

// Size is the number of bytes that are mapped.
func (m *Mapping) Size() int { return len(m.mem) }

// Unmap makes the device's next access a Fault, and waits until the accesses that have begun end. If ctx ends first,
// the error is its cause, the addresses stay taken, and the caller calls Unmap again.
func (m *Mapping) Unmap(ctx context.Context) error {
	t := m.table
	t.mu.Lock()
	if !m.gone {
		m.gone = true
		for _, r := range m.ranges {
			for p := r.At; p < r.At+r.Size; p += PageSize {
				*t.entry(p, false) = page{}
			}
		}
		m.settle()
	}
	t.mu.Unlock()
	select {
	case <-m.done:
		return nil
	default:
	}
	select {
	case <-m.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// settle frees the addresses of a Mapping that is gone and has no users.
func (m *Mapping) settle() {
	if !m.gone || m.users > 0 {
		return
	}
	for _, r := range m.ranges {
		m.table.free.give(r)
	}
	m.table.live--
	close(m.done)
}

// Do calls f with the n bytes of memory at a device address, run by run in their order. A run is as many bytes as lie
// one after the other; f must not use it after it has returned, and Unmap waits for f. Do ends with the first error of
// f, or with a *Fault at the first byte that the device may not access.
func (t *Table) Do(at, n uint64, access Access, f func(mem []byte) error) error {
	for n > 0 {
		m, mem, err := t.hold(at, n, access)
		if err != nil {
			return err
		}
		err = f(mem)
		t.mu.Lock()
		m.users--
		m.settle()
		t.mu.Unlock()
		if err != nil {
			return err
		}
		at += uint64(len(mem))
		n -= uint64(len(mem))
	}
	return nil
}

// hold finds the memory at an address, at most n bytes that lie one after the other, and keeps Unmap waiting.
func (t *Table) hold(at, n uint64, access Access) (*Mapping, []byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entry(at, false)
	if e == nil || e.m == nil || e.n+int(at%PageSize) >= len(e.m.mem) {
		t.faults.Add(1)
		return nil, nil, &Fault{At: at, Access: access}
	}
	if e.m.access&access != access {
		t.faults.Add(1)
		return nil, nil, &Fault{At: at, Access: access, Denied: true}
	}
	from := e.n + int(at%PageSize)
	to := e.n + PageSize
	for next := at - at%PageSize + PageSize; uint64(to-from) < n; next += PageSize {
		f := t.entry(next, false)
		if f == nil || f.m != e.m || f.n != to {
			break
		}
		to += PageSize
	}
	to = min(to, len(e.m.mem), from+int(min(n, uint64(len(e.m.mem)))))
	e.m.users++
	return e.m, e.m.mem[from:to:to], nil
}

// Reach reports whether a device may access n bytes at an address now. The error is a *Fault.
func (t *Table) Reach(at, n uint64, access Access) error {
	return t.Do(at, n, access, func([]byte) error { return nil })
}

// Load copies memory at a device address to p, as a device that reads its queues. The error is a *Fault.
func (t *Table) Load(at uint64, p []byte) error {
	return t.Do(at, uint64(len(p)), Read, func(mem []byte) error {
		p = p[copy(p, mem):]
		return nil
	})
}

// Store copies p to memory at a device address. The error is a *Fault.
func (t *Table) Store(at uint64, p []byte) error {
	return t.Do(at, uint64(len(p)), Write, func(mem []byte) error {
		p = p[copy(mem, p):]
		return nil
	})
}

// Free are the free addresses, by address.
func (t *Table) Free() []Range {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.free)
}

// Live is the number of Mappings whose addresses are taken.
func (t *Table) Live() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live
}

// Faults is the number of accesses that the Table has refused.
func (t *Table) Faults() uint64 { return t.faults.Load() }
