// Making, finding and unmapping IOSurfaces.
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cf.h"
#include "surface.h"

enum {
    PAGE = 16384,   // of Apple silicon; mappings are whole pages
    ROW_ALIGN = 64, // of rows if the caller sets no length
    INDEX_BITS = 20,
};

// The widths of the system's fields are not published. These are the narrowest that are likely.
#define FIELD INT32_MAX
#define SIZE_FIELD UINT32_MAX

struct size {
    int64_t width, height, element, row, alloc;
};

// Reads a number of the properties: returns 1 if present, 0 if not, -1 if it is not a number above zero.
static int property(const struct object *properties, CFStringRef key, int64_t *value) {
    const struct object *o = surface_dictionary_get(properties, key);
    *value = 0;
    if (!o) return 0;
    if (o->kind != KIND_NUMBER || o->as.number <= 0) return -1;
    *value = o->as.number;
    return 1;
}

// Returns the bytes that the properties request: the larger of AllocSize and BytesPerRow times Height; 0
// if they are invalid.
static size_t wanted(const struct object *properties) {
    struct size s;
    if (property(properties, kIOSurfaceWidth, &s.width) < 0 || property(properties, kIOSurfaceHeight, &s.height) < 0 ||
        property(properties, kIOSurfaceBytesPerElement, &s.element) < 0 ||
        property(properties, kIOSurfaceBytesPerRow, &s.row) < 0 ||
        property(properties, kIOSurfaceAllocSize, &s.alloc) < 0)
        return 0;
    int64_t filled = 0, bytes = 0;
    if (s.width && __builtin_mul_overflow(s.width, s.element ? s.element : 1, &filled)) return 0;
    if (!s.row) {
        if (__builtin_add_overflow(filled, ROW_ALIGN - 1, &s.row)) return 0;
        s.row -= s.row % ROW_ALIGN;
    } else if (s.row < filled) {
        return 0;
    }
    if (__builtin_mul_overflow(s.row, s.height, &bytes)) return 0;
    if (s.alloc < bytes) s.alloc = bytes;
    if (s.width > FIELD || s.row > FIELD || s.height > FIELD || s.alloc > SIZE_FIELD) return 0;
    return (size_t)s.alloc;
}

// Reports whether the machine has that much memory.
static int possible(size_t size) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return size > 0 && pages > 0 && page > 0 && size / (size_t)page <= (size_t)pages;
}

static void *map(int fd, size_t size) {
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return base == MAP_FAILED ? NULL : base;
}

// The mapping outlives the descriptor.
static void *map_new(size_t size) {
    int fd = memfd_create("iosurface", MFD_CLOEXEC);
    if (fd < 0) return NULL;
    void *base = ftruncate(fd, (off_t)size) == 0 ? map(fd, size) : NULL;
    close(fd);
    return base;
}

// Returns a new reference object of a surface, or NULL.
static struct object *refer_locked(struct object *memory) {
    struct object *o = surface_new_locked(KIND_SURFACE);
    if (!o) return NULL;
    memory->count++;
    o->as.surface = memory;
    return o;
}

// Takes ownership of the mapping, which may be NULL.
static struct object *surface_over(void *base, size_t size, size_t mapped) {
    if (!base) return NULL;
    struct object *o = surface_new_locked(KIND_MEMORY);
    if (!o) {
        munmap(base, mapped);
        return NULL;
    }
    o->as.memory.base = base;
    o->as.memory.size = size;
    o->as.memory.mapped = mapped;
    o->as.memory.seed = 1;
    surface_stats.surfaces++;
    surface_stats.bytes += (int64_t)mapped;
    struct object *reference = refer_locked(o);
    surface_drop_locked(o); // the reference object holds it
    return reference;
}

IOSurfaceRef IOSurfaceCreate(CFDictionaryRef properties) {
    const char *const me = "IOSurfaceCreate";
    pthread_mutex_lock(&surface_mutex);
    struct object *made = NULL;
    size_t size = wanted(surface_object_locked(me, properties, KIND_DICTIONARY));
    if (!surface_fails_locked(me)) {
        if (possible(size)) {
            size_t mapped = (size + PAGE - 1) / PAGE * PAGE;
            made = surface_over(map_new(mapped), size, mapped);
        } else {
            surface_log(me, "impossible size");
        }
    }
    pthread_mutex_unlock(&surface_mutex);
    return (IOSurfaceRef)made;
}

void *standin_surface_adopt(int32_t fd, size_t size) {
    struct stat st;
    if (size == 0 || fstat(fd, &st) != 0 || st.st_size < 0 || (size_t)st.st_size < size) return NULL;
    pthread_mutex_lock(&surface_mutex);
    struct object *made = surface_over(map(fd, size), size, size);
    pthread_mutex_unlock(&surface_mutex);
    return made;
}

static IOSurfaceID id_of(const struct object *o) { return o->generation << INDEX_BITS | (surface_index(o) + 1); }

// The result is another object than every other reference to the surface.
IOSurfaceRef IOSurfaceLookup(IOSurfaceID id) {
    pthread_mutex_lock(&surface_mutex);
    uint32_t index = id & ((1u << INDEX_BITS) - 1);
    struct object *o = surface_fails_locked("IOSurfaceLookup") || index == 0 ? NULL : surface_slot(index - 1);
    if (o && (o->kind != KIND_MEMORY || id_of(o) != id)) o = NULL;
    if (o) o = refer_locked(o);
    pthread_mutex_unlock(&surface_mutex);
    return (IOSurfaceRef)o;
}

IOSurfaceID IOSurfaceGetID(IOSurfaceRef surface) {
    const char *const me = "IOSurfaceGetID";
    pthread_mutex_lock(&surface_mutex);
    struct object *o = surface_memory_locked(me, surface);
    IOSurfaceID id = surface_fails_locked(me) ? 0 : id_of(o);
    pthread_mutex_unlock(&surface_mutex);
    return id;
}

size_t IOSurfaceGetAllocSize(IOSurfaceRef surface) {
    const char *const me = "IOSurfaceGetAllocSize";
    pthread_mutex_lock(&surface_mutex);
    struct object *o = surface_memory_locked(me, surface);
    size_t size = surface_fails_locked(me) ? 0 : o->as.memory.size;
    pthread_mutex_unlock(&surface_mutex);
    return size;
}

// Also works for an unlocked surface: the address is fixed.
void *IOSurfaceGetBaseAddress(IOSurfaceRef surface) {
    const char *const me = "IOSurfaceGetBaseAddress";
    pthread_mutex_lock(&surface_mutex);
    struct object *o = surface_memory_locked(me, surface);
    void *base = surface_fails_locked(me) ? NULL : o->as.memory.base;
    pthread_mutex_unlock(&surface_mutex);
    return base;
}
