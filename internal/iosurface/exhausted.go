package iosurface

import "slices"

// scarce has the codes of a lock that failed for lack of memory.
var scarce = []uint32{
	3,          // KERN_NO_SPACE of mach/kern_return.h
	6,          // KERN_RESOURCE_SHORTAGE
	0xe00002bd, // kIOReturnNoMemory of IOKit/IOReturn.h
	0xe00002be, // kIOReturnNoResources
	0xe00002c8, // kIOReturnVMError
	0xe00002db, // kIOReturnNoSpace
	0xe00002de, // kIOReturnCannotWire
}

// Exhausted reports whether the system lacked memory. Functions that return no object or no
// address give no reason; with valid arguments the likely one is lack of memory.
func (e *Error) Exhausted() bool {
	switch e.Call {
	case "CFDictionaryCreateMutable", "CFNumberCreate", "IOSurfaceCreate", "IOSurfaceGetBaseAddress":
		return true
	case "IOSurfaceLock":
		return slices.Contains(scarce, uint32(e.Code))
	}
	return false
}

// Missing reports whether no surface has the id.
func (e *Error) Missing() bool { return e.Call == "IOSurfaceLookup" }
