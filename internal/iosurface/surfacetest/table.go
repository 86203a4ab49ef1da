package surfacetest

import "github.com/anekit/anekit/internal/iosurface"

// Constants that the library owns; they are never released.
const (
	keyWidth iosurface.Ref = 0x100 + iota
	keyHeight
	keyBytesPerElement
	keyBytesPerRow
	keyAllocSize
	keyPixelFormat
)

const (
	keyCallBacks   = 0x201
	valueCallBacks = 0x202
	numberSInt64   = 4 // kCFNumberSInt64Type
)

// Table returns the functions of the library for package iosurface.
func (f *Fake) Table() *iosurface.Table {
	return &iosurface.Table{
		DictionaryCreateMutable: f.dictionary,
		DictionarySetValue:      f.set,
		NumberCreate:            f.number,
		Release: func(r iosurface.Ref) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.release(r)
		},
		Create: f.surfaceWith,
		Lookup: func(id uint32) iosurface.Ref {
			return answer(f, "IOSurfaceLookup", func() iosurface.Ref { return f.lookup(id) })
		},
		Lock:           f.lock,
		Unlock:         f.unlock,
		GetBaseAddress: f.base,
		GetAllocSize: func(r iosurface.Ref) int {
			const call = "IOSurfaceGetAllocSize"
			return answer(f, call, func() int { return len(f.surfaceOf(call, r).mem) })
		},
		GetID: func(r iosurface.Ref) uint32 {
			const call = "IOSurfaceGetID"
			return answer(f, call, func() uint32 { return f.surfaceOf(call, r).id })
		},

		Width: keyWidth, Height: keyHeight, BytesPerElement: keyBytesPerElement,
		BytesPerRow: keyBytesPerRow, AllocSize: keyAllocSize, PixelFormat: keyPixelFormat,
		KeyCallBacks: keyCallBacks, ValueCallBacks: valueCallBacks,
	}
}

// answer counts a call, and returns zero if it is to fail, else what f has.
func answer[V any](f *Fake, call string, get func() V) (v V) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, failed := f.fails(call); failed {
		return v
	}
	return get()
}

func (f *Fake) dictionary(allocator iosurface.Ref, capacity int, keys, values uintptr) iosurface.Ref {
	return answer(f, "CFDictionaryCreateMutable", func() iosurface.Ref {
		if allocator != 0 || keys != keyCallBacks || values != valueCallBacks {
			f.t.Errorf("surfacetest: dictionary made with %#x %d %#x %#x", allocator, capacity, keys, values)
		}
		return f.create(object{entries: map[iosurface.Ref]iosurface.Ref{}})
	})
}

func (f *Fake) set(dictionary, key, value iosurface.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.get("CFDictionarySetValue", value).references++
	entries := f.get("CFDictionarySetValue", dictionary).entries
	if old, ok := entries[key]; ok {
		f.release(old)
	}
	entries[key] = value
}

func (f *Fake) number(_ iosurface.Ref, kind int, value *int64) iosurface.Ref {
	return answer(f, "CFNumberCreate", func() iosurface.Ref {
		if kind != numberSInt64 {
			f.t.Errorf("surfacetest: number of kind %d", kind)
		}
		return f.create(object{number: *value})
	})
}

// surfaceWith requires exactly the six properties: one row, or from 2 GiB on rows of 16 KiB. It
// checks them also if it fails.
func (f *Fake) surfaceWith(properties iosurface.Ref) iosurface.Ref {
	const call = "IOSurfaceCreate"
	f.mu.Lock()
	defer f.mu.Unlock()
	entries := f.get(call, properties).entries
	size := f.get(call, entries[keyAllocSize]).number
	row, rows := size, int64(1)
	if size >= 1<<31 {
		row, rows = granule, size/granule
	}
	want := map[iosurface.Ref]int64{keyWidth: row, keyHeight: rows, keyBytesPerElement: 1,
		keyBytesPerRow: row, keyAllocSize: size, keyPixelFormat: 0}
	if len(entries) != len(want) {
		f.t.Errorf("surfacetest: surface with %d properties", len(entries))
	}
	for key, number := range want {
		if got := f.get(call, entries[key]).number; got != number {
			f.t.Errorf("surfacetest: property %#x is %d, not %d", key, got, number)
		}
	}
	if _, failed := f.fails(call); failed || f.limit > 0 && f.count().Surfaces >= f.limit {
		return 0
	}
	f.lastID++
	return f.refer(&surface{mem: pages(int(size)), id: f.lastID})
}

// lookup finds a surface. The caller holds the lock.
func (f *Fake) lookup(id uint32) iosurface.Ref {
	for _, o := range f.objects {
		if o.surface != nil && o.surface.id == id {
			return f.refer(o.surface)
		}
	}
	return 0
}

func (f *Fake) lock(r iosurface.Ref, options uint32) int32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if options != 0 {
		f.t.Errorf("surfacetest: locked with options %d", options)
	}
	code, failed := f.fails("IOSurfaceLock")
	if !failed {
		f.surfaceOf("IOSurfaceLock", r).locks++
	}
	return code
}

func (f *Fake) unlock(r iosurface.Ref, options uint32) int32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.surfaceOf("IOSurfaceUnlock", r)
	if o.locks--; o.locks < 0 || options != 0 {
		f.t.Errorf("surfacetest: %#x unlocked %d times too often, options %d", r, -o.locks, options)
	}
	code, _ := f.fails("IOSurfaceUnlock")
	return code
}

func (f *Fake) base(r iosurface.Ref) uintptr {
	const call = "IOSurfaceGetBaseAddress"
	return answer(f, call, func() uintptr {
		o := f.surfaceOf(call, r)
		if o.locks == 0 {
			f.t.Errorf("surfacetest: address of %#x read while not locked", r)
		}
		return address(o.mem)
	})
}
