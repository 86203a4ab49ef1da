#import "internal.h"
#include <stdlib.h>
#include <string.h>

// A run is calling until evaluate returns, then waiting until the framework calls back.
// If the callback arrives first, its result is stored: done is called exactly if
// evaluate succeeds, which is known only at its return.
enum state { unused, calling, answered, waiting };

struct aneb_slot { // guarded by the process's mutex
    enum state state;
    uint32_t next;       // while unused: 1 + index of the next unused slot, 0 for none
    uint32_t generation; // the upper half of the ticket; an ended ticket has an older one
    bool abandoned;
    aneb_program *program;
    aneb_request *request;
    aneb_done done;
    void *context;
    aneb_error result;
};

struct ending { // work to do after the mutex is released
    bool any;
    aneb_program *program;
    aneb_request *request;
    aneb_done done; // NULL if the caller has forgotten the run
    void *context;
};

static void lock(void) { pthread_mutex_lock(&aneb_process.mutex); }

static void unlock(void) { pthread_mutex_unlock(&aneb_process.mutex); }

// Returns the index of an unused slot, or UINT32_MAX without memory.
static uint32_t spare(void) {
    uint32_t count = aneb_process.slot_count, first = aneb_process.unused_slot;
    if (first != 0) {
        aneb_process.unused_slot = aneb_process.slots[first - 1]->next;
        return first - 1;
    }
    struct aneb_slot **grown = realloc(aneb_process.slots, ((size_t)count + 1) * sizeof *grown);
    if (grown == NULL) return UINT32_MAX;
    aneb_process.slots = grown;
    grown[count] = calloc(1, sizeof **grown);
    if (grown[count] == NULL) return UINT32_MAX;
    aneb_process.slot_count = count + 1;
    return count;
}

uint64_t aneb_ticket_open(aneb_program *p, aneb_request *r, aneb_done done, void *context) {
    uint64_t ticket = 0;
    lock();
    uint32_t at = spare();
    if (at != UINT32_MAX) {
        struct aneb_slot *slot = aneb_process.slots[at];
        uint32_t generation = slot->generation + 1 == 0 ? 1 : slot->generation + 1;
        memset(slot, 0, sizeof *slot);
        slot->state = calling;
        slot->generation = generation;
        slot->program = p;
        slot->request = r;
        slot->done = done;
        slot->context = context;
        ticket = (uint64_t)generation << 32 | at;
        atomic_fetch_add(&p->refs, 1);
        atomic_fetch_add(&r->refs, 1);
        atomic_fetch_add(&aneb_process.pending, 1);
    }
    unlock();
    return ticket;
}

// Returns NULL for a ticket that has ended or never existed.
static struct aneb_slot *find(uint64_t ticket) {
    uint32_t at = (uint32_t)ticket;
    if (at >= aneb_process.slot_count) return NULL;
    struct aneb_slot *slot = aneb_process.slots[at];
    return slot->state != unused && slot->generation == (uint32_t)(ticket >> 32) ? slot : NULL;
}

// Ends ticket's run and frees its slot.
static struct ending take(struct aneb_slot *slot, uint64_t ticket, bool call) {
    struct ending end = {.any = true, .program = slot->program, .request = slot->request, .context = slot->context};
    if (call && !slot->abandoned) end.done = slot->done;
    if (slot->abandoned) atomic_fetch_sub(&aneb_process.forgotten, 1);
    atomic_fetch_sub(&aneb_process.pending, 1);
    slot->state = unused;
    slot->next = aneb_process.unused_slot;
    aneb_process.unused_slot = (uint32_t)ticket + 1;
    return end;
}

static void *end_both(void *argument) {
    struct ending *end = argument;
    if (end->request != NULL) aneb_request_end(end->request);
    if (end->program != NULL) aneb_program_end(end->program);
    return NULL;
}

static void *end_and_free(void *argument) {
    end_both(argument);
    free(argument);
    return NULL;
}

// Releases the run's references. The last release unloads, which waits for the broker.
// It must not run on the framework's own thread, nor while the framework runs the
// handler that the request owns.
static void drop(struct ending end, bool in_handler) {
    if (atomic_fetch_sub(&end.request->refs, 1) != 1) end.request = NULL;
    if (atomic_fetch_sub(&end.program->refs, 1) != 1) end.program = NULL;
    if (end.request == NULL && end.program == NULL) return;
    pthread_t thread;
    struct ending *copy = in_handler ? malloc(sizeof *copy) : NULL;
    if (copy != NULL) {
        *copy = end;
        if (pthread_create(&thread, NULL, end_and_free, copy) == 0) {
            pthread_detach(thread);
            return;
        }
        free(copy);
    }
    end_both(&end);
}

// References are released before done is called, so that a caller that releases
// everything in done, or after it, sees everything released.
static void finish(struct ending end, const aneb_error *result, bool in_handler) {
    if (!end.any) return;
    aneb_run_end(end.program, end.request);
    drop(end, in_handler);
    if (end.done != NULL) end.done(end.context, result->kind, result);
}

void aneb_ticket_fire(uint64_t ticket, int32_t kind, const aneb_error *error) {
    struct ending end = {0};
    lock();
    struct aneb_slot *slot = find(ticket);
    if (slot == NULL || slot->state == answered) {
        atomic_fetch_add(&aneb_process.unexpected, 1);
    } else if (slot->state == calling) {
        slot->state = answered;
        slot->result = *error;
        slot->result.kind = kind;
    } else {
        end = take(slot, ticket, true);
    }
    unlock();
    finish(end, error, true);
}

void aneb_ticket_settle(uint64_t ticket, int32_t kind) {
    struct ending end = {0};
    aneb_error result = {0};
    lock();
    struct aneb_slot *slot = find(ticket);
    // YES with an NSError failed for the caller, but may have queued the run.
    bool queued = kind == ANEB_OK || kind == ANEB_CONTRADICTION;
    if (slot != NULL && queued && slot->state == calling) {
        slot->state = waiting;
        if (kind != ANEB_OK && !slot->abandoned) {
            slot->abandoned = true;
            atomic_fetch_add(&aneb_process.forgotten, 1);
        }
    } else if (slot != NULL) {
        if (!queued && slot->state == answered) atomic_fetch_add(&aneb_process.unexpected, 1);
        result = slot->result;
        end = take(slot, ticket, kind == ANEB_OK);
    }
    unlock();
    finish(end, &result, false);
}

int32_t aneb_forget(uint64_t ticket) {
    lock();
    struct aneb_slot *slot = find(ticket);
    bool forgets = slot != NULL && !slot->abandoned;
    if (forgets) {
        slot->abandoned = true;
        atomic_fetch_add(&aneb_process.forgotten, 1);
    }
    unlock();
    return forgets;
}
