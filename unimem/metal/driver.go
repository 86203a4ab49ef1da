package metal

// driver is what is called of Metal. References are pointers to Objective-C objects, zero
// for none; those that a function returns are the caller's to release.
type driver struct {
	systemDevice func() uintptr
	name         func(device uintptr) string
	maxBuffer    func(device uintptr) int // bytes
	newBuffer    func(device, address uintptr, size int) uintptr
	// plane asks an IOSurface; ok is false where it has no such plane.
	plane      func(surface uintptr, number int) (p plane, ok bool)
	newTexture func(device, surface uintptr, s Shape) uintptr
	release    func(object uintptr)
}
