// The few functions of CoreFoundation and IOSurface that the bridge calls, for systems
// that have neither: prototypes as in Apple's headers, implemented by the stand-in.
#ifndef ANEB_IOSURFACE_GNUSTEP_H
#define ANEB_IOSURFACE_GNUSTEP_H

#include <stddef.h>
#include <stdint.h>

typedef const void *CFTypeRef;
typedef struct __IOSurface *IOSurfaceRef;

CFTypeRef CFRetain(CFTypeRef object);
void CFRelease(CFTypeRef object);
size_t IOSurfaceGetAllocSize(IOSurfaceRef surface);
void *IOSurfaceGetBaseAddress(IOSurfaceRef surface);
int32_t IOSurfaceLock(IOSurfaceRef surface, uint32_t options, uint32_t *seed);
int32_t IOSurfaceUnlock(IOSurfaceRef surface, uint32_t options, uint32_t *seed);

// glibc declares confstr, without this name. The linker takes the stand-in's.
#define _CS_DARWIN_USER_TEMP_DIR 65537

#endif
