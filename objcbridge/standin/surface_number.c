// CFNumber.
#include <string.h>

#include "cf.h"
#include "surface.h"

#define READ(type)                     \
    {                                  \
        type v;                        \
        memcpy(&v, pointer, sizeof v); \
        *value = (int64_t)v;           \
        return 1;                      \
    }

// Reads the value of a CFNumberType of <CoreFoundation/CFNumber.h>; returns 0 for an unknown type.
static int read_number(CFNumberType type, const void *pointer, int64_t *value) {
    switch (type) {
    case 1: // kCFNumberSInt8Type
    case 7: // kCFNumberCharType
        READ(int8_t)
    case 2: // kCFNumberSInt16Type
    case 8: // kCFNumberShortType
        READ(int16_t)
    case 3: // kCFNumberSInt32Type
    case 9: // kCFNumberIntType
        READ(int32_t)
    case 4:  // kCFNumberSInt64Type
    case 10: // kCFNumberLongType
    case 11: // kCFNumberLongLongType
    case 14: // kCFNumberCFIndexType
    case 15: // kCFNumberNSIntegerType
        READ(int64_t)
    case 5:  // kCFNumberFloat32Type
    case 12: // kCFNumberFloatType
        READ(float)
    case 6:  // kCFNumberFloat64Type
    case 13: // kCFNumberDoubleType
    case 16: // kCFNumberCGFloatType
        READ(double)
    }
    return 0;
}

CFNumberRef CFNumberCreate(CFAllocatorRef allocator, CFNumberType type, const void *pointer) {
    const char *const me = "CFNumberCreate";
    if (allocator) surface_die(me, allocator, "no such allocator; NULL is the default one");
    if (!pointer) surface_die(me, pointer, "no value is pointed to");
    int64_t value = 0;
    if (!read_number(type, pointer, &value)) surface_die(me, (const void *)type, "no such CFNumberType");
    pthread_mutex_lock(&surface_mutex);
    struct object *o = surface_fails_locked(me) ? NULL : surface_new_locked(KIND_NUMBER);
    if (o) o->as.number = value;
    pthread_mutex_unlock(&surface_mutex);
    return (CFNumberRef)o;
}
