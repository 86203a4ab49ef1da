package vulkan

//lint:file-ignore U1000 C structures have fields that this package leaves zero.

// Structures of kernels, and of the commands that run them.

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
