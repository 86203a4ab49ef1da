#import "internal.h"
#include <stdlib.h>
#include <string.h>

enum { patience = 30 * 1000 };

static uint64_t hash(const unsigned char *bytes, size_t size) { // FNV-1a
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++) h = (h ^ bytes[i]) * 0x100000001b3u;
    return h;
}

// The bridge removes this directory later, so it must be the known result of the
// framework: NSTemporaryDirectory()/identity.
static bool expected_path(const char *path, const char *identity) {
    const char *last = strrchr(path, '/');
    if (path[0] != '/' || last == path || identity[0] == 0 || identity[0] == '.') return false;
    return strcmp(last + 1, identity) == 0 && strstr(path, "/../") == NULL;
}

static int32_t ask_names(aneb_program *p, aneb_error *e) {
    p->identity = aneb_text_new([p->model hexStringIdentifier]);
    p->path = aneb_text_new([p->model localModelPath]);
    if (p->identity == NULL || p->path == NULL)
        return aneb_fail(e, ANEB_CREATE, ANEB_NIL, 0, "%s returned nil or no string",
                         p->identity == NULL ? "hexStringIdentifier" : "localModelPath");
    if (!expected_path(p->path, p->identity))
        return aneb_refuse(e, ANEB_CREATE, ANEB_FILE, "localModelPath returned %.400s, which does not end in the identity %.200s",
                           p->path, p->identity);
    p->shared = aneb_identity_join(p->path);
    if (p->shared == NULL) return aneb_refuse(e, ANEB_CREATE, ANEB_ARGUMENT, "no memory for the program's identity");
    return ANEB_OK;
}

static int32_t build(aneb_program *p, NSData *text, const aneb_weight *weights, int32_t count, aneb_error *e) {
    NSMutableDictionary *inner = [NSMutableDictionary dictionary];
    NSMutableDictionary *files = [NSMutableDictionary dictionary];
    int32_t kind = aneb_weights(weights, count, inner, files, e);
    if (kind != ANEB_OK) return kind;
    if (text == nil) return aneb_fail(e, ANEB_CREATE, ANEB_NIL, 0, "no NSData for the text");
    [files setObject:text forKey:@"model.mil"];
    p->files = [[NSDictionary alloc] initWithDictionary:files];
    // The framework keeps the dictionary without copying it.
    NSDictionary *kept = [NSDictionary dictionaryWithDictionary:inner];
    id descriptor = [p->owner->descriptor modelWithMILText:text weights:kept optionsPlist:nil];
    if (descriptor == nil)
        return aneb_fail(e, ANEB_CREATE, ANEB_NIL, 0, "modelWithMILText:weights:optionsPlist: returned nil; usually the arguments are bad");
    p->model = [[p->owner->model inMemoryModelWithDescriptor:descriptor] retain];
    if (p->model == nil)
        return aneb_fail(e, ANEB_CREATE, ANEB_NIL, 0, "inMemoryModelWithDescriptor: returned nil; usually there is no connection to the broker");
    return ask_names(p, e);
}

static void discard(aneb_program *p) {
    aneb_guard(NULL, ANEB_UNLOAD, ^int32_t {
        [p->model release];
        [p->files release];
        return ANEB_OK;
    });
    if (p->shared != NULL) aneb_identity_leave(p->shared);
    pthread_mutex_destroy(&p->mutex);
    free(p->identity);
    free(p->path);
    free(p);
}

int32_t aneb_program_create(aneb *a, const void *text, size_t size, const aneb_weight *weights, int32_t count,
                            aneb_program **out, aneb_error *error) {
    int32_t kind = aneb_usable(a, ANEB_CREATE, error);
    if (kind != ANEB_OK) return kind;
    if (out != NULL) *out = NULL;
    if (text == NULL || size == 0 || out == NULL || count < 0 || (weights == NULL && count > 0))
        return aneb_refuse(error, ANEB_CREATE, ANEB_ARGUMENT,
                           "aneb_program_create: text or out is NULL, the text empty, or %d weights", count);
    aneb_program *p = calloc(1, sizeof *p);
    if (p == NULL) return aneb_refuse(error, ANEB_CREATE, ANEB_ARGUMENT, "no memory for a program");
    p->owner = a;
    p->text_hash = hash(text, size);
    atomic_init(&p->patience, patience);
    atomic_init(&p->gate, ANEB_UNLOADED);
    pthread_mutex_init(&p->mutex, NULL);
    kind = aneb_guard(error, ANEB_CREATE, ^int32_t {
        NSData *data = [NSData dataWithBytesNoCopy:(void *)text length:size freeWhenDone:NO];
        return build(p, data, weights, count, error);
    });
    if (kind != ANEB_OK) {
        discard(p);
        return kind;
    }
    atomic_fetch_add(&a->alive, 1);
    atomic_fetch_add(&aneb_process.programs, 1);
    *out = p;
    return ANEB_OK;
}

void aneb_program_patience(aneb_program *p, int64_t milliseconds) {
    if (p != NULL) atomic_store(&p->patience, milliseconds < 0 ? 0 : milliseconds);
}

static void unload_and_drop(aneb_program *p) {
    aneb_identity_lock_anyway(p);
    // Deallocation does not unload. Try twice; then the framework keeps the program.
    for (int try = 0; try < 2 && atomic_load(&p->gate) != ANEB_UNLOADED; try++) aneb_unload_locked(p, 21, NULL);
    aneb_files_drop(p);
    aneb_identity_unlock(p);
}

void aneb_program_release(aneb_program *p) {
    if (p == NULL) return;
    aneb *a = p->owner;
    // p has no other user. A program that holds nothing does not lock the identity, which
    // a call of another program may hold as long as the broker takes.
    if (p->holds_files || atomic_load(&p->gate) != ANEB_UNLOADED) unload_and_drop(p);
    discard(p);
    atomic_fetch_sub(&aneb_process.programs, 1);
    atomic_fetch_sub(&a->alive, 1);
}

static int32_t inspect(aneb_program *p, aneb_program_facts *out) {
    const int32_t *status = p->owner->status;
    if (status[ANEB_ROW_HANDLE] == ANEB_FOUND) out->handle = [p->model programHandle];
    if (status[ANEB_ROW_INTERMEDIATE] == ANEB_FOUND) out->intermediate = [p->model intermediateBufferHandle];
    if (status[ANEB_ROW_STATE] == ANEB_FOUND) out->state = [p->model state];
    if (status[ANEB_ROW_DEPTH] == ANEB_FOUND) out->queue_depth = [p->model queueDepth];
    if (status[ANEB_ROW_MASK] == ANEB_FOUND) out->perf_stats_mask = [p->model perfStatsMask];
    return ANEB_OK;
}

int32_t aneb_program_inspect(aneb_program *p, aneb_program_facts *out, aneb_error *error) {
    if (p == NULL) return aneb_null(error, ANEB_DESCRIBE);
    if (out == NULL) return aneb_refuse(error, ANEB_DESCRIBE, ANEB_ARGUMENT, "aneb_program_inspect: out is NULL");
    *out = (aneb_program_facts){.identity = p->identity, .path = p->path, .loaded = atomic_load(&p->gate) != ANEB_UNLOADED};
    pthread_mutex_lock(&p->mutex);
    out->recovered = p->recovered;
    pthread_mutex_unlock(&p->mutex);
    return aneb_guard(error, ANEB_DESCRIBE, ^int32_t {
        return inspect(p, out);
    });
}
