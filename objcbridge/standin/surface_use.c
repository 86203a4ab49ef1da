// Use counts of IOSurfaces, which are marks for pools of surfaces: neither a reference nor a lock is a use. Whether
// Apple's driver marks the surfaces of a request is not known, so the stand-in's framework marks none.
#include "cf.h"
#include "surface.h"

static int32_t count(const char *me, IOSurfaceRef surface, int32_t change) {
    pthread_mutex_lock(&surface_mutex);
    struct object *o = surface_memory_locked(me, surface);
    int32_t n = o->as.memory.uses + change;
    if (n < 0) surface_die(me, surface, "it has no use to end");
    o->as.memory.uses = n;
    pthread_mutex_unlock(&surface_mutex);
    return n;
}

void IOSurfaceIncrementUseCount(IOSurfaceRef surface) { count("IOSurfaceIncrementUseCount", surface, 1); }
void IOSurfaceDecrementUseCount(IOSurfaceRef surface) { count("IOSurfaceDecrementUseCount", surface, -1); }
int32_t IOSurfaceGetUseCount(IOSurfaceRef surface) { return count("IOSurfaceGetUseCount", surface, 0); }
Boolean IOSurfaceIsInUse(IOSurfaceRef surface) { return count("IOSurfaceIsInUse", surface, 0) > 0; }
