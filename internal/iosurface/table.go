package iosurface

// Ref is a reference to a CoreFoundation or IOSurface object. Zero is NULL.
type Ref uintptr

// numberSInt64 is kCFNumberSInt64Type of CFNumber.h.
const numberSInt64 = 4

// Table has the used functions of CoreFoundation and IOSurface. Functions named Create and
// Lookup return an object that the caller owns and releases by Release.
type Table struct {
	// CFMutableDictionaryRef CFDictionaryCreateMutable(CFAllocatorRef, CFIndex capacity,
	//     const CFDictionaryKeyCallBacks *, const CFDictionaryValueCallBacks *)
	DictionaryCreateMutable func(allocator Ref, capacity int, keys, values uintptr) Ref
	// void CFDictionarySetValue(CFMutableDictionaryRef, const void *key, const void *value);
	// the dictionary retains both.
	DictionarySetValue func(dictionary, key, value Ref)
	// CFNumberRef CFNumberCreate(CFAllocatorRef, CFNumberType, const void *valuePtr)
	NumberCreate func(allocator Ref, kind int, value *int64) Ref
	// void CFRelease(CFTypeRef); not for a zero reference.
	Release func(Ref)

	// IOSurfaceRef IOSurfaceCreate(CFDictionaryRef properties)
	Create func(properties Ref) Ref
	// IOSurfaceRef IOSurfaceLookup(IOSurfaceID)
	Lookup func(id uint32) Ref
	// kern_return_t IOSurfaceLock(IOSurfaceRef, IOSurfaceLockOptions, uint32_t *seed)
	Lock func(surface Ref, options uint32) int32
	// kern_return_t IOSurfaceUnlock(IOSurfaceRef, IOSurfaceLockOptions, uint32_t *seed)
	Unlock func(surface Ref, options uint32) int32
	// void *IOSurfaceGetBaseAddress(IOSurfaceRef)
	GetBaseAddress func(surface Ref) uintptr
	// size_t IOSurfaceGetAllocSize(IOSurfaceRef)
	GetAllocSize func(surface Ref) int
	// IOSurfaceID IOSurfaceGetID(IOSurfaceRef)
	GetID func(surface Ref) uint32

	// int32_t IOSurfaceGetUseCount(IOSurfaceRef), of this process. This and the next are nil if the libraries do not
	// have both.
	UseCount func(surface Ref) int32
	// Boolean IOSurfaceIsInUse(IOSurfaceRef), by any process
	InUse func(surface Ref) bool

	// CFStringRef constants kIOSurface*, owned by the library.
	Width, Height, BytesPerElement, BytesPerRow, AllocSize, PixelFormat Ref
	// Addresses of kCFTypeDictionaryKeyCallBacks and kCFTypeDictionaryValueCallBacks.
	KeyCallBacks, ValueCallBacks uintptr
}
