// Calls that are made to fail.
#include <string.h>

#include "surface.h"

static struct {
    const char *name;
    int32_t coming; // counts down; the call fails at 0
} faults[] = {
    {"CFDictionaryCreateMutable", 0}, {"CFNumberCreate", 0},        {"IOSurfaceCreate", 0},
    {"IOSurfaceLookup", 0},           {"IOSurfaceLock", 0},         {"IOSurfaceUnlock", 0},
    {"IOSurfaceGetBaseAddress", 0},   {"IOSurfaceGetAllocSize", 0}, {"IOSurfaceGetID", 0},
};

enum { FAULTS = sizeof faults / sizeof faults[0] };

int surface_fails_locked(const char *function) {
    for (int i = 0; i < FAULTS; i++)
        if (!strcmp(faults[i].name, function)) return faults[i].coming > 0 && --faults[i].coming == 0;
    return 0;
}

void standin_surface_fail(const char *function, int32_t nth) {
    if (!function) surface_die("standin_surface_fail", function, "no function is named");
    pthread_mutex_lock(&surface_mutex);
    int known = 0;
    for (int i = 0; i < FAULTS; i++) {
        if (strcmp(faults[i].name, function)) continue;
        faults[i].coming = nth;
        known = 1;
    }
    pthread_mutex_unlock(&surface_mutex);
    if (!known) surface_die("standin_surface_fail", function, function);
}
