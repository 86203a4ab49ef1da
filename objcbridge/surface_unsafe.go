package objcbridge

import "unsafe"

// Surface is an IOSurface wrapped by the framework. It holds a reference to the IOSurface.
type Surface struct{ object }

// WrapSurface wraps an IOSurfaceRef. offset must be 0: the engine reads every surface from its first byte, so any other
// offset is rejected with ReasonOffset. All errors are an *Error of the stage surface.
func (b *Bridge) WrapSurface(ref uintptr, offset int) (*Surface, error) {
	if offset < 0 {
		return nil, refuse(stageSurface, ReasonOffset, "offset %d", offset)
	}
	s := &Surface{object{bridge: b, what: "surface"}}
	err := do(b, stageSurface, func(record *cError) int32 {
		s.free = b.lib.surfaceRelease
		return call(b.lib.surfaceWrap, b.handle, ref, uintptr(offset), uintptr(unsafe.Pointer(&s.handle)),
			uintptr(unsafe.Pointer(record)))
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// use begins a call. done ends it.
func (s *Surface) use(stage Stage) error {
	if s == nil {
		return closed(stage, "surface")
	}
	return s.object.use(stage)
}

// Unlock releases the CPU's lock, taken with options 0. Lock takes it again. The error is an *Error of the stage
// surface.
func (s *Surface) Unlock() error {
	return do(s, stageSurface, func(record *cError) int32 {
		return call(s.bridge.lib.surfaceUnlock, s.handle, uintptr(unsafe.Pointer(record)))
	})
}

// Lock takes the CPU's lock with options 0. It fails if the surface's address has changed: slices
// of it are then invalid.
func (s *Surface) Lock() error {
	return do(s, stageSurface, func(record *cError) int32 {
		return call(s.bridge.lib.surfaceLock, s.handle, uintptr(unsafe.Pointer(record)))
	})
}

// Close releases the wrapper and its reference. Requests made with it keep their own.
func (s *Surface) Close() {
	if s != nil {
		s.object.close()
	}
}
