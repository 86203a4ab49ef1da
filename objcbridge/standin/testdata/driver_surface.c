// The C library: sizes, locks, lookup, counts, faults, threads, and calls that end the process.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

#include "driver.h"

static CFMutableDictionaryRef dictionary(void) {
    return CFDictionaryCreateMutable(NULL, 6, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
}

static void set(CFMutableDictionaryRef d, CFStringRef key, int64_t value) {
    CFNumberRef n = CFNumberCreate(NULL, 4, &value);
    CFDictionarySetValue(d, key, n);
    CFRelease(n);
}

// The size of a surface with these properties, or 0 if there is none.
static size_t size_of(int64_t width, int64_t height, int64_t element, int64_t row, int64_t alloc) {
    const CFStringRef keys[] = {kIOSurfaceWidth, kIOSurfaceHeight, kIOSurfaceBytesPerElement, kIOSurfaceBytesPerRow,
                                kIOSurfaceAllocSize};
    const int64_t values[] = {width, height, element, row, alloc};
    CFMutableDictionaryRef d = dictionary();
    for (int i = 0; i < 5; i++)
        if (values[i] != INT64_MIN) set(d, keys[i], values[i]);
    IOSurfaceRef s = IOSurfaceCreate(d);
    CFRelease(d);
    size_t size = s ? IOSurfaceGetAllocSize(s) : 0;
    if (s) CFRelease(s);
    return size;
}

enum { NONE = 0 };
#define ABSENT INT64_MIN

static void sizes(void) {
    CHECK("AllocSize alone", size_of(ABSENT, ABSENT, ABSENT, ABSENT, 20000) == 20000);
    CHECK("flat", size_of(16384, 1, 1, 16384, 16384) == 16384);
    CHECK("AllocSize above BytesPerRow * Height", size_of(32, 4, 2, 64, 4096) == 4096);
    CHECK("BytesPerRow * Height above AllocSize", size_of(32, 100, 2, 64, 4096) == 6400);
    CHECK("rows of their own choice are 64-byte aligned", size_of(3, 4, 2, ABSENT, ABSENT) == 256);
    CHECK("no size", size_of(ABSENT, ABSENT, ABSENT, ABSENT, ABSENT) == NONE);
    CHECK("zero", size_of(ABSENT, ABSENT, ABSENT, ABSENT, 0) == NONE);
    CHECK("negative", size_of(ABSENT, ABSENT, ABSENT, ABSENT, -1) == NONE);
    CHECK("negative height", size_of(64, -1, 1, 64, 64) == NONE);
    CHECK("row shorter than its elements", size_of(64, 1, 2, 64, 128) == NONE);
    CHECK("overflow", size_of(INT64_MAX / 2, 8, 1, ABSENT, ABSENT) == NONE);
    const int64_t two = INT64_C(1) << 31;
    CHECK("a width of 2 GiB", size_of(two, 1, 1, ABSENT, ABSENT) == NONE);
    CHECK("a row of 2 GiB", size_of(1, 1, 1, two, two) == NONE);
    CHECK("a height of 2^31", size_of(1, two, 1, 1, ABSENT) == NONE);
    CHECK("4 GiB", size_of(16384, INT64_C(1) << 18, 1, 16384, 2 * two) == NONE);
    CHECK("beyond memory", size_of(ABSENT, ABSENT, ABSENT, ABSENT, INT64_MAX) == NONE);
}

static void uses(void) {
    IOSurfaceRef s = surface_of(16384);
    CHECK("a reference is no use", IOSurfaceGetUseCount(s) == 0 && !IOSurfaceIsInUse(s));
    IOSurfaceLock(s, 0, NULL);
    CHECK("nor is a lock", !IOSurfaceIsInUse(s));
    IOSurfaceUnlock(s, 0, NULL);
    IOSurfaceIncrementUseCount(s);
    CHECK("a use counts", IOSurfaceGetUseCount(s) == 1 && IOSurfaceIsInUse(s));
    IOSurfaceDecrementUseCount(s);
    CHECK("and ends", IOSurfaceGetUseCount(s) == 0 && !IOSurfaceIsInUse(s));
    CFRelease(s);
}

static void locks(void) {
    IOSurfaceRef s = surface_of(16384);
    uint32_t before = 0, after = 0;
    CHECK("unlock without lock fails", IOSurfaceUnlock(s, 0, NULL) != 0);
    CHECK("lock", IOSurfaceLock(s, 0, &before) == 0);
    CHECK("locks nest", IOSurfaceLock(s, 0, NULL) == 0 && standin_surface_locks(s) == 2);
    CHECK("unlock with other options fails", IOSurfaceUnlock(s, 1, NULL) != 0 && standin_surface_locks(s) == 2);
    CHECK("unlock twice", IOSurfaceUnlock(s, 0, NULL) == 0 && IOSurfaceUnlock(s, 0, &after) == 0);
    CHECK("a write raises the seed", after == before + 2);
    CHECK("read-only lock", IOSurfaceLock(s, 1, &before) == 0 && IOSurfaceUnlock(s, 1, &after) == 0 && before == after);
    CHECK("unknown options", IOSurfaceLock(s, 8, NULL) != 0);
    CHECK("address of an unlocked surface", IOSurfaceGetBaseAddress(s) != NULL);
    CFRelease(s);
}

static void lookup(void) {
    IOSurfaceRef s = surface_of(16384);
    uint32_t id = IOSurfaceGetID(s), seed = 0;
    IOSurfaceRef found = IOSurfaceLookup(id), again = IOSurfaceLookup(id);
    CHECK("each lookup makes a reference object", id != 0 && found != s && again != s && again != found);
    CHECK("of the same id", IOSurfaceGetID(found) == id && IOSurfaceGetID(again) == id);
    CHECK("at the same address", IOSurfaceGetBaseAddress(found) == IOSurfaceGetBaseAddress(s));
    CHECK("locks are the surface's", IOSurfaceLock(s, 0, NULL) == 0 && standin_surface_locks(found) == 1);
    CHECK("any reference unlocks it", IOSurfaceUnlock(again, 0, &seed) == 0 && standin_surface_locks(s) == 0);
    standin_surface_stats c;
    standin_surface_count(&c);
    CHECK("one surface, three objects", c.surfaces == 1 && c.objects == 3);
    CFRelease(s);
    CFRelease(again);
    CHECK("a reference object keeps the surface", IOSurfaceGetAllocSize(found) == 16384);
    IOSurfaceRef last = IOSurfaceLookup(id);
    CHECK("the surface is found without the first one", last && IOSurfaceGetID(last) == id);
    CFRelease(found);
    CFRelease(last);
    CHECK("no lookup of a freed surface", IOSurfaceLookup(id) == NULL);
    CHECK("no lookup of 0", IOSurfaceLookup(0) == NULL);
    CHECK("no lookup of an unknown id", IOSurfaceLookup(0xffffffff) == NULL);
}

static void adoption(void) {
    int fd = memfd_create("driver", 0);
    CHECK("file", fd >= 0 && ftruncate(fd, 16384) == 0);
    CHECK("too large for its file", standin_surface_adopt(fd, 16385) == NULL);
    CHECK("no file", standin_surface_adopt(-1, 64) == NULL && standin_surface_adopt(fd, 0) == NULL);
    char *other = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    IOSurfaceRef s = standin_surface_adopt(fd, 16384);
    strcpy(IOSurfaceGetBaseAddress(s), "shared");
    CHECK("adopted memory is shared", !strcmp(other, "shared") && other != IOSurfaceGetBaseAddress(s));
    CFRelease(s);
    CHECK("the file stays the caller's", close(fd) == 0);
    munmap(other, 16384);
}

static void faults(void) {
    const char *const names[] = {"CFDictionaryCreateMutable", "CFNumberCreate", "IOSurfaceCreate"};
    for (int i = 0; i < 3; i++) {
        standin_surface_fail(names[i], 1);
        CHECK(names[i], surface_of(64) == NULL);
        IOSurfaceRef s = surface_of(64);
        CHECK("fails once", s != NULL);
        if (s) CFRelease(s);
    }
    IOSurfaceRef s = surface_of(64);
    standin_surface_fail("IOSurfaceLookup", 1);
    CHECK("IOSurfaceLookup", IOSurfaceLookup(IOSurfaceGetID(s)) == NULL);
    standin_surface_fail("IOSurfaceLock", 2);
    CHECK("the second IOSurfaceLock", IOSurfaceLock(s, 0, NULL) == 0 && IOSurfaceLock(s, 0, NULL) != 0);
    standin_surface_fail("IOSurfaceUnlock", 1);
    CHECK("IOSurfaceUnlock", IOSurfaceUnlock(s, 0, NULL) != 0 && standin_surface_locks(s) == 1);
    IOSurfaceUnlock(s, 0, NULL);
    standin_surface_fail("IOSurfaceGetBaseAddress", 1);
    CHECK("IOSurfaceGetBaseAddress", !IOSurfaceGetBaseAddress(s) && IOSurfaceGetBaseAddress(s));
    standin_surface_fail("IOSurfaceGetAllocSize", 1);
    CHECK("IOSurfaceGetAllocSize", !IOSurfaceGetAllocSize(s) && IOSurfaceGetAllocSize(s));
    standin_surface_fail("IOSurfaceGetID", 1);
    CHECK("IOSurfaceGetID", !IOSurfaceGetID(s) && IOSurfaceGetID(s));
    standin_surface_fail("IOSurfaceGetID", 1);
    standin_surface_fail("IOSurfaceGetID", 0);
    CHECK("a fault is disarmed", IOSurfaceGetID(s) != 0);
    CFRelease(s);
}

// In a child process, because the lock is never released.
static void lock_left(void) {
    IOSurfaceRef s = surface_of(64);
    IOSurfaceLock(s, 0, NULL);
    CFRelease(s);
    standin_surface_stats c;
    standin_surface_count(&c);
    _exit(c.locks == 1 && c.objects == 0 ? 0 : 1);
}

static void *churn(void *unused) {
    (void)unused;
    for (int i = 0; i < 2000; i++) {
        IOSurfaceRef s = surface_of(64);
        IOSurfaceLock(s, 0, NULL);
        IOSurfaceRef same = IOSurfaceLookup(IOSurfaceGetID(s));
        ((char *)IOSurfaceGetBaseAddress(same))[63] = 1;
        CFRelease(same);
        IOSurfaceUnlock(s, 0, NULL);
        CFRelease(s);
    }
    return NULL;
}

static void threads(void) {
    pthread_t t[8];
    for (int i = 0; i < 8; i++) pthread_create(&t[i], NULL, churn, NULL);
    for (int i = 0; i < 8; i++) pthread_join(t[i], NULL);
}

static void over_release(void) {
    IOSurfaceRef s = surface_of(64);
    CFRelease(s);
    CFRelease(s);
}

static void use_after_free(void) {
    IOSurfaceRef s = surface_of(64);
    CFRelease(s);
    IOSurfaceGetBaseAddress(s);
}

static void release_null(void) { CFRelease(NULL); }
static void release_stack(void) {
    int x;
    CFRelease(&x);
}
static void key_by_address(void) { CFDictionarySetValue(dictionary(), &kIOSurfaceWidth, surface_of(64)); }
static void inside_object(void) { CFRelease((char *)surface_of(64) + 8); }
static void number_for_dictionary(void) {
    int64_t one = 1;
    IOSurfaceCreate((CFDictionaryRef)CFNumberCreate(NULL, 4, &one));
}
static void surface_for_dictionary(void) {
    CFDictionarySetValue((CFMutableDictionaryRef)surface_of(64), kIOSurfaceWidth, surface_of(64));
}
static void dictionary_for_surface(void) { IOSurfaceLock((IOSurfaceRef)dictionary(), 0, NULL); }
static void callbacks_by_value(void) {
    CFDictionaryCreateMutable(NULL, 0, *(const CFDictionaryKeyCallBacks *const *)&kCFTypeDictionaryKeyCallBacks,
                              &kCFTypeDictionaryValueCallBacks);
}
static void callbacks_swapped(void) {
    CFDictionaryCreateMutable(NULL, 0, (const CFDictionaryKeyCallBacks *)&kCFTypeDictionaryValueCallBacks,
                              (const CFDictionaryValueCallBacks *)&kCFTypeDictionaryKeyCallBacks);
}
static void callbacks_as_object(void) { CFRelease(&kCFTypeDictionaryKeyCallBacks); }
static void unknown_fault(void) { standin_surface_fail("IOSurfaceFly", 1); }
static void bad_number_type(void) {
    int64_t one = 1;
    CFNumberCreate(NULL, 99, &one);
}

static void deaths(void) {
    CHECK("over-release aborts", aborts(over_release, "CFRelease"));
    CHECK("use after free aborts", aborts(use_after_free, "IOSurfaceGetBaseAddress"));
    CHECK("CFRelease(NULL) aborts", aborts(release_null, "CFRelease"));
    CHECK("no object aborts", aborts(release_stack, "not an object"));
    CHECK("address of a constant's variable aborts", aborts(key_by_address, "address of kIOSurfaceWidth"));
    CHECK("pointer into an object aborts", aborts(inside_object, "not an object"));
    CHECK("number for a dictionary aborts", aborts(number_for_dictionary, "CFNumber where a CFDictionary is meant"));
    CHECK("surface for a dictionary aborts", aborts(surface_for_dictionary, "IOSurface where a CFDictionary is meant"));
    CHECK("dictionary for a surface aborts", aborts(dictionary_for_surface, "IOSurfaceLock"));
    CHECK("callbacks by value abort", aborts(callbacks_by_value, "kCFTypeDictionaryKeyCallBacks"));
    CHECK("callbacks swapped abort", aborts(callbacks_swapped, "kCFTypeDictionaryKeyCallBacks"));
    CHECK("callbacks as an object abort", aborts(callbacks_as_object, "callbacks"));
    CHECK("an unknown function aborts", aborts(unknown_fault, "IOSurfaceFly"));
    char text[256];
    CHECK("a lock that was never released is counted", in_child(lock_left, text, sizeof text) == 0);
    CHECK("an unknown number type aborts", aborts(bad_number_type, "CFNumberType"));
}

int main(void) {
    sizes();
    locks();
    uses();
    lookup();
    adoption();
    faults();
    threads();
    deaths();
    standin_surface_stats s;
    standin_surface_count(&s);
    CHECK("nothing is left", s.objects == 0 && s.surfaces == 0 && s.locks == 0 && s.bytes == 0);
    return driver_failures != 0;
}
