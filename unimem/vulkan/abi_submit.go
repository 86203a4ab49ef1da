package vulkan

//lint:file-ignore U1000 C structures have fields that this package leaves zero.

// Structures of submissions, semaphores and messages.

type submitInfo struct {
	sType        uint32
	next         uintptr
	waitCount    uint32
	waits        uintptr
	waitStages   uintptr
	commandCount uint32
	commands     uintptr
	signalCount  uint32
	signals      uintptr
}

type timelineSubmit struct {
	sType       uint32
	next        uintptr
	waitCount   uint32
	waits       uintptr
	signalCount uint32
	signals     uintptr
}

type semaphoreInfo struct {
	sType uint32
	next  uintptr
	flags uint32
}

type semaphoreType struct {
	sType   uint32
	next    uintptr
	kind    uint32
	initial uint64
}

type semaphoreWait struct {
	sType      uint32
	next       uintptr
	flags      uint32
	count      uint32
	semaphores uintptr
	values     uintptr
}

type semaphoreSignal struct {
	sType     uint32
	next      uintptr
	semaphore uint64
	value     uint64
}

type messengerInfo struct {
	sType      uint32
	next       uintptr
	flags      uint32
	severities uint32
	types      uint32
	callback   uintptr
	user       uintptr
}

type messageData struct {
	sType  uint32
	next   uintptr
	flags  uint32
	id     uintptr
	number int32
	text   uintptr
	_      [6]uintptr // queues, command buffers and objects, each a number and an address
}
