#import "internal.h"
#include <errno.h>
#include <time.h>

int32_t aneb_program_reside(aneb_program *p, int32_t residency, aneb_error *error) {
    if (p == NULL) return aneb_null(error, ANEB_LOAD);
    if (residency < ANEB_DEFAULT || residency > ANEB_PAGEABLE)
        return aneb_refuse(error, ANEB_LOAD, ANEB_ARGUMENT, "aneb_program_reside: residency %d", residency);
    if (residency != ANEB_DEFAULT && p->owner->wired == nil)
        return aneb_fail(error, ANEB_LOAD, ANEB_MISSING, 0, "the framework does not export kANEFKeepModelMemoryWiredKey");
    atomic_store(&p->residency, residency);
    return ANEB_OK;
}

// Call inside aneb_guard.
static NSDictionary *load_options(aneb_program *p) {
    int residency = atomic_load(&p->residency);
    if (residency == ANEB_DEFAULT) return p->owner->options;
    return [NSDictionary dictionaryWithObject:[NSNumber numberWithInt:residency == ANEB_WIRED] forKey:p->owner->wired];
}

static int32_t load(aneb_program *p, uint32_t qos, aneb_error *e) {
    return aneb_guard(e, ANEB_LOAD, ^int32_t {
        NSError *error = nil;
        BOOL ok = [p->model loadWithQoS:qos options:load_options(p) error:&error];
        return aneb_judge(e, ANEB_LOAD, ok, error, "loadWithQoS:options:error:",
                          "the connection to the broker is lost, or the program was never compiled");
    });
}

static int32_t unload(aneb_program *p, uint32_t qos, aneb_error *e) {
    return aneb_guard(e, ANEB_UNLOAD, ^int32_t {
        NSError *error = nil;
        BOOL ok = [p->model unloadWithQoS:qos error:&error];
        return aneb_judge(e, ANEB_UNLOAD, ok, error, "unloadWithQoS:error:", "the connection to the broker is lost");
    });
}

// Call the functions below with the identity locked.
static int32_t may_load(aneb_program *p, aneb_error *e) {
    if (!p->compiled) return aneb_refuse(e, ANEB_LOAD, ANEB_STATE, "the program is not compiled");
    if (atomic_load(&p->gate) != ANEB_UNLOADED)
        return aneb_refuse(e, ANEB_LOAD, ANEB_STATE, "the program is already loaded");
    BOOL cached = NO;
    int32_t kind = aneb_cached(p, ANEB_LOAD, &cached, e);
    if (kind != ANEB_OK || cached || aneb_files_present(p)) return kind;
    return aneb_refuse(e, ANEB_LOAD, ANEB_RELOAD,
                       "the program is gone from the framework's cache and from its directory; create it again");
}

static bool unloaded(int32_t kind) { return kind == ANEB_OK || kind == ANEB_CONTRADICTION; }

// Reports, after a load that failed with kind, whether the framework has released the
// program. YES with an NSError has loaded it, so it counts as loaded until an unload
// succeeds. An exception may have loaded it; if the unload then fails, it has not.
static bool undo_load(aneb_program *p, uint32_t qos, int32_t kind) {
    if (kind != ANEB_CONTRADICTION && kind != ANEB_EXCEPTION) return true;
    bool undone = unloaded(unload(p, qos, NULL));
    if (kind == ANEB_EXCEPTION || undone) return true;
    return unloaded(unload(p, qos, NULL)); // a second try, as in release
}

// A failed load is retried once: maderix and MLXFast observed that the first load of a
// program failed and the second, 100 ms later, succeeded.
static int32_t load_twice(aneb_program *p, uint32_t qos, aneb_error *e) {
    aneb_error first = {0};
    aneb_error *refusal = &first;
    int32_t kind = load(p, qos, refusal);
    if (kind == ANEB_NSERROR || kind == ANEB_NO) {
        struct timespec pause = {.tv_nsec = 100 * 1000 * 1000};
        while (nanosleep(&pause, &pause) != 0 && errno == EINTR) continue;
        kind = load(p, qos, e);
    } else if (kind != ANEB_OK && e != NULL) {
        *e = first;
    }
    pthread_mutex_lock(&p->mutex);
    p->recovered = first;
    pthread_mutex_unlock(&p->mutex);
    return kind;
}

static int32_t load_locked(aneb_program *p, uint32_t qos, aneb_error *e) {
    int32_t kind = may_load(p, e);
    if (kind != ANEB_OK) return kind;
    if (!aneb_take(&aneb_process.loaded, p->owner->program_limit))
        return aneb_refuse(e, ANEB_LOAD, ANEB_CROWDED,
                           "this process has %lld programs loaded, and its limit is %lld, so that others have slots too: unload one",
                           atomic_load(&aneb_process.loaded), (long long)p->owner->program_limit);
    kind = load_twice(p, qos, e);
    if (kind == ANEB_OK) {
        atomic_store(&p->gate, 0);
        if (p->owner->keep_files)
            aneb_files_settle(p);
        else
            aneb_files_drop(p);
        return ANEB_OK;
    }
    if (undo_load(p, qos, kind)) atomic_fetch_sub(&aneb_process.loaded, 1);
    aneb_files_drop(p);
    return kind;
}

int32_t aneb_unload_locked(aneb_program *p, uint32_t qos, aneb_error *e) {
    int runs = 0; // closes the gate to new runs unless a run is in flight
    if (!atomic_compare_exchange_strong(&p->gate, &runs, ANEB_UNLOADED)) {
        if (runs == ANEB_UNLOADED) return aneb_refuse(e, ANEB_UNLOAD, ANEB_STATE, "the program is not loaded");
        return aneb_refuse(e, ANEB_UNLOAD, ANEB_STATE, "the program is still in use by %d runs", runs);
    }
    int32_t kind = unload(p, qos, e);
    if (!unloaded(kind)) {
        atomic_store(&p->gate, 0); // assume that the program is still loaded
        return kind;
    }
    atomic_fetch_sub(&aneb_process.loaded, 1);
    aneb_files_drop(p);
    return kind;
}

int32_t aneb_program_load(aneb_program *p, uint32_t qos, aneb_error *error) {
    if (p == NULL) return aneb_null(error, ANEB_LOAD);
    int32_t kind = aneb_identity_lock(p, ANEB_LOAD, error);
    if (kind != ANEB_OK) return kind;
    kind = load_locked(p, qos, error);
    aneb_identity_unlock(p);
    return kind;
}

int32_t aneb_program_unload(aneb_program *p, uint32_t qos, aneb_error *error) {
    if (p == NULL) return aneb_null(error, ANEB_UNLOAD);
    int32_t kind = aneb_identity_lock(p, ANEB_UNLOAD, error);
    if (kind != ANEB_OK) return kind;
    kind = aneb_unload_locked(p, qos, error);
    aneb_identity_unlock(p);
    return kind;
}
