package vulkan

// function is a function of Vulkan. Arguments are numbers, handles and addresses of pinned memory; functions without a
// result return success.
type function func(args ...uintptr) result

// loader finds functions by name.
type loader struct {
	// get is vkGetInstanceProcAddr: the address of a function of an instance, 0 for global ones; 0 if there is none.
	get func(instance uintptr, name string) uintptr
	// call calls a C function.
	call func(address uintptr, args ...uintptr) uintptr
	// wrap replaces functions in tests; nil for none.
	wrap func(name string, f function) function
}

// find returns a function, nil if there is none.
func (l *loader) find(instance uintptr, name string) function {
	address := l.get(instance, name)
	if address == 0 {
		return nil
	}
	f := function(func(args ...uintptr) result { return result(int32(uint32(l.call(address, args...)))) })
	if l.wrap != nil {
		f = l.wrap(name, f)
	}
	return f
}

// globals are the functions without an instance.
type globals struct {
	createInstance, extensions, layers, version function
}

// table has the functions of an instance and of its devices. The loader dispatches by the first argument.
type table struct {
	destroyInstance, physicalDevices, properties, memory, families, externalBuffer, deviceExtensions,
	createDevice, destroyDevice, deviceQueue,
	createBuffer, destroyBuffer, requirements, allocate, freeMemory, bind, mapMemory, hostPointer, fdProperties,
	createModule, destroyModule, createSetLayout, destroySetLayout, createPipelineLayout, destroyPipelineLayout,
	createPipeline, destroyPipeline,
	createPool, destroyPool, allocateSets, updateSets,
	createCommandPool, destroyCommandPool, allocateCommands, begin, end,
	bindPipeline, bindSets, push, dispatch, barrier, fill, copy,
	submit, createSemaphore, destroySemaphore, counter, wait, signal,
	createMessenger, destroyMessenger function
}

// row is a function of the table.
type row struct {
	name     string
	to       *function
	optional bool
}

func (t *table) rows() []row {
	return []row{
		{"vkDestroyInstance", &t.destroyInstance, false},
		{"vkEnumeratePhysicalDevices", &t.physicalDevices, false},
		{"vkGetPhysicalDeviceProperties2", &t.properties, false},
		{"vkGetPhysicalDeviceMemoryProperties", &t.memory, false},
		{"vkGetPhysicalDeviceQueueFamilyProperties", &t.families, false},
		{"vkGetPhysicalDeviceExternalBufferProperties", &t.externalBuffer, false},
		{"vkEnumerateDeviceExtensionProperties", &t.deviceExtensions, false},
		{"vkCreateDevice", &t.createDevice, false},
		{"vkDestroyDevice", &t.destroyDevice, false},
		{"vkGetDeviceQueue", &t.deviceQueue, false},
		{"vkCreateBuffer", &t.createBuffer, false},
		{"vkDestroyBuffer", &t.destroyBuffer, false},
		{"vkGetBufferMemoryRequirements", &t.requirements, false},
		{"vkAllocateMemory", &t.allocate, false},
		{"vkFreeMemory", &t.freeMemory, false},
		{"vkBindBufferMemory", &t.bind, false},
		{"vkMapMemory", &t.mapMemory, false},
		{"vkGetMemoryHostPointerPropertiesEXT", &t.hostPointer, true},
		{"vkGetMemoryFdPropertiesKHR", &t.fdProperties, true},
		{"vkCreateShaderModule", &t.createModule, false},
		{"vkDestroyShaderModule", &t.destroyModule, false},
		{"vkCreateDescriptorSetLayout", &t.createSetLayout, false},
		{"vkDestroyDescriptorSetLayout", &t.destroySetLayout, false},
		{"vkCreatePipelineLayout", &t.createPipelineLayout, false},
		{"vkDestroyPipelineLayout", &t.destroyPipelineLayout, false},
		{"vkCreateComputePipelines", &t.createPipeline, false},
		{"vkDestroyPipeline", &t.destroyPipeline, false},
		{"vkCreateDescriptorPool", &t.createPool, false},
		{"vkDestroyDescriptorPool", &t.destroyPool, false},
		{"vkAllocateDescriptorSets", &t.allocateSets, false},
		{"vkUpdateDescriptorSets", &t.updateSets, false},
		{"vkCreateCommandPool", &t.createCommandPool, false},
		{"vkDestroyCommandPool", &t.destroyCommandPool, false},
		{"vkAllocateCommandBuffers", &t.allocateCommands, false},
		{"vkBeginCommandBuffer", &t.begin, false},
		{"vkEndCommandBuffer", &t.end, false},
		{"vkCmdBindPipeline", &t.bindPipeline, false},
		{"vkCmdBindDescriptorSets", &t.bindSets, false},
		{"vkCmdPushConstants", &t.push, false},
		{"vkCmdDispatch", &t.dispatch, false},
		{"vkCmdPipelineBarrier", &t.barrier, false},
		{"vkCmdFillBuffer", &t.fill, false},
		{"vkCmdCopyBuffer", &t.copy, false},
		{"vkQueueSubmit", &t.submit, false},
		{"vkCreateSemaphore", &t.createSemaphore, false},
		{"vkDestroySemaphore", &t.destroySemaphore, false},
		{"vkGetSemaphoreCounterValue", &t.counter, false},
		{"vkWaitSemaphores", &t.wait, false},
		{"vkSignalSemaphore", &t.signal, false},
		{"vkCreateDebugUtilsMessengerEXT", &t.createMessenger, true},
		{"vkDestroyDebugUtilsMessengerEXT", &t.destroyMessenger, true},
	}
}

// load finds every function of an instance.
func (t *table) load(l *loader, instance uintptr) error {
	for _, r := range t.rows() {
		if *r.to = l.find(instance, r.name); *r.to == nil && !r.optional {
			return &Error{Op: "open", Err: ErrUnavailable,
				Hint: "the loader has no " + r.name + ": it needs Vulkan 1.2"}
		}
	}
	return nil
}
