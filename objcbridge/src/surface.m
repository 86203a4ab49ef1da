#import "internal.h"
#include <stdlib.h>

int32_t aneb_surface_wrap(aneb *a, void *iosurface, size_t offset, aneb_surface **out, aneb_error *error) {
    int32_t kind = aneb_usable(a, ANEB_SURFACE, error);
    if (kind != ANEB_OK) return kind;
    if (iosurface == NULL || out == NULL)
        return aneb_refuse(error, ANEB_SURFACE, ANEB_ARGUMENT, "aneb_surface_wrap: surface or out is NULL");
    *out = NULL;
    if (offset != 0)
        return aneb_refuse(error, ANEB_SURFACE, ANEB_OFFSET,
                           "start offset %zu: the engine reads a surface from byte 0; use a surface per tensor, or "
                           "slice in the program", offset);
    aneb_surface *s = calloc(1, sizeof *s);
    if (s == NULL) return aneb_refuse(error, ANEB_SURFACE, ANEB_ARGUMENT, "no memory for a surface handle");
    kind = aneb_guard(error, ANEB_SURFACE, ^int32_t {
        s->object = [[a->surface objectWithIOSurface:(IOSurfaceRef)iosurface] retain];
        if (s->object == nil)
            return aneb_fail(error, ANEB_SURFACE, ANEB_NIL, 0, "objectWithIOSurface: returned nil; usually the surface is gone");
        return ANEB_OK;
    });
    if (kind != ANEB_OK) {
        free(s);
        return kind;
    }
    s->owner = a;
    s->ref = (IOSurfaceRef)iosurface;
    CFRetain(s->ref);
    s->size = IOSurfaceGetAllocSize(s->ref);
    atomic_init(&s->base, IOSurfaceGetBaseAddress(s->ref));
    atomic_init(&s->refs, 1);
    atomic_fetch_add(&a->alive, 1);
    atomic_fetch_add(&aneb_process.surfaces, 1);
    *out = s;
    return ANEB_OK;
}

int32_t aneb_surface_unlock(aneb_surface *s, aneb_error *error) {
    if (s == NULL) return aneb_null(error, ANEB_SURFACE);
    return aneb_guard(error, ANEB_SURFACE, ^int32_t {
        int32_t code = IOSurfaceUnlock(s->ref, 0, NULL);
        if (code == 0) return ANEB_OK;
        return aneb_fail(error, ANEB_SURFACE, ANEB_NO, code, "IOSurfaceUnlock failed with 0x%x; usually the surface is not locked",
                         (unsigned)code);
    });
}

static int32_t lock(aneb_surface *s, aneb_error *e) {
    int32_t code = IOSurfaceLock(s->ref, 0, NULL);
    if (code != 0) return aneb_fail(e, ANEB_SURFACE, ANEB_NO, code, "IOSurfaceLock failed with 0x%x", (unsigned)code);
    void *now = IOSurfaceGetBaseAddress(s->ref);
    void *was = NULL; // the first lock of an unlocked surface returns the address
    if (atomic_compare_exchange_strong(&s->base, &was, now) || was == now) return ANEB_OK;
    IOSurfaceUnlock(s->ref, 0, NULL);
    return aneb_refuse(e, ANEB_SURFACE, ANEB_STATE, "the surface moved from %p to %p, so views of it are no longer valid", was, now);
}

int32_t aneb_surface_lock(aneb_surface *s, aneb_error *error) {
    if (s == NULL) return aneb_null(error, ANEB_SURFACE);
    return aneb_guard(error, ANEB_SURFACE, ^int32_t {
        return lock(s, error);
    });
}

void aneb_surface_drop(aneb_surface *s) {
    if (atomic_fetch_sub(&s->refs, 1) != 1) return;
    aneb_guard(NULL, ANEB_SURFACE, ^int32_t {
        [s->object release];
        return ANEB_OK;
    });
    CFRelease(s->ref);
    atomic_fetch_sub(&aneb_process.surfaces, 1);
    atomic_fetch_sub(&s->owner->alive, 1);
    free(s);
}

void aneb_surface_release(aneb_surface *s) {
    if (s != NULL) aneb_surface_drop(s);
}
