#import "internal.h"

int32_t aneb_cached(aneb_program *p, int32_t stage, BOOL *cached, aneb_error *e) {
    *cached = NO;
    return aneb_guard(e, stage, ^int32_t {
        *cached = [p->model compiledModelExists];
        return ANEB_OK;
    });
}

static int32_t compile(aneb_program *p, uint32_t qos, aneb_error *e) {
    return aneb_guard(e, ANEB_COMPILE, ^int32_t {
        NSError *error = nil;
        BOOL ok = [p->model compileWithQoS:qos options:p->owner->options error:&error];
        return aneb_judge(e, ANEB_COMPILE, ok, error, "compileWithQoS:options:error:",
                          "a file of the program could not be written, or the connection to the broker is lost");
    });
}

// Call with the identity locked.
static int32_t compile_once(aneb_program *p, uint32_t qos, BOOL *cached, aneb_error *e) {
    if (p->compiled) return aneb_refuse(e, ANEB_COMPILE, ANEB_STATE, "the program is already compiled");
    int32_t kind = aneb_cached(p, ANEB_COMPILE, cached, e);
    if (kind != ANEB_OK) return kind;
    if (!*cached) {
        kind = aneb_files_write(p, e);
        if (kind != ANEB_OK) return kind;
        atomic_fetch_add(&aneb_process.compiles, 1);
        kind = compile(p, qos, e);
    }
    if (kind != ANEB_OK) {
        aneb_files_drop(p);
        return kind;
    }
    p->compiled = true;
    return ANEB_OK;
}

int32_t aneb_program_compile(aneb_program *p, uint32_t qos, int32_t *cached, aneb_error *error) {
    if (p == NULL) return aneb_null(error, ANEB_COMPILE);
    BOOL hit = NO;
    int32_t kind = aneb_identity_lock(p, ANEB_COMPILE, error);
    if (kind == ANEB_OK) {
        kind = compile_once(p, qos, &hit, error);
        aneb_identity_unlock(p);
    }
    if (cached != NULL) *cached = kind == ANEB_OK && hit;
    return kind;
}

int32_t aneb_program_purge(aneb_program *p, aneb_error *error) {
    if (p == NULL) return aneb_null(error, ANEB_PURGE);
    int32_t kind = aneb_offers(p->owner, ANEB_ROW_PURGE, ANEB_PURGE, error);
    if (kind == ANEB_OK) kind = aneb_identity_lock(p, ANEB_PURGE, error);
    if (kind != ANEB_OK) return kind;
    kind = aneb_guard(error, ANEB_PURGE, ^int32_t {
        [p->model purgeCompiledModel];
        return ANEB_OK;
    });
    aneb_identity_unlock(p);
    return kind;
}
