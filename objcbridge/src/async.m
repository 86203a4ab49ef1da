#import "internal.h"

static void completed(uint64_t ticket, BOOL ok, NSError *error) {
    aneb_error result = {.stage = ANEB_EVALUATE};
    aneb_error *to = &result;
    int32_t kind = aneb_guard(to, ANEB_EVALUATE, ^int32_t {
        return aneb_judge(to, ANEB_EVALUATE, ok, error, "the completion handler of evaluateWithQoS:options:request:error:",
                          "the engine gave the run up");
    });
    aneb_ticket_fire(ticket, kind, to);
}

// The block holds a number only: whatever the ticket stands for may be gone when the
// framework calls once more than it should.
static void set_handler(aneb_request *r, uint64_t ticket) {
    r->handler = true;
    [r->object setCompletionHandler:^(BOOL ok, NSError *error) {
        completed(ticket, ok, error);
    }];
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
    kind = aneb_guard(error, ANEB_EVALUATE, ^int32_t {
        set_handler(r, run);
        return aneb_run_send(p, r, qos, error);
    });
    aneb_ticket_settle(run, kind);
    return kind;
}
