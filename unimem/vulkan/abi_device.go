package vulkan

//lint:file-ignore U1000 C structures have fields that this package leaves zero.

// Structures of instances and devices.

type application struct {
	sType         uint32
	next          uintptr
	name          uintptr
	version       uint32
	engine        uintptr
	engineVersion uint32
	api           uint32
}

type instanceInfo struct {
	sType          uint32
	next           uintptr
	flags          uint32
	application    uintptr
	layerCount     uint32
	layers         uintptr
	extensionCount uint32
	extensions     uintptr
}

type extensionProperties struct {
	name    [256]byte
	version uint32
}

type layerProperties struct {
	name           [256]byte
	spec, revision uint32
	description    [256]byte
}

// deviceProperties is VkPhysicalDeviceProperties2; limits are VkPhysicalDeviceLimits from byte 296 of the inner
// structure on.
type deviceProperties struct {
	sType                        uint32
	next                         uintptr
	api, driver, vendor, product uint32
	kind                         uint32
	name                         [256]byte
	cache                        [16]byte
	_                            uint32 // the limits have 8-byte members
	limits                       limits
	sparse                       [5]uint32
}

type limits struct {
	_               [7]uint32
	maxStorageRange uint32 // byte 28
	maxPush         uint32 // byte 32
	_               [46]uint32
	maxGroups       [3]uint32 // byte 220
	maxInvocations  uint32    // byte 232
	_               [23]uint32
	minStorageAlign uint64 // byte 328
	_               [40]uint32
	nonCoherentAtom uint64 // byte 496
}

// vulkan11Properties is VkPhysicalDeviceVulkan11Properties.
type vulkan11Properties struct {
	sType         uint32
	next          uintptr
	device        [16]byte
	driver        [16]byte
	luid          [8]byte
	_             [11]uint32 // from deviceNodeMask to maxPerSetDescriptors
	maxAllocation uint64
}

type driverProperties struct {
	sType       uint32
	next        uintptr
	id          uint32
	name        [256]byte
	info        [256]byte
	conformance [4]byte
}

type hostLimits struct {
	sType uint32
	next  uintptr
	align uint64
}

type timelineFeatures struct {
	sType uint32
	next  uintptr
	on    uint32
	_     uint32
}

type memoryProperties struct {
	count uint32
	types [32]struct{ flags, heap uint32 }
	heaps uint32
	heap  [16]struct {
		size  uint64
		flags uint64
	}
}

type queueFamily struct {
	flags, count, timestamp uint32
	granularity             [3]uint32
}

type externalBufferInfo struct {
	sType  uint32
	next   uintptr
	flags  uint32
	usage  uint32
	handle uint32
}

type externalBufferProperties struct {
	sType                            uint32
	next                             uintptr
	features, exportFrom, compatible uint32
}

type deviceQueueInfo struct {
	sType      uint32
	next       uintptr
	flags      uint32
	family     uint32
	count      uint32
	priorities uintptr
}

type deviceInfo struct {
	sType          uint32
	next           uintptr
	flags          uint32
	queueCount     uint32
	queues         uintptr
	layerCount     uint32
	layers         uintptr
	extensionCount uint32
	extensions     uintptr
	features       uintptr
}
