#import "internal.h"

// Marks p and r in flight; run_end undoes it.
static int32_t run_begin(aneb_program *p, aneb_request *r, aneb_error *e) {
    if (p->text_hash != r->text_hash)
        return aneb_refuse(e, ANEB_EVALUATE, ANEB_ARGUMENT, "the request belongs to a program with another text");
    bool idle = false;
    if (!atomic_compare_exchange_strong(&r->busy, &idle, true))
        return aneb_refuse(e, ANEB_EVALUATE, ANEB_STATE,
                           "the request is in flight; wait for its run, or use another request");
    int runs = atomic_load(&p->gate);
    while (runs != ANEB_UNLOADED && !atomic_compare_exchange_weak(&p->gate, &runs, runs + 1)) continue;
    if (runs != ANEB_UNLOADED) return ANEB_OK;
    atomic_store(&r->busy, false);
    return aneb_refuse(e, ANEB_EVALUATE, ANEB_STATE, "the program is not loaded");
}

static void run_end(aneb_program *p, aneb_request *r) {
    atomic_fetch_sub(&p->gate, 1);
    atomic_store(&r->busy, false);
}

// Call inside aneb_guard.
static int32_t run_send(aneb_program *p, aneb_request *r, uint32_t qos, aneb_error *e) {
    NSError *error = nil;
    BOOL ok = [p->model evaluateWithQoS:qos options:p->owner->options request:r->object error:&error];
    const char *cause = "the program is not loaded, the request is not valid, or the queue is full";
    if (!ok && error == nil && p->owner->status[ANEB_ROW_VALIDATE] == ANEB_FOUND)
        cause = [r->object validate] ? "the program is not loaded, or the queue is full; -validate accepts the request"
                                     : "-validate rejects the request";
    return aneb_judge(e, ANEB_EVALUATE, ok, error, "evaluateWithQoS:options:request:error:", cause);
}

int32_t aneb_evaluate(aneb_program *p, aneb_request *r, uint32_t qos, aneb_error *error) {
    if (p == NULL || r == NULL) return aneb_null(error, ANEB_EVALUATE);
    int32_t kind = run_begin(p, r, error);
    if (kind != ANEB_OK) return kind;
    kind = aneb_guard(error, ANEB_EVALUATE, ^int32_t {
        return run_send(p, r, qos, error);
    });
    run_end(p, r);
    return kind;
}
