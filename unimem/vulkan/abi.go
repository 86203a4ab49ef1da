package vulkan

// The numbers of vulkan_core.h 1.2 that this package uses. The structures are in abi_device.go, abi_memory.go,
// abi_kernel.go and abi_submit.go, as they lie in memory on 64-bit systems. Pointers are addresses of pinned memory
// (arena). A test compares the sizes with those that a C compiler prints.

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
	noLayer        result = -6
	noExtension    result = -7
	noFeature      result = -8
	noDriver       result = -9
	tooManyObjects result = -10
	badHandle      result = -1000072003
	badShader      result = -1000012000
)

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
	typeVulkan11            = 50
	typeProperties2         = 1000059001
	typeExternalBufferInfo  = 1000071002
	typeExternalBufferProps = 1000071003
	typeExternalBuffer      = 1000072000
	typeMessenger           = 1000128004
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
	version12 = 1<<22 | 2<<12

	handleHost = 0x80 // VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT
	importable = 4    // VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT

	usageTransferSource = 1
	usageTransferTarget = 2
	usageStorage        = 0x20
	usages              = usageTransferSource | usageTransferTarget | usageStorage

	queueCompute = 2

	driverNVIDIA = 4 // VK_DRIVER_ID_NVIDIA_PROPRIETARY

	memoryLocal    = 1 // VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
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
