package metal

// driver has the used functions of Metal. References are pointers to Objective-C objects, zero for nil; the caller
// releases those that a function returns.
type driver struct {
	systemDevice func() uintptr   // the default one
	devices      func() []uintptr // all
	id           func(device uintptr) uint64
	metal3       func(device uintptr) bool
	name         func(device uintptr) string
	maxBuffer    func(device uintptr) int // bytes
	newBuffer    func(device, address uintptr, size int) uintptr
	allocate     func(device uintptr, size int) uintptr // a buffer of Metal's own memory
	contents     func(buffer uintptr) uintptr           // its address for the CPU
	unified      func(device uintptr) bool              // shares the CPU's memory
	// plane returns a plane of an IOSurface; ok is false if it has no such plane.
	plane      func(surface uintptr, number int) (p plane, ok bool)
	newTexture func(device, surface uintptr, s Shape) uintptr
	release    func(object uintptr)

	newQueue func(device uintptr) uintptr
	newFence func(device uintptr) uintptr
	// newKernel compiles a text and makes the pipeline of a function.
	newKernel func(device uintptr, text, function string) pipeline
	newEvent  func(device uintptr) uintptr
	value     func(event uintptr) uint64
	signal    func(event uintptr, v uint64)
	// await waits until the event has the value, at most some milliseconds, and reports whether it has.
	await func(event uintptr, v uint64, milliseconds uint64) bool
	// start records and commits a command buffer, and returns it; zero if the queue makes none.
	start func(queue uintptr, w work) uintptr
	// finish waits until a command buffer has ended; code is that of its error, 0 for none.
	finish func(commands uintptr) (code int, fault string)
	// capture writes what the GPU does until endCapture to a file. fault has the words of Metal.
	capture    func(device uintptr, path string) (fault string, ok bool)
	endCapture func()
}

// pipeline is a compiled function; fault has the words of Metal for a zero ref.
type pipeline struct {
	ref     uintptr
	threads int    // most threads of a group
	reads   uint32 // bit n: Metal knows that the function only reads its buffer with the argument n
	fault   string
}

// work is what a command buffer does: it waits for events, runs steps one after another, and signals events. fence
// orders its encoders, since two buffers may be of one memory, which Metal does not know; zero if there is one step.
type work struct {
	waits, signals []eventAt
	steps          []step
	fence          uintptr
}

// step is a dispatch, or a command of a blit encoder.
type step struct {
	dispatch
	blit *blit // nil for a dispatch
}

// blit fills length bytes of to with value, or copies them from a buffer. Offsets and length are multiples of 4.
type blit struct {
	to, from             uintptr // from is zero to fill
	toOffset, fromOffset int
	length               int
	value                byte
}

type eventAt struct {
	event uintptr
	value uint64
}

type dispatch struct {
	pipeline uintptr
	buffers  []bound
	push     []byte
	pushAt   int // number of the argument
	groups   [3]int
	group    [3]int
}

type bound struct {
	buffer     uintptr
	offset, at int // at is the number of the argument
}
