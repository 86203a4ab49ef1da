// Completion handlers: where, when and how often they are called; slots; calls that end the process.
#include "driver_ane.h"

#include <time.h>

// Answers. Blocks capture a pointer to one.
struct answers {
    int yes, no;
    NSInteger code;
    uint8_t seen; // first byte of the output when the answer came
    int elsewhere;
    pthread_t caller;
    IOSurfaceRef out;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void answer_to(id<Request> r, struct answers *a) {
    a->caller = pthread_self();
    [r setCompletionHandler:^(BOOL ok, NSError *error) {
      pthread_mutex_lock(&mutex);
      ok ? a->yes++ : a->no++;
      a->code = [error code];
      if (a->out) a->seen = bytes_of(a->out)[0];
      a->elsewhere = !pthread_equal(pthread_self(), a->caller);
      pthread_mutex_unlock(&mutex);
    }];
}

static int answered(struct answers *a) {
    pthread_mutex_lock(&mutex);
    int n = a->yes + a->no;
    pthread_mutex_unlock(&mutex);
    return n;
}

// Waits for count answers, at most 20 s, and then briefly for an unexpected one.
static int wait_for(struct answers *a, int count) {
    for (int i = 0; i < 20000 && answered(a) < count; i++) usleep(1000);
    usleep(3000);
    return answered(a) == count;
}

static id<Model> model;
static IOSurfaceRef in, out;

// Runs a loaded model with a handler until it is answered count times.
static struct answers run(int kind, int64_t value, int count) {
    struct answers a = {.out = out};
    @autoreleasepool {
        id<Request> r = request_of(in, out);
        answer_to(r, &a);
        if (kind) standin_fault("evaluateWithQoS:options:request:error:", kind, 1, value);
        NSError *error = nil;
        CHECK("asynchronous: YES at once", [model evaluateWithQoS:21 options:nil request:r error:&error] && !error);
        if (kind == STANDIN_NEVER) {
            standin_counts c;
            standin_count(&c);
            for (int i = 0; i < 20000 && c.lost < 1; i++) {
                usleep(1000);
                standin_count(&c);
            }
            CHECK("the answer is withheld", answered(&a) == 0 && c.lost == 1 && c.slots == 1);
            standin_fire_lost();
        }
        CHECK("answered the expected number of times", wait_for(&a, count));
        [r setCompletionHandler:NULL];
    }
    return a;
}

static int64_t milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void kinds(void) {
    bytes_of(in)[0] = 5;
    struct answers a = run(0, 0, 1);
    CHECK("YES, on another thread, with the output", a.yes == 1 && a.elsewhere && a.seen == 6);
    int64_t before = milliseconds();
    a = run(STANDIN_LATE, 50, 1);
    CHECK("late", a.yes == 1 && milliseconds() - before >= 50);
    a = run(STANDIN_TWICE, 0, 2);
    CHECK("twice", a.yes == 2);
    a = run(STANDIN_NEVER, 0, 1);
    CHECK("never, then fired", a.yes == 1);
    a = run(STANDIN_ASYNC_ERROR, 77, 1);
    CHECK("error", a.no == 1 && a.code == 77);
}

static void short_surface(void) {
    IOSurfaceRef tiny = surface_of(8);
    struct answers a = {.out = NULL};
    @autoreleasepool {
        id<Request> r = request_of(in, tiny);
        answer_to(r, &a);
        CHECK("a short surface is reported later", [model evaluateWithQoS:21 options:nil request:r error:NULL]);
        CHECK("NO with error 8", wait_for(&a, 1) && a.no == 1 && a.code == 8);
    }
    CFRelease(tiny);
}

static void crowd(void) {
    struct answers a = {.out = NULL};
    @autoreleasepool {
        NSMutableArray *kept = [NSMutableArray array];
        for (int i = 0; i < 300; i++) {
            id<Request> r = request_of(in, out);
            answer_to(r, &a);
            [kept addObject:r];
            if (![model evaluateWithQoS:21 options:nil request:r error:NULL]) CHECK("a slot becomes free", 0);
        }
        CHECK("300 runs through 127 slots", wait_for(&a, 300) && a.yes == 300);
    }
}

static void full(void) {
    struct answers a = {.out = NULL};
    @autoreleasepool {
        NSMutableArray *kept = [NSMutableArray array];
        standin_fault("evaluateWithQoS:options:request:error:", STANDIN_NEVER, 127, 0);
        NSError *error = nil;
        int64_t before = milliseconds();
        for (int i = 0; i < 128; i++) {
            id<Request> r = request_of(in, out);
            answer_to(r, &a);
            [kept addObject:r];
            BOOL ok = [model evaluateWithQoS:21 options:nil request:r error:&error];
            if (i == 127)
                CHECK("no slot: NO without error after 10 s", !ok && !error && milliseconds() - before >= 10000);
            else if (!ok)
                CHECK("a slot is free", 0);
        }
        standin_fire_lost();
        CHECK("all withheld answers arrive", wait_for(&a, 127));
    }
}

static void events_without_handler(void) {
    id<Request> r = request_of(in, out);
    [r setSharedEvents:[(Class<Events>)NSClassFromString(@"_ANESharedEvents") sharedEventsWithSignalEvents:nil waitEvents:nil]];
    [model evaluateWithQoS:21 options:nil request:r error:NULL];
}

static void freed_in_flight(void) {
    static struct answers a;
    standin_fault("evaluateWithQoS:options:request:error:", STANDIN_NEVER, 1, 0);
    @autoreleasepool {
        id<Request> r = request_of(in, out);
        answer_to(r, &a);
        [model evaluateWithQoS:21 options:nil request:r error:NULL];
    }
}

int main(void) {
    @autoreleasepool {
        CHECK("start", start("26", NULL, NULL) == 0);
        model = loaded_model("asynchronous");
        in = surface_of(16384);
        out = surface_of(16384);
        CHECK("shared events without handler end the process", aborts(events_without_handler, "shared events"));
        CHECK("a request freed in flight ends the process", aborts(freed_in_flight, "in flight"));
        kinds();
        short_surface();
        crowd();
        full();
        CHECK("unload", [model unloadWithQoS:21 error:NULL]);
        CFRelease(in);
        CFRelease(out);
    }
    check_end();
    return driver_failures != 0;
}
