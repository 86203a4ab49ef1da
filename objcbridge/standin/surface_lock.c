// Locks of IOSurfaces. They belong to the surface, whichever reference was given. They nest, and an unlock
// needs a lock with the same options. A lock that is still
// held when its surface is freed stays in standin_surface_stats.locks, which shows the missing unlock.
#include "cf.h"
#include "surface.h"

enum { READ_ONLY = 1 };

static void tell_seed(const struct object *o, uint32_t *seed) {
    if (seed) *seed = o->as.memory.seed;
}

kern_return_t IOSurfaceLock(IOSurfaceRef surface, IOSurfaceLockOptions options, uint32_t *seed) {
    const char *const me = "IOSurfaceLock";
    pthread_mutex_lock(&surface_mutex);
    struct object *o = surface_memory_locked(me, surface);
    kern_return_t r = 0;
    if (surface_fails_locked(me)) {
        r = kIOReturnCannotLock;
    } else if (options >= LOCK_OPTIONS) {
        r = kIOReturnBadArgument;
    } else {
        o->as.memory.locks[options]++;
        surface_stats.locks++;
        tell_seed(o, seed);
    }
    pthread_mutex_unlock(&surface_mutex);
    return r;
}

kern_return_t IOSurfaceUnlock(IOSurfaceRef surface, IOSurfaceLockOptions options, uint32_t *seed) {
    const char *const me = "IOSurfaceUnlock";
    pthread_mutex_lock(&surface_mutex);
    struct object *o = surface_memory_locked(me, surface);
    kern_return_t r = 0;
    if (surface_fails_locked(me)) {
        r = kIOReturnNoMemory;
    } else if (options >= LOCK_OPTIONS) {
        r = kIOReturnBadArgument;
    } else if (o->as.memory.locks[options] == 0) {
        r = kIOReturnNotPermitted;
    } else {
        o->as.memory.locks[options]--;
        surface_stats.locks--;
        if (!(options & READ_ONLY)) o->as.memory.seed++;
        tell_seed(o, seed);
    }
    pthread_mutex_unlock(&surface_mutex);
    return r;
}

int32_t standin_surface_locks(void *surface) {
    pthread_mutex_lock(&surface_mutex);
    struct object *o = surface_memory_locked("standin_surface_locks", surface);
    int32_t n = 0;
    for (int i = 0; i < LOCK_OPTIONS; i++) n += o->as.memory.locks[i];
    pthread_mutex_unlock(&surface_mutex);
    return n;
}
