package metal

// driver has the used functions of Metal. References are pointers to Objective-C objects, zero
// for nil; the caller releases those that a function returns.
type driver struct {
	systemDevice func() uintptr
	name         func(device uintptr) string
	maxBuffer    func(device uintptr) int // bytes
	newBuffer    func(device, address uintptr, size int) uintptr
	// plane returns a plane of an IOSurface; ok is false if it has no such plane.
	plane      func(surface uintptr, number int) (p plane, ok bool)
	newTexture func(device, surface uintptr, s Shape) uintptr
	release    func(object uintptr)
}
