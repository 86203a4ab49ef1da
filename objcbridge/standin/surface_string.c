// The string constants of IOSurface: variables that hold a CFStringRef each.
#include "cf.h"
#include "surface.h"

enum { STRINGS = 6 };

#define STRING(text) {.magic = MAGIC_LIVE, .kind = KIND_STRING, .count = 1, .as.string = text}

static struct object strings[STRINGS] = {
    STRING("IOSurfaceWidth"),       STRING("IOSurfaceHeight"),    STRING("IOSurfaceBytesPerElement"),
    STRING("IOSurfaceBytesPerRow"), STRING("IOSurfaceAllocSize"), STRING("IOSurfacePixelFormat"),
};

const CFStringRef kIOSurfaceWidth = (CFStringRef)&strings[0];
const CFStringRef kIOSurfaceHeight = (CFStringRef)&strings[1];
const CFStringRef kIOSurfaceBytesPerElement = (CFStringRef)&strings[2];
const CFStringRef kIOSurfaceBytesPerRow = (CFStringRef)&strings[3];
const CFStringRef kIOSurfaceAllocSize = (CFStringRef)&strings[4];
const CFStringRef kIOSurfacePixelFormat = (CFStringRef)&strings[5];

static const struct {
    const CFStringRef *variable;
    const char *name;
} variables[STRINGS] = {
    {&kIOSurfaceWidth, "kIOSurfaceWidth"},
    {&kIOSurfaceHeight, "kIOSurfaceHeight"},
    {&kIOSurfaceBytesPerElement, "kIOSurfaceBytesPerElement"},
    {&kIOSurfaceBytesPerRow, "kIOSurfaceBytesPerRow"},
    {&kIOSurfaceAllocSize, "kIOSurfaceAllocSize"},
    {&kIOSurfacePixelFormat, "kIOSurfacePixelFormat"},
};

struct object *surface_constant(const void *pointer) {
    for (int i = 0; i < STRINGS; i++)
        if (pointer == &strings[i]) return &strings[i];
    return NULL;
}

const char *surface_near_constant(const void *pointer) {
    for (int i = 0; i < STRINGS; i++)
        if (pointer == variables[i].variable) return variables[i].name;
    return NULL;
}
