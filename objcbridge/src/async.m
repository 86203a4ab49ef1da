#import "internal.h"
#include <Block.h>

static void completed(uint64_t ticket, BOOL ok, NSError *error) {
    aneb_error result = {.stage = ANEB_EVALUATE};
    aneb_error *to = &result;
    int32_t kind = aneb_guard(to, ANEB_EVALUATE, ^int32_t {
        return aneb_judge(to, ANEB_EVALUATE, ok, error, "the completion handler of evaluateWithQoS:options:request:error:",
                          "the engine abandoned the run");
    });
    aneb_ticket_fire(ticket, kind, to);
}

// Returns a handler on the heap, +1, or NULL without memory: no documentation states
// that the framework copies the handler. It holds only a number, because the ticket's
// objects may be released when the framework calls once too often.
static aneb_completion new_handler(uint64_t ticket) {
    return Block_copy(^(BOOL ok, NSError *error) {
        completed(ticket, ok, error);
    });
}

int32_t aneb_evaluate_async(aneb_program *p, aneb_request *r, uint32_t qos, aneb_done done, void *context,
                            uint64_t *ticket, aneb_error *error) {
    if (p == NULL || r == NULL || done == NULL)
        return aneb_refuse(error, ANEB_EVALUATE, ANEB_ARGUMENT, "aneb_evaluate_async: program, request or done is NULL");
    int32_t kind = aneb_offers(p->owner, ANEB_ROW_HANDLER, ANEB_EVALUATE, error);
    if (kind == ANEB_OK) kind = aneb_run_begin(p, r, error);
    if (kind != ANEB_OK) return kind;
    uint64_t run = aneb_ticket_open(p, r, done, context);
    if (run == 0) {
        aneb_run_end(p, r);
        return aneb_refuse(error, ANEB_EVALUATE, ANEB_ARGUMENT, "no memory for an asynchronous run");
    }
    if (ticket != NULL) *ticket = run; // before done can be called
    aneb_completion handler = new_handler(run);
    kind = aneb_guard(error, ANEB_EVALUATE, ^int32_t {
        if (handler == NULL) return aneb_refuse(error, ANEB_EVALUATE, ANEB_ARGUMENT, "no memory for a completion handler");
        r->handler = true;
        [r->object setCompletionHandler:handler];
        return aneb_run_send(p, r, qos, error);
    });
    if (handler != NULL) Block_release(handler);
    aneb_ticket_settle(run, kind);
    return kind;
}
