package objcbridge

import "unsafe"

// Surface is an IOSurface wrapped by the framework. It holds a reference to the IOSurface.
type Surface struct{ object object }

// WrapSurface wraps an IOSurfaceRef. offset must be 0: the engine reads every surface from its first byte, so any other
// offset is rejected with ReasonOffset. All errors are an *Error of StageSurface.
func (b *Bridge) WrapSurface(ref uintptr, offset int) (*Surface, error) {
	if offset < 0 {
		return nil, refuse(StageSurface, ReasonOffset, "offset %d", offset)
	}
	if err := b.use(StageSurface); err != nil {
		return nil, err
	}
	defer b.mu.RUnlock()
	s := &Surface{object{bridge: b, what: "surface", free: b.lib.surfaceRelease}}
	var record cError
	k := call(b.lib.surfaceWrap, b.handle, ref, uintptr(offset),
		uintptr(unsafe.Pointer(&s.object.handle)), uintptr(unsafe.Pointer(&record)))
	if err := record.err(StageSurface, k); err != nil {
		return nil, err
	}
	return s, nil
}

// use begins a call. s.object.done ends it.
func (s *Surface) use(stage Stage) error {
	if s == nil {
		return closed(stage, "surface")
	}
	return s.object.use(stage)
}

// Unlock releases the CPU's lock, taken with options 0. Lock takes it again. The error is an *Error of StageSurface.
func (s *Surface) Unlock() error {
	if err := s.use(StageSurface); err != nil {
		return err
	}
	defer s.object.done()
	var record cError
	k := call(s.object.bridge.lib.surfaceUnlock, s.object.handle, uintptr(unsafe.Pointer(&record)))
	return record.err(StageSurface, k)
}

// Lock takes the CPU's lock with options 0. It fails if the surface's address has changed: slices
// of it are then invalid.
func (s *Surface) Lock() error {
	if err := s.use(StageSurface); err != nil {
		return err
	}
	defer s.object.done()
	var record cError
	k := call(s.object.bridge.lib.surfaceLock, s.object.handle, uintptr(unsafe.Pointer(&record)))
	return record.err(StageSurface, k)
}

// Close releases the wrapper and its reference. Requests made with it keep their own.
func (s *Surface) Close() {
	if s != nil {
		s.object.close()
	}
}
