package vulkan

import "strings"

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

// table has functions of Vulkan by their names. The loader dispatches by the first argument.
type table map[string]function

func (t table) call(name string, args ...uintptr) result { return t[name](args...) }

// The functions without an instance, and those of an instance and of its devices.
const (
	globalNames = `
	vkCreateInstance vkEnumerateInstanceExtensionProperties vkEnumerateInstanceLayerProperties
	vkEnumerateInstanceVersion`
	instanceNames = `
	vkDestroyInstance vkEnumeratePhysicalDevices vkGetPhysicalDeviceProperties2
	vkGetPhysicalDeviceMemoryProperties vkGetPhysicalDeviceQueueFamilyProperties
	vkGetPhysicalDeviceExternalBufferProperties vkEnumerateDeviceExtensionProperties vkCreateDevice
	vkDestroyDevice vkGetDeviceQueue vkCreateBuffer vkDestroyBuffer vkGetBufferMemoryRequirements vkAllocateMemory
	vkFreeMemory vkBindBufferMemory vkMapMemory vkCreateShaderModule vkDestroyShaderModule
	vkCreateDescriptorSetLayout vkDestroyDescriptorSetLayout vkCreatePipelineLayout vkDestroyPipelineLayout
	vkCreateComputePipelines vkDestroyPipeline vkCreateDescriptorPool vkDestroyDescriptorPool
	vkAllocateDescriptorSets vkUpdateDescriptorSets vkCreateCommandPool vkDestroyCommandPool
	vkAllocateCommandBuffers vkBeginCommandBuffer vkEndCommandBuffer vkCmdBindPipeline vkCmdBindDescriptorSets
	vkCmdPushConstants vkCmdDispatch vkCmdPipelineBarrier vkCmdFillBuffer vkCmdCopyBuffer vkQueueSubmit
	vkCreateSemaphore vkDestroySemaphore vkGetSemaphoreCounterValue vkWaitSemaphores vkSignalSemaphore`
)

// newTable finds the functions with these names.
func newTable(l *loader, instance uintptr, names string) (table, error) {
	t := table{}
	for _, name := range strings.Fields(names) {
		if t[name] = l.find(instance, name); t[name] == nil {
			return t, newError("open", ErrUnavailable, "", "the loader has no "+name+": it needs Vulkan 1.2")
		}
	}
	return t, nil
}

// The functions of extensions.
const (
	hostPointer      = "vkGetMemoryHostPointerPropertiesEXT"
	createMessenger  = "vkCreateDebugUtilsMessengerEXT"
	destroyMessenger = "vkDestroyDebugUtilsMessengerEXT"
)
