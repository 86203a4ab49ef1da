// Package iokit has the functions of IOKit that the client of the driver extension calls, as a table. Only filling the
// table depends on the machine; the other code runs with any library.
package iokit

// Table has the used functions of IOKit.framework. Numbers are names of mach ports, zero for MACH_PORT_NULL.
type Table struct {
	//	CFMutableDictionaryRef IOServiceNameMatching(const char *name)
	//	io_service_t IOServiceGetMatchingService(mach_port_t mainPort, CFDictionaryRef)
	// The second call consumes the dictionary. The caller releases the service by Release.
	Service func(name string) uint32
	// kern_return_t IOServiceOpen(io_service_t, task_port_t, uint32_t type, io_connect_t *)
	Open func(service uint32) (connect uint32, code int32)
	// kern_return_t IOServiceClose(io_connect_t)
	Close func(connect uint32) int32
	// kern_return_t IOObjectRelease(io_object_t)
	Release func(object uint32) int32
	//	kern_return_t IOConnectCallMethod(mach_port_t, uint32_t selector, const uint64_t *input, uint32_t inputCnt,
	//	    const void *inputStruct, size_t inputStructCnt, uint64_t *output, uint32_t *outputCnt, void *outputStruct,
	//	    size_t *outputStructCnt)
	// It returns how much of the two outputs the extension has written.
	Call func(connect, selector uint32, in []uint64, inBytes []byte, out []uint64, outBytes []byte) (n, bytes int,
		code int32)
	//	kern_return_t IOConnectMapMemory64(io_connect_t, uint32_t memoryType, task_port_t, mach_vm_address_t *,
	//	    mach_vm_size_t *, IOOptionBits)
	// The bytes are valid until Unmap.
	Map func(connect, kind uint32) (mem []byte, code int32)
	// kern_return_t IOConnectUnmapMemory64(io_connect_t, uint32_t memoryType, task_port_t, mach_vm_address_t)
	Unmap func(connect, kind uint32, mem []byte) int32
}
