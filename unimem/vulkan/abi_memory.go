package vulkan

//lint:file-ignore U1000 C structures have fields that this package leaves zero.

// Structures of buffers and their memory.

type bufferInfo struct {
	sType       uint32
	next        uintptr
	flags       uint32
	size        uint64
	usage       uint32
	sharing     uint32
	familyCount uint32
	families    uintptr
}

type externalBuffer struct {
	sType   uint32
	next    uintptr
	handles uint32
}

type memoryRequirements struct {
	size, align uint64
	types       uint32
}

type allocateInfo struct {
	sType      uint32
	next       uintptr
	size       uint64
	memoryType uint32
}

type importHost struct {
	sType   uint32
	next    uintptr
	handle  uint32
	pointer uintptr
}

// hostProperties is VkMemoryHostPointerPropertiesEXT.
type hostProperties struct {
	sType uint32
	next  uintptr
	types uint32
}
