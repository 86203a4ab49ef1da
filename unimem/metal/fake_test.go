package metal

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/iosurface/surfacetest"
	"github.com/anekit/anekit/unimem"
)

// fake is a fake of Metal: it counts objects and records calls.
type fake struct {
	t  *testing.T
	mu sync.Mutex

	next   uintptr
	alive  map[uintptr]bool
	refuse bool    // makes no objects
	limit  int     // largest size of a buffer in bytes
	planes []plane // nil for a flat surface with the last requested size
	made   []any   // [address, size] or [surface, Shape]
	flat   plane
	gpus   int       // of List
	last   []uintptr // what devices has returned
	old    bool      // no Metal 3
	*machine
}

// number is the number of a device of devices, 0 for the default one.
func (f *fake) number(ref uintptr) int { return max(slices.Index(f.last, ref), 0) }

func newFake(t *testing.T) *fake {
	f := &fake{t: t, next: 0x1000, alive: map[uintptr]bool{}, limit: 1 << 30, gpus: 1, flat: flat(4 * unimem.PageSize),
		machine: newMachine()}
	t.Cleanup(func() { require.Empty(t, f.alive, "objects of Metal are alive at the end") })
	return f
}

func (f *fake) create(what ...any) uintptr {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse {
		return 0
	}
	f.next += 0x10
	f.alive[f.next] = true
	f.made = what
	return f.next
}

func (f *fake) driver() *driver {
	d := &driver{
		systemDevice: func() uintptr { return f.create() },
		devices: func() (all []uintptr) {
			for range f.gpus {
				all = append(all, f.create())
			}
			f.last = all
			return all
		},
		id:        func(ref uintptr) uint64 { return uint64(0xabc00 + f.number(ref)) },
		metal3:    func(uintptr) bool { return !f.old },
		name:      func(ref uintptr) string { return []string{"fake", "other fake"}[f.number(ref)] },
		maxBuffer: func(uintptr) int { return f.limit },
		newBuffer: func(_, address uintptr, size int) uintptr { return f.create(address, size) },
		plane: func(_ uintptr, number int) (plane, bool) {
			if f.planes == nil {
				return f.flat, number == 0
			}
			if number >= len(f.planes) {
				return plane{}, false
			}
			return f.planes[number], true
		},
		newTexture: func(_, surface uintptr, s Shape) uintptr { return f.create(surface, s) },
		release: func(ref uintptr) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if !f.alive[ref] {
				f.t.Errorf("%#x is released too often", ref)
			}
			delete(f.alive, ref)
		},
	}
	f.fill(d, f.create)
	return d
}

// device opens a Device of the fake and closes it at the end.
func (f *fake) device() *Device {
	d, err := openWith(f.driver())
	require.NoError(f.t, err)
	f.t.Cleanup(func() { require.NoError(f.t, d.Close()) })
	return d
}

// surface opens a Block on a surface and closes it at the end.
func surface(t *testing.T, size int) *unimem.Block {
	b, err := unimem.Open(size, blockoption.On(surfacetest.New(t).Table()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}
