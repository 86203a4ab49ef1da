// Package surfacetest is a fake of CoreFoundation and IOSurface in memory. It counts every
// reference and lock, and fails its test after an unbalanced release, a call in a wrong state,
// and for objects alive at the end.
package surfacetest

import (
	"sync"
	"testing"

	"github.com/anekit/anekit/internal/iosurface"
)

const firstObject = 0x1000

// object is an object with a reference count. An object of a surface is one reference object of
// it: each lookup makes another one.
type object struct {
	references int
	number     int64
	entries    map[iosurface.Ref]iosurface.Ref
	surface    *surface
}

// surface is what all reference objects of a surface share.
type surface struct {
	objects int // reference objects
	locks   int
	mem     []byte
	id      uint32
}

// Fake is a fake library. The zero value is not ready; use New.
type Fake struct {
	t  testing.TB
	mu sync.Mutex

	objects map[iosurface.Ref]*object
	next    iosurface.Ref
	lastID  uint32
	calls   map[string]int
	failing map[string]failure
	limit   int // largest number of surfaces; 0 for any
}

// New makes a library, and checks at the end of t that no object is alive.
func New(t testing.TB) *Fake {
	f := &Fake{t: t, objects: map[iosurface.Ref]*object{}, next: firstObject,
		calls: map[string]int{}, failing: map[string]failure{}}
	t.Cleanup(func() {
		if n := f.Live(); n != 0 {
			t.Errorf("surfacetest: %d objects are alive at the end", n)
		}
	})
	return f
}

// Calls is the number of calls of a C function.
func (f *Fake) Calls(call string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[call]
}

// Live is the number of objects with a reference.
func (f *Fake) Live() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.objects)
}

// create returns a new object with one reference. The caller holds the lock.
func (f *Fake) create(o object) iosurface.Ref {
	f.next += 0x10
	o.references = 1
	f.objects[f.next] = &o
	return f.next
}

// refer returns a new reference object of a surface. The caller holds the lock.
func (f *Fake) refer(s *surface) iosurface.Ref {
	s.objects++
	return f.create(object{surface: s})
}

// get finds a live object. The caller holds the lock.
func (f *Fake) get(call string, r iosurface.Ref) *object {
	o := f.objects[r]
	if o == nil {
		f.t.Errorf("surfacetest: %s of %#x, which is not alive", call, r)
		return &object{references: 1 << 30}
	}
	return o
}

// surfaceOf finds the surface of a reference. The caller holds the lock.
func (f *Fake) surfaceOf(call string, r iosurface.Ref) *surface {
	if s := f.get(call, r).surface; s != nil {
		return s
	}
	f.t.Errorf("surfacetest: %s of %#x, which is no surface", call, r)
	return &surface{objects: 1}
}

// release drops a reference; the last one also drops the references of the object. The caller
// holds the lock.
func (f *Fake) release(r iosurface.Ref) {
	o := f.get("CFRelease", r)
	if o.references--; o.references > 0 {
		return
	}
	if s := o.surface; s != nil {
		if s.objects--; s.objects == 0 && s.locks != 0 {
			f.t.Errorf("surfacetest: %#x was released while locked", r)
		}
	}
	delete(f.objects, r)
	for _, v := range o.entries {
		f.release(v)
	}
}
