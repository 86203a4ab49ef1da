// Sixteen threads that evaluate one loaded program, compile and load their own, and run asynchronously.
#include "driver_ane.h"

enum { THREADS = 16, ROUNDS = 200 };

static id<Model> shared;
static int64_t wrong, answered;

static void evaluate_shared(IOSurfaceRef in, IOSurfaceRef out, int i) {
    bytes_of(in)[3] = (uint8_t)i;
    NSError *error = nil;
    BOOL ok = [shared evaluateWithQoS:21 options:nil request:request_of(in, out) error:&error];
    if (!ok || error || bytes_of(out)[3] != (uint8_t)(i + 1)) count_up(&wrong);
}

// The threads share texts and with them directories, so a load may find its files removed.
static void cycle(int i) {
    char text[32];
    snprintf(text, sizeof text, "threads %d", i % 5);
    id<Model> m = model_of(text);
    if ([m compileWithQoS:21 options:[NSDictionary dictionary] error:NULL] &&
        [m loadWithQoS:21 options:[NSDictionary dictionary] error:NULL] && ![m unloadWithQoS:21 error:NULL])
        count_up(&wrong);
}

static void run_later(IOSurfaceRef in, IOSurfaceRef out) {
    int64_t done = 0;
    int64_t *flag = &done;
    id<Request> r = request_of(in, out);
    [r setCompletionHandler:^(BOOL ok, NSError *error) {
      count_up(ok && !error ? &answered : &wrong);
      count_up(flag);
    }];
    if (![shared evaluateWithQoS:21 options:nil request:r error:NULL]) count_up(&wrong);
    while (__atomic_load_n(flag, __ATOMIC_SEQ_CST) == 0) usleep(100);
}

static void *work(void *number) {
    GSRegisterCurrentThread();
    @autoreleasepool {
        IOSurfaceRef in = surface_of(BYTES), out = surface_of(BYTES);
        for (int i = 0; i < ROUNDS; i++) {
            @autoreleasepool {
                evaluate_shared(in, out, i);
                if (i % 10 == 0) cycle(i + (int)(intptr_t)number);
                if (i % 20 == 0) run_later(in, out);
            }
        }
        CFRelease(in);
        CFRelease(out);
    }
    GSUnregisterCurrentThread();
    return NULL;
}

int main(void) {
    @autoreleasepool {
        CHECK("start", start("26", NULL, NULL) == 0);
        shared = loaded_model("threads");
        pthread_t threads[THREADS];
        for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
        CHECK("every result is right", wrong == 0);
        CHECK("every answer arrived", answered == THREADS * ROUNDS / 20);
        CHECK("unload", [shared unloadWithQoS:21 error:NULL]);
        for (int i = 0; i < 5; i++) {
            char text[32];
            snprintf(text, sizeof text, "threads %d", i);
            [[NSFileManager defaultManager] removeItemAtPath:[model_of(text) localModelPath] error:NULL];
        }
    }
    check_end();
    return driver_failures != 0;
}
