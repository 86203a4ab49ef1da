// _ANEIOSurfaceObject.
#import "ane_surface.h"

@implementation StandinSurface

// The body of all initializers and factories. With retain NO it takes ownership of the caller's
// reference.
static id fill(StandinSurface *o, IOSurfaceRef surface, NSNumber *offset, BOOL retain) {
    if (!o) return nil;
    if (!surface) {
        [o release];
        return nil;
    }
    (void)standin_surface_locks(surface); // ends the process if it is not a surface
    if (retain) CFRetain(surface);
    o->surface = surface;
    o->offset = [offset retain];
    return o;
}

+ (id)objectWithIOSurface:(IOSurfaceRef)s {
    if (fault_enter(_cmd).kind == STANDIN_NIL) return nil;
    return [fill([self alloc], s, [NSNumber numberWithUnsignedInteger:0], YES) autorelease];
}

+ (id)objectWithIOSurface:(IOSurfaceRef)s startOffset:(NSNumber *)o {
    return [fill([self alloc], s, o, YES) autorelease];
}

+ (id)objectWithIOSurfaceNoRetain:(IOSurfaceRef)s startOffset:(NSNumber *)o {
    return [fill([self alloc], s, o, NO) autorelease];
}

- (id)initWithIOSurface:(IOSurfaceRef)s {
    return fill(self, s, nil, YES);
}

- (id)initWithIOSurface:(IOSurfaceRef)s startOffset:(NSNumber *)o shouldRetain:(BOOL)retain {
    return fill(self, s, o, retain);
}

- (IOSurfaceRef)ioSurface {
    return surface;
}

- (NSNumber *)startOffset {
    return offset;
}

static int set_number(CFMutableDictionaryRef properties, CFStringRef key, int64_t value) {
    CFNumberRef number = CFNumberCreate(NULL, 4, &value); // kCFNumberSInt64Type
    if (!number) return 0;
    CFDictionarySetValue(properties, key, number);
    CFRelease(number);
    return 1;
}

static IOSurfaceRef create(int width, int element, int height) {
    CFMutableDictionaryRef properties =
        CFDictionaryCreateMutable(NULL, 0, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
    if (!properties) return NULL;
    IOSurfaceRef made = NULL;
    if (set_number(properties, kIOSurfaceWidth, width) && set_number(properties, kIOSurfaceHeight, height) &&
        set_number(properties, kIOSurfaceBytesPerElement, element))
        made = IOSurfaceCreate(properties);
    CFRelease(properties);
    return made;
}

// The caller owns the result.
+ (IOSurfaceRef)createIOSurfaceWithWidth:(int)width pixel_size:(int)size height:(int)height {
    return create(width, size, height);
}

+ (IOSurfaceRef)createIOSurfaceWithWidth:(int)width pixel_size:(int)size height:(int)height bytesPerElement:(int)n {
    (void)size;
    return create(width, n, height);
}

- (void)dealloc {
    if (surface) CFRelease(surface);
    [offset release];
    [super dealloc];
}

@end
