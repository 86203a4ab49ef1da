package surfacetest

import "github.com/anekit/anekit/internal/iosurface"

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
		Create:         f.surfaceWith,
		Lookup:         f.lookup,
		Lock:           f.lock,
		Unlock:         f.unlock,
		GetBaseAddress: f.base,
		GetAllocSize:   f.size,
		GetID:          f.id,

		CreateMachPort: f.port, LookupFromMachPort: f.lookupPort, DeallocatePort: f.dropPort,

		Width: keyWidth, Height: keyHeight, BytesPerElement: keyBytesPerElement,
		BytesPerRow: keyBytesPerRow, AllocSize: keyAllocSize, PixelFormat: keyPixelFormat,
		KeyCallBacks: keyCallBacks, ValueCallBacks: valueCallBacks,
	}
}

func (f *Fake) dictionary(allocator iosurface.Ref, capacity int, keys, values uintptr) iosurface.Ref {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails("CFDictionaryCreateMutable") {
		return 0
	}
	if allocator != 0 || keys != keyCallBacks || values != valueCallBacks {
		f.t.Errorf("surfacetest: dictionary made with %#x %d %#x %#x", allocator, capacity, keys, values)
	}
	return f.create(object{entries: map[iosurface.Ref]iosurface.Ref{}})
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

func (f *Fake) number(allocator iosurface.Ref, kind int, value *int64) iosurface.Ref {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails("CFNumberCreate") {
		return 0
	}
	if const64 := 4; kind != const64 { // kCFNumberSInt64Type
		f.t.Errorf("surfacetest: number of kind %d", kind)
	}
	return f.create(object{number: *value})
}

// surfaceWith requires exactly the six properties: one row, or from 2 GiB on rows of 16 KiB. It
// checks them also if it fails.
func (f *Fake) surfaceWith(properties iosurface.Ref) iosurface.Ref {
	f.mu.Lock()
	defer f.mu.Unlock()
	entries := f.get("IOSurfaceCreate", properties).entries
	size := f.get("IOSurfaceCreate", entries[keyAllocSize]).number
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
		if got := f.get("IOSurfaceCreate", entries[key]).number; got != number {
			f.t.Errorf("surfacetest: property %#x is %d, not %d", key, got, number)
		}
	}
	if f.fails("IOSurfaceCreate") || f.full() {
		return 0
	}
	f.lastID++
	return f.refer(&surface{mem: pages(int(size)), id: f.lastID})
}

func (f *Fake) lookup(id uint32) iosurface.Ref {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails("IOSurfaceLookup") {
		return 0
	}
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
	if f.fails("IOSurfaceLock") {
		return f.code("IOSurfaceLock")
	}
	f.surfaceOf("IOSurfaceLock", r).locks++
	return 0
}

func (f *Fake) unlock(r iosurface.Ref, options uint32) int32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.surfaceOf("IOSurfaceUnlock", r)
	if o.locks--; o.locks < 0 || options != 0 {
		f.t.Errorf("surfacetest: %#x unlocked %d times too often, options %d", r, -o.locks, options)
	}
	if f.fails("IOSurfaceUnlock") {
		return f.code("IOSurfaceUnlock")
	}
	return 0
}

func (f *Fake) base(r iosurface.Ref) uintptr {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.surfaceOf("IOSurfaceGetBaseAddress", r)
	if f.fails("IOSurfaceGetBaseAddress") {
		return 0
	}
	if o.locks == 0 {
		f.t.Errorf("surfacetest: address of %#x read while not locked", r)
	}
	return address(o.mem)
}

func (f *Fake) size(r iosurface.Ref) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.surfaceOf("IOSurfaceGetAllocSize", r)
	if f.fails("IOSurfaceGetAllocSize") {
		return len(o.mem) - 1
	}
	return len(o.mem)
}

func (f *Fake) id(r iosurface.Ref) uint32 {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.surfaceOf("IOSurfaceGetID", r)
	if f.fails("IOSurfaceGetID") {
		return 0
	}
	return o.id
}
