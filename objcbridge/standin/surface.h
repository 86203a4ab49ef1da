// Declarations shared by the files of libstandinsurface. Nothing here is exported.
//
// Every object is in a slot of one reserved range of addresses. A slot is used again only after many
// others, and a freed one stays marked, so any pointer can be checked without dereferencing it. One
// mutex guards everything; functions ending in _locked are called with it held.
//
// An IOSurfaceRef is a reference object of its own: each lookup makes another one. Address, id, locks and
// seed belong to the surface, which lives as long as one of its reference objects.
#ifndef STANDIN_SURFACE_H
#define STANDIN_SURFACE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "standin.h"

enum kind { KIND_FREE = 0, KIND_STRING, KIND_NUMBER, KIND_DICTIONARY, KIND_SURFACE, KIND_MEMORY };

enum { MAGIC_LIVE = 0x53464c56, MAGIC_DEAD = 0x53464444 };

enum { LOCK_OPTIONS = 4 }; // kIOSurfaceLockReadOnly 1 and kIOSurfaceLockAvoidSync 2, in any mix

struct object;

struct pair {
    struct object *key, *value;
};

struct object {
    uint32_t magic; // MAGIC_LIVE or MAGIC_DEAD
    uint32_t kind;
    uint32_t was;        // kind before it was freed
    uint32_t generation; // number of uses of the slot
    int64_t count;       // references
    struct object *next; // in the queue of free slots
    union {
        const char *string;
        int64_t number;
        struct {
            struct pair *pairs;
            size_t used, capacity;
        } dictionary;
        struct object *surface; // KIND_SURFACE, a reference object: the KIND_MEMORY that it holds
        struct {
            void *base;
            size_t size, mapped;
            int32_t locks[LOCK_OPTIONS];
            uint32_t seed;
            int32_t uses;
        } memory; // never given to a caller, so not counted as an object
    } as;
};

// Results of <IOKit/IOReturn.h>.
enum {
    kIOReturnNoMemory = (int32_t)0xe00002bd,
    kIOReturnBadArgument = (int32_t)0xe00002c2,
    kIOReturnCannotLock = (int32_t)0xe00002cc,
    kIOReturnNotPermitted = (int32_t)0xe00002e2,
};

#pragma GCC visibility push(hidden)

extern pthread_mutex_t surface_mutex;
extern standin_surface_stats surface_stats;

// Ends the process: the caller broke a rule and would corrupt memory on Apple's side too.
_Noreturn void surface_die(const char *function, const void *pointer, const char *why);
void surface_log(const char *function, const char *why); // only where STANDIN_LOG is set

// Returns the object at pointer, which must be alive and of this kind; otherwise ends the process.
// KIND_FREE accepts any kind.
struct object *surface_object_locked(const char *function, const void *pointer, enum kind kind);
// Returns the surface of a reference object, which is checked as above.
struct object *surface_memory_locked(const char *function, const void *reference);
// Returns a new object with one reference, or NULL if all slots are used.
struct object *surface_new_locked(enum kind kind);
void surface_retain_locked(struct object *o);
void surface_release_locked(struct object *o);
void surface_drop_locked(struct object *o); // surface_release_locked without counting it in the statistics
struct object *surface_slot(uint32_t index); // any slot ever used, or NULL
uint32_t surface_index(const struct object *o);

// Distinguishes a constant string from a wrong pointer to one; surface_string.c.
struct object *surface_constant(const void *pointer);
const char *surface_near_constant(const void *pointer); // name of the variable at that address, or NULL

const struct object *surface_dictionary_get(const struct object *dictionary, const void *key);

// Reports whether this call of the function must fail; surface_fault.c.
int surface_fails_locked(const char *function);

#pragma GCC visibility pop

#endif
