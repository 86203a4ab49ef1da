package vulkan

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// The sizes and offsets that a C compiler prints for vulkan_core.h 1.3.239 on x86-64.
func TestStructuresAreThoseOfC(t *testing.T) {
	for name, c := range map[string][2]uintptr{
		"VkApplicationInfo":                         {unsafe.Sizeof(application{}), 48},
		"VkInstanceCreateInfo":                      {unsafe.Sizeof(instanceInfo{}), 64},
		"VkExtensionProperties":                     {unsafe.Sizeof(extensionProperties{}), 260},
		"VkLayerProperties":                         {unsafe.Sizeof(layerProperties{}), 520},
		"VkPhysicalDeviceProperties2":               {unsafe.Sizeof(deviceProperties{}), 840},
		"limits":                                    {unsafe.Offsetof(deviceProperties{}.limits), 16 + 296},
		"sparseProperties":                          {unsafe.Offsetof(deviceProperties{}.sparse), 16 + 800},
		"deviceName":                                {unsafe.Offsetof(deviceProperties{}.name), 16 + 20},
		"VkPhysicalDeviceLimits":                    {unsafe.Sizeof(limits{}), 504},
		"maxStorageBufferRange":                     {unsafe.Offsetof(limits{}.maxStorageRange), 28},
		"maxPushConstantsSize":                      {unsafe.Offsetof(limits{}.maxPush), 32},
		"maxComputeWorkGroupCount":                  {unsafe.Offsetof(limits{}.maxGroups), 220},
		"maxComputeWorkGroupInvocations":            {unsafe.Offsetof(limits{}.maxInvocations), 232},
		"minStorageBufferOffsetAlignment":           {unsafe.Offsetof(limits{}.minStorageAlign), 328},
		"nonCoherentAtomSize":                       {unsafe.Offsetof(limits{}.nonCoherentAtom), 496},
		"VkPhysicalDeviceVulkan11Properties":        {unsafe.Sizeof(vulkan11Properties{}), 112},
		"maxMemoryAllocationSize":                   {unsafe.Offsetof(vulkan11Properties{}.maxAllocation), 104},
		"VkPhysicalDeviceDriverProperties":          {unsafe.Sizeof(driverProperties{}), 536},
		"..ExternalMemoryHostPropertiesEXT":         {unsafe.Sizeof(hostLimits{}), 24},
		"..TimelineSemaphoreFeatures":               {unsafe.Sizeof(timelineFeatures{}), 24},
		"VkPhysicalDeviceMemoryProperties":          {unsafe.Sizeof(memoryProperties{}), 520},
		"VkQueueFamilyProperties":                   {unsafe.Sizeof(queueFamily{}), 24},
		"VkPhysicalDeviceExternalBufferInfo":        {unsafe.Sizeof(externalBufferInfo{}), 32},
		"VkExternalBufferProperties":                {unsafe.Sizeof(externalBufferProperties{}), 32},
		"VkDeviceQueueCreateInfo":                   {unsafe.Sizeof(deviceQueueInfo{}), 40},
		"VkDeviceCreateInfo":                        {unsafe.Sizeof(deviceInfo{}), 72},
		"VkBufferCreateInfo":                        {unsafe.Sizeof(bufferInfo{}), 56},
		"VkExternalMemoryBufferCreateInfo":          {unsafe.Sizeof(externalBuffer{}), 24},
		"VkMemoryRequirements":                      {unsafe.Sizeof(memoryRequirements{}), 24},
		"VkMemoryAllocateInfo":                      {unsafe.Sizeof(allocateInfo{}), 32},
		"VkImportMemoryHostPointerInfoEXT":          {unsafe.Sizeof(importHost{}), 32},
		"VkMemoryHostPointerPropertiesEXT":          {unsafe.Sizeof(hostProperties{}), 24},
		"VkShaderModuleCreateInfo":                  {unsafe.Sizeof(shaderModule{}), 40},
		"VkDescriptorSetLayoutBinding":              {unsafe.Sizeof(setBinding{}), 24},
		"VkDescriptorSetLayoutCreateInfo":           {unsafe.Sizeof(setLayout{}), 32},
		"VkPushConstantRange":                       {unsafe.Sizeof(pushRange{}), 12},
		"VkPipelineLayoutCreateInfo":                {unsafe.Sizeof(pipelineLayout{}), 48},
		"VkPipelineShaderStageCreateInfo":           {unsafe.Sizeof(shaderStage{}), 48},
		"VkComputePipelineCreateInfo":               {unsafe.Sizeof(computePipeline{}), 96},
		"VkDescriptorPoolSize":                      {unsafe.Sizeof(poolSize{}), 8},
		"VkDescriptorPoolCreateInfo":                {unsafe.Sizeof(descriptorPool{}), 40},
		"VkDescriptorSetAllocateInfo":               {unsafe.Sizeof(descriptorAllocate{}), 40},
		"VkDescriptorBufferInfo":                    {unsafe.Sizeof(descriptorBuffer{}), 24},
		"VkWriteDescriptorSet":                      {unsafe.Sizeof(writeDescriptor{}), 64},
		"VkCommandPoolCreateInfo":                   {unsafe.Sizeof(commandPool{}), 24},
		"VkCommandBufferAllocateInfo":               {unsafe.Sizeof(commandAllocate{}), 32},
		"VkCommandBufferBeginInfo":                  {unsafe.Sizeof(commandBegin{}), 32},
		"VkMemoryBarrier":                           {unsafe.Sizeof(memoryBarrier{}), 24},
		"VkBufferCopy":                              {unsafe.Sizeof(copyRegion{}), 24},
		"VkSubmitInfo":                              {unsafe.Sizeof(submitInfo{}), 72},
		"VkTimelineSemaphoreSubmitInfo":             {unsafe.Sizeof(timelineSubmit{}), 48},
		"VkSemaphoreCreateInfo":                     {unsafe.Sizeof(semaphoreInfo{}), 24},
		"VkSemaphoreTypeCreateInfo":                 {unsafe.Sizeof(semaphoreType{}), 32},
		"VkSemaphoreWaitInfo":                       {unsafe.Sizeof(semaphoreWait{}), 40},
		"VkSemaphoreSignalInfo":                     {unsafe.Sizeof(semaphoreSignal{}), 32},
		"VkDebugUtilsMessengerCreateInfoEXT":        {unsafe.Sizeof(messengerInfo{}), 48},
		"VkDebugUtilsMessengerCallbackDataEXT":      {unsafe.Sizeof(messageData{}), 96},
		"VkDebugUtilsMessengerCallbackDataEXT.id":   {unsafe.Offsetof(messageData{}.id), 24},
		"VkDebugUtilsMessengerCallbackDataEXT.text": {unsafe.Offsetof(messageData{}.text), 40},
	} {
		require.Equal(t, int(c[1]), int(c[0]), name)
	}
}
