// Runs with a completion handler: slots, the thread that calls completions, and withheld completions.
#import "ane_program.h"

#include <Block.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { SLOT_WAIT_SECONDS = 10 };
static const int64_t answer_after = 200 * 1000; // ns
static const int64_t millisecond = 1000 * 1000, second = 1000 * 1000 * 1000;

struct job {
    struct job *next;
    int64_t due; // on the monotonic clock, ns
    struct fault fault;
    StandinProgramForEvaluation *program; // retained
    // Retained only if no handler shows the owner when to release it.
    StandinRequest *request;
    completion handler;                   // copied; NULL with only shared events
    BOOL ok;
    NSError *error; // retained
    struct bound bound;
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t work, slot;
    struct job *jobs; // by due
    struct job *lost;
    int64_t in_flight, lost_count;
    int running; // whether the thread runs
} queue = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void make_conditions(void) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&queue.work, &monotonic);
    pthread_cond_init(&queue.slot, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * second + t.tv_nsec;
}

// Waits at most until the time; returns 0 when it has passed.
static int wait_locked(pthread_cond_t *condition, int64_t until) {
    struct timespec t = {until / second, until % second};
    return pthread_cond_timedwait(condition, &queue.mutex, &t) != ETIMEDOUT;
}

static void run(struct job *j) {
    StandinLoad *load = programs_loaded(j->program->handle);
    j->error = j->fault.kind == STANDIN_ASYNC_ERROR
                   ? fault_error(j->fault.value, @selector(evaluateWithQoS:options:request:error:))
                   : driver_try(load, &j->bound, j->fault);
    [j->error retain];
    j->ok = j->error == nil;
}

// Frees the slot and then calls the completion, which may send the request again or release it.
static void answer(struct job *j) {
    int times = j->fault.kind == STANDIN_TWICE ? 2 : 1;
    pthread_mutex_lock(&queue.mutex);
    j->program->in_flight--;
    queue.in_flight--;
    counter_add(&j->request->in_flight, -1);
    pthread_cond_broadcast(&queue.slot);
    pthread_mutex_unlock(&queue.mutex);
    for (int i = 0; j->handler && i < times; i++) j->handler(j->ok, j->error);
    if (j->handler)
        Block_release(j->handler);
    else
        [j->request release];
    [j->error release];
    [j->program release];
    free(j);
}

static void serve(struct job *j) {
    @autoreleasepool {
        run(j);
        if (j->fault.kind != STANDIN_NEVER) {
            answer(j);
            return;
        }
        pthread_mutex_lock(&queue.mutex);
        j->next = queue.lost;
        queue.lost = j;
        queue.lost_count++;
        pthread_mutex_unlock(&queue.mutex);
    }
}

static void *services_thread(void *unused) {
    (void)unused;
    GSRegisterCurrentThread();
    pthread_mutex_lock(&queue.mutex);
    for (;;) {
        struct job *j = queue.jobs;
        if (!j) {
            pthread_cond_wait(&queue.work, &queue.mutex);
        } else if (j->due > now()) {
            wait_locked(&queue.work, j->due);
        } else {
            queue.jobs = j->next;
            pthread_mutex_unlock(&queue.mutex);
            serve(j);
            pthread_mutex_lock(&queue.mutex);
        }
    }
    return NULL;
}

static int start_thread_locked(void) {
    pthread_t thread;
    if (queue.running) return 1;
    if (pthread_create(&thread, NULL, services_thread, NULL)) return 0;
    pthread_detach(thread);
    return queue.running = 1;
}

static int take_slot_locked(StandinProgramForEvaluation *program) {
    int64_t until = now() + SLOT_WAIT_SECONDS * second;
    while (program->in_flight >= (program->depth > 0 ? program->depth : 1)) // a dump may have any depth
        if (!wait_locked(&queue.slot, until)) return 0;
    program->in_flight++;
    queue.in_flight++;
    return 1;
}

static void enqueue_locked(struct job *j) {
    struct job **at = &queue.jobs;
    while (*at && (*at)->due <= j->due) at = &(*at)->next;
    j->next = *at;
    *at = j;
    pthread_cond_signal(&queue.work);
}

BOOL asynchronous_submit(StandinProgramForEvaluation *program, StandinRequest *request, struct fault fault) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_conditions);
    struct job *j = calloc(1, sizeof *j);
    if (!j) return NO;
    request_bind(request, &j->bound);
    j->fault = fault;
    pthread_mutex_lock(&queue.mutex);
    if (!start_thread_locked() || !take_slot_locked(program)) {
        pthread_mutex_unlock(&queue.mutex);
        free(j);
        return NO;
    }
    j->program = [program retain];
    j->handler = request->handler ? Block_copy(request->handler) : NULL;
    j->request = j->handler ? request : [request retain];
    j->due = now() + answer_after + (fault.kind == STANDIN_LATE ? fault.value * millisecond : 0);
    counter_set(&request->served, 1);
    if (counter_add(&request->in_flight, 1) > 1) core_log(@"standin: a request is used while it is in flight");
    enqueue_locked(j);
    pthread_mutex_unlock(&queue.mutex);
    return YES;
}

void standin_fire_lost(void) {
    pthread_mutex_lock(&queue.mutex);
    struct job *list = queue.lost;
    queue.lost = NULL;
    queue.lost_count = 0;
    pthread_mutex_unlock(&queue.mutex);
    @autoreleasepool {
        while (list) {
            struct job *next = list->next;
            answer(list);
            list = next;
        }
    }
}

void asynchronous_count(standin_counts *out) {
    pthread_mutex_lock(&queue.mutex);
    out->slots = queue.in_flight;
    out->lost = queue.lost_count;
    pthread_mutex_unlock(&queue.mutex);
}
