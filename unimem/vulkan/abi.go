package vulkan

//lint:file-ignore U1000 C structures have fields that this package leaves zero.

import "fmt"

// The structures and numbers of vulkan_core.h 1.2 that this package uses, as they lie in memory on 64-bit systems.
// Pointers are addresses of pinned memory (arena). A test compares the sizes with those that a C compiler prints.

// result is a VkResult.
type result int32

const (
	success        result = 0
	timeout        result = 2
	incomplete     result = 5
	noHostMemory   result = -1
	noDeviceMemory result = -2
	notInitialized result = -3
	deviceLost     result = -4
	mapFailed      result = -5
	noLayer        result = -6
	noExtension    result = -7
	noFeature      result = -8
	noDriver       result = -9
	tooManyObjects result = -10
	badHandle      result = -1000072003
	badShader      result = -1000012000
)

// String returns the name of the C header.
func (r result) String() string {
	names := map[result]string{success: "VK_SUCCESS", timeout: "VK_TIMEOUT", incomplete: "VK_INCOMPLETE",
		noHostMemory: "VK_ERROR_OUT_OF_HOST_MEMORY", noDeviceMemory: "VK_ERROR_OUT_OF_DEVICE_MEMORY",
		notInitialized: "VK_ERROR_INITIALIZATION_FAILED", deviceLost: "VK_ERROR_DEVICE_LOST",
		mapFailed: "VK_ERROR_MEMORY_MAP_FAILED", noLayer: "VK_ERROR_LAYER_NOT_PRESENT",
		noExtension: "VK_ERROR_EXTENSION_NOT_PRESENT", noFeature: "VK_ERROR_FEATURE_NOT_PRESENT",
		noDriver: "VK_ERROR_INCOMPATIBLE_DRIVER", tooManyObjects: "VK_ERROR_TOO_MANY_OBJECTS",
		badHandle: "VK_ERROR_INVALID_EXTERNAL_HANDLE", badShader: "VK_ERROR_INVALID_SHADER_NV"}
	if name := names[r]; name != "" {
		return name
	}
	return fmt.Sprintf("VkResult %d", int32(r))
}

// Values of VkStructureType.
const (
	typeApplication         = 0
	typeInstance            = 1
	typeDeviceQueue         = 2
	typeDevice              = 3
	typeSubmit              = 4
	typeAllocate            = 5
	typeSemaphore           = 9
	typeBuffer              = 12
	typeShaderModule        = 16
	typeShaderStage         = 18
	typeComputePipeline     = 29
	typePipelineLayout      = 30
	typeSetLayout           = 32
	typeDescriptorPool      = 33
	typeDescriptorAllocate  = 34
	typeWriteDescriptor     = 35
	typeCommandPool         = 39
	typeCommandAllocate     = 40
	typeCommandBegin        = 42
	typeMemoryBarrier       = 46
	typeProperties2         = 1000059001
	typeExternalBufferInfo  = 1000071002
	typeExternalBufferProps = 1000071003
	typeIDProperties        = 1000071004
	typeExternalBuffer      = 1000072000
	typeImportFd            = 1000074000
	typeFdProperties        = 1000074001
	typeMessenger           = 1000128004
	typeMaintenance3        = 1000168000
	typeImportHost          = 1000178000
	typeHostProperties      = 1000178001
	typeHostLimits          = 1000178002
	typeDriverProperties    = 1000196000
	typeTimelineFeatures    = 1000207000
	typeSemaphoreType       = 1000207002
	typeTimelineSubmit      = 1000207003
	typeSemaphoreWait       = 1000207004
	typeSemaphoreSignal     = 1000207005
)

const (
	version11 = 1<<22 | 1<<12
	version12 = 1<<22 | 2<<12

	handleHost   = 0x80  // VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT
	handleDMABuf = 0x200 // VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT
	importable   = 4     // VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT

	usageTransferSource = 1
	usageTransferTarget = 2
	usageStorage        = 0x20
	usages              = usageTransferSource | usageTransferTarget | usageStorage

	queueCompute = 2

	memoryVisible  = 2 // VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
	memoryCoherent = 4
	memoryCached   = 8

	descriptorStorageBuffer = 7
	stageCompute            = 0x20 // VK_SHADER_STAGE_COMPUTE_BIT
	bindCompute             = 1    // VK_PIPELINE_BIND_POINT_COMPUTE
	semaphoreTimeline       = 1    // VK_SEMAPHORE_TYPE_TIMELINE
	oneTimeSubmit           = 1    // VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT

	stepAll         = 0x10000 // VK_PIPELINE_STAGE_ALL_COMMANDS_BIT
	stepHost        = 0x4000  // VK_PIPELINE_STAGE_HOST_BIT
	accessHostRead  = 0x2000
	accessHostWrite = 0x4000
	accessRead      = 0x8000 // VK_ACCESS_MEMORY_READ_BIT
	accessWrite     = 0x10000

	wholeSize = ^uint64(0)
)

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

type idProperties struct {
	sType        uint32
	next         uintptr
	device       [16]byte
	driver       [16]byte
	luid         [8]byte
	nodes, valid uint32
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

type maintenance3 struct {
	sType         uint32
	next          uintptr
	descriptors   uint32
	maxAllocation uint64
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

type importFd struct {
	sType  uint32
	next   uintptr
	handle uint32
	fd     int32
}

// importProperties is VkMemoryHostPointerPropertiesEXT and VkMemoryFdPropertiesKHR.
type importProperties struct {
	sType uint32
	next  uintptr
	types uint32
}

type shaderModule struct {
	sType uint32
	next  uintptr
	flags uint32
	size  uintptr
	code  uintptr
}

type setBinding struct {
	binding, kind, count, stages uint32
	samplers                     uintptr
}

type setLayout struct {
	sType    uint32
	next     uintptr
	flags    uint32
	count    uint32
	bindings uintptr
}

type pushRange struct{ stages, offset, size uint32 }

type pipelineLayout struct {
	sType     uint32
	next      uintptr
	flags     uint32
	setCount  uint32
	sets      uintptr
	pushCount uint32
	pushes    uintptr
}

type shaderStage struct {
	sType          uint32
	next           uintptr
	flags          uint32
	stage          uint32
	module         uint64
	name           uintptr
	specialization uintptr
}

type computePipeline struct {
	sType     uint32
	next      uintptr
	flags     uint32
	stage     shaderStage
	layout    uint64
	base      uint64
	baseIndex int32
}

type poolSize struct{ kind, count uint32 }

type descriptorPool struct {
	sType     uint32
	next      uintptr
	flags     uint32
	maxSets   uint32
	sizeCount uint32
	sizes     uintptr
}

type descriptorAllocate struct {
	sType   uint32
	next    uintptr
	pool    uint64
	count   uint32
	layouts uintptr
}

type descriptorBuffer struct{ buffer, offset, size uint64 }

type writeDescriptor struct {
	sType   uint32
	next    uintptr
	set     uint64
	binding uint32
	element uint32
	count   uint32
	kind    uint32
	images  uintptr
	buffers uintptr
	texels  uintptr
}

type commandPool struct {
	sType  uint32
	next   uintptr
	flags  uint32
	family uint32
}

type commandAllocate struct {
	sType uint32
	next  uintptr
	pool  uint64
	level uint32
	count uint32
}

type commandBegin struct {
	sType   uint32
	next    uintptr
	flags   uint32
	inherit uintptr
}

type memoryBarrier struct {
	sType    uint32
	next     uintptr
	from, to uint32
}

type copyRegion struct{ source, target, size uint64 }

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
