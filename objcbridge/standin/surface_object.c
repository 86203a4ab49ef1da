// Slots, reference counts, and checks of pointers.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cf.h"
#include "surface.h"

enum {
    SLOT_COUNT = (1 << 20) - 1, // a surface's id is its index plus one in 20 bits, and 12 bits of generation
    REST = 4096,                // number of free slots before the first of them is used again
};

pthread_mutex_t surface_mutex = PTHREAD_MUTEX_INITIALIZER;
standin_surface_stats surface_stats;

static struct {
    struct object *slots;
    uint32_t used;               // number of slots ever used
    struct object *first, *last; // queue of freed slots
    uint32_t resting;            // its length
} arena;

static const char *const kind_names[] = {"nothing", "CFString", "CFNumber", "CFDictionary", "IOSurface", "memory"};

_Noreturn void surface_die(const char *function, const void *pointer, const char *why) {
    fprintf(stderr, "standin: %s(%p): %s\n", function, pointer, why);
    abort();
}

void surface_log(const char *function, const char *why) {
    if (getenv("STANDIN_LOG")) fprintf(stderr, "standin: %s: %s\n", function, why);
}

struct object *surface_slot(uint32_t index) { return index < arena.used ? &arena.slots[index] : NULL; }

uint32_t surface_index(const struct object *o) { return (uint32_t)(o - arena.slots); }

// Reports what is wrong with a pointer that is not an object, without dereferencing it.
static _Noreturn void die_of_stranger(const char *function, const void *pointer) {
    char text[160];
    const char *constant = surface_near_constant(pointer);
    if (constant) {
        snprintf(text, sizeof text, "the address of %s is given where its value is meant", constant);
        surface_die(function, pointer, text);
    }
    if (pointer == &kCFTypeDictionaryKeyCallBacks || pointer == &kCFTypeDictionaryValueCallBacks)
        surface_die(function, pointer, "callbacks of a dictionary are no object");
    surface_die(function, pointer, pointer ? "not an object of CoreFoundation or IOSurface" : "NULL");
}

struct object *surface_object_locked(const char *function, const void *pointer, enum kind kind) {
    struct object *o = surface_constant(pointer);
    if (!o) {
        uintptr_t start = (uintptr_t)arena.slots, at = (uintptr_t)pointer;
        if (!start || at < start || at >= start + arena.used * sizeof *o || (at - start) % sizeof *o)
            die_of_stranger(function, pointer);
        o = &arena.slots[(at - start) / sizeof *o];
    }
    char text[120];
    if (o->magic == MAGIC_DEAD) {
        snprintf(text, sizeof text, "this %s was freed before", kind_names[o->was]);
        surface_die(function, pointer, text);
    }
    if (kind != KIND_FREE && o->kind != kind) {
        snprintf(text, sizeof text, "%s where a %s is meant", kind_names[o->kind], kind_names[kind]);
        surface_die(function, pointer, text);
    }
    return o;
}

struct object *surface_memory_locked(const char *function, const void *reference) {
    return surface_object_locked(function, reference, KIND_SURFACE)->as.surface;
}

static struct object *take_slot(void) {
    if (!arena.slots) {
        void *p = mmap(NULL, SLOT_COUNT * sizeof *arena.slots, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) return NULL;
        arena.slots = p;
    }
    if (arena.resting <= REST && arena.used < SLOT_COUNT) return &arena.slots[arena.used++];
    struct object *o = arena.first;
    if (!o) return NULL;
    arena.first = o->next;
    if (!arena.first) arena.last = NULL;
    arena.resting--;
    return o;
}

struct object *surface_new_locked(enum kind kind) {
    struct object *o = take_slot();
    if (!o) return NULL;
    uint32_t generation = o->generation + 1;
    memset(o, 0, sizeof *o);
    o->magic = MAGIC_LIVE;
    o->kind = kind;
    o->generation = generation;
    o->count = 1;
    if (kind != KIND_MEMORY) surface_stats.objects++;
    return o;
}

void surface_retain_locked(struct object *o) {
    surface_stats.retains++;
    if (o->kind != KIND_STRING) o->count++;
}

static void free_locked(struct object *o);

static void unmap(const struct object *o) {
    munmap(o->as.memory.base, o->as.memory.mapped);
    surface_stats.surfaces--;
    surface_stats.bytes -= (int64_t)o->as.memory.mapped;
}

void surface_drop_locked(struct object *o) {
    if (--o->count == 0) free_locked(o);
}

static void free_locked(struct object *o) {
    if (o->kind == KIND_SURFACE) surface_drop_locked(o->as.surface);
    if (o->kind == KIND_MEMORY) unmap(o);
    if (o->kind == KIND_DICTIONARY) {
        for (size_t i = 0; i < o->as.dictionary.used; i++) {
            surface_release_locked(o->as.dictionary.pairs[i].key);
            surface_release_locked(o->as.dictionary.pairs[i].value);
        }
        free(o->as.dictionary.pairs);
    }
    uint32_t was = o->kind, generation = o->generation;
    memset(o, 0xdd, sizeof *o);
    o->magic = MAGIC_DEAD;
    o->kind = KIND_FREE;
    o->was = was;
    o->generation = generation;
    o->next = NULL;
    if (arena.last)
        arena.last->next = o;
    else
        arena.first = o;
    arena.last = o;
    arena.resting++;
    if (was != KIND_MEMORY) surface_stats.objects--;
}

void surface_release_locked(struct object *o) {
    surface_stats.releases++;
    if (o->kind == KIND_STRING) return; // constants are not counted
    surface_drop_locked(o);
}

CFTypeRef CFRetain(CFTypeRef cf) {
    pthread_mutex_lock(&surface_mutex);
    surface_retain_locked(surface_object_locked("CFRetain", cf, KIND_FREE));
    pthread_mutex_unlock(&surface_mutex);
    return cf;
}

void CFRelease(CFTypeRef cf) {
    pthread_mutex_lock(&surface_mutex);
    surface_release_locked(surface_object_locked("CFRelease", cf, KIND_FREE));
    pthread_mutex_unlock(&surface_mutex);
}

void standin_surface_count(standin_surface_stats *out) {
    pthread_mutex_lock(&surface_mutex);
    *out = surface_stats;
    pthread_mutex_unlock(&surface_mutex);
}
