// CFMutableDictionary with the callbacks for CoreFoundation objects. Other callbacks, including NULL,
// are legal on Apple's side but end the process here: nothing in this project uses them.
#include <stdlib.h>

#include "cf.h"
#include "surface.h"

static const void *retain(CFAllocatorRef allocator, const void *value) {
    (void)allocator;
    return CFRetain(value);
}

static void release(CFAllocatorRef allocator, const void *value) {
    (void)allocator;
    CFRelease(value);
}

static Boolean equal(const void *a, const void *b) { return a == b; }

static CFHashCode hash(const void *value) { return (CFHashCode)value; }

const CFDictionaryKeyCallBacks kCFTypeDictionaryKeyCallBacks = {0, retain, release, NULL, equal, hash};
const CFDictionaryValueCallBacks kCFTypeDictionaryValueCallBacks = {0, retain, release, NULL, equal};

CFMutableDictionaryRef CFDictionaryCreateMutable(CFAllocatorRef allocator, CFIndex capacity,
                                                 const CFDictionaryKeyCallBacks *keys,
                                                 const CFDictionaryValueCallBacks *values) {
    const char *const me = "CFDictionaryCreateMutable";
    if (allocator) surface_die(me, allocator, "no such allocator; NULL is the default one");
    if (capacity < 0) surface_die(me, (const void *)capacity, "a negative capacity");
    if (keys != &kCFTypeDictionaryKeyCallBacks)
        surface_die(me, keys, "not the address of kCFTypeDictionaryKeyCallBacks");
    if (values != &kCFTypeDictionaryValueCallBacks)
        surface_die(me, values, "not the address of kCFTypeDictionaryValueCallBacks");
    pthread_mutex_lock(&surface_mutex);
    struct object *o = surface_fails_locked(me) ? NULL : surface_new_locked(KIND_DICTIONARY);
    pthread_mutex_unlock(&surface_mutex);
    return (CFMutableDictionaryRef)o;
}

static struct pair *find(const struct object *dictionary, const void *key) {
    for (size_t i = 0; i < dictionary->as.dictionary.used; i++)
        if (dictionary->as.dictionary.pairs[i].key == key) return &dictionary->as.dictionary.pairs[i];
    return NULL;
}

const struct object *surface_dictionary_get(const struct object *dictionary, const void *key) {
    const struct pair *p = find(dictionary, key);
    return p ? p->value : NULL;
}

static struct pair *append(struct object *dictionary) {
    size_t used = dictionary->as.dictionary.used, capacity = dictionary->as.dictionary.capacity;
    if (used == capacity) {
        capacity = capacity ? 2 * capacity : 8;
        struct pair *grown = realloc(dictionary->as.dictionary.pairs, capacity * sizeof *grown);
        if (!grown) surface_die("CFDictionarySetValue", dictionary, "out of memory");
        dictionary->as.dictionary.pairs = grown;
        dictionary->as.dictionary.capacity = capacity;
    }
    return &dictionary->as.dictionary.pairs[dictionary->as.dictionary.used++];
}

void CFDictionarySetValue(CFMutableDictionaryRef dictionary, const void *key, const void *value) {
    const char *const me = "CFDictionarySetValue";
    pthread_mutex_lock(&surface_mutex);
    struct object *d = surface_object_locked(me, dictionary, KIND_DICTIONARY);
    struct object *k = surface_object_locked(me, key, KIND_FREE);
    struct object *v = surface_object_locked(me, value, KIND_FREE);
    surface_retain_locked(v);
    struct pair *p = find(d, k);
    if (p) {
        surface_release_locked(p->value);
    } else {
        surface_retain_locked(k);
        p = append(d);
        p->key = k;
    }
    p->value = v;
    pthread_mutex_unlock(&surface_mutex);
}
