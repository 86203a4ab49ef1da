// 100,000 evaluations and 1,000 compile-load-unload cycles with flat memory. driver_soak N runs N and
// N/100.
#include "driver_ane.h"

#include <malloc.h>

static id<Model> model;
static IOSurfaceRef in, out;

static void evaluations(int count) {
    for (int i = 0; i < count; i++) {
        @autoreleasepool {
            NSError *error = nil;
            if (![model evaluateWithQoS:21 options:nil request:request_of(in, out) error:&error]) CHECK("evaluate", 0);
        }
    }
}

static void failures(int count) {
    for (int i = 0; i < count; i++) {
        @autoreleasepool {
            NSError *error = nil;
            if ([model evaluateWithQoS:21 options:nil request:request_at(wrap(in), 1, wrap(out), 0) error:&error] || !error)
                CHECK("failure", 0);
            if (!RAISED([model evaluateWithQoS:21 options:nil request:@"r" error:NULL])) CHECK("exception", 0);
        }
    }
}

static void cycles(int count) {
    static int serial;
    for (int i = 0; i < count; i++) {
        @autoreleasepool {
            char text[32];
            snprintf(text, sizeof text, "cycle %d", serial++);
            id<Model> m = loaded_model(text);
            [m purgeCompiledModel];
            if (![m unloadWithQoS:21 error:NULL] || exists([m localModelPath])) CHECK("cycle", 0);
        }
    }
}

// AddressSanitizer's own count; absent without it.
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

// Allocated bytes; 0 under valgrind, whose allocator does not report them and which finds leaks itself.
static size_t in_use(void) {
    return __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes() : mallinfo2().uordblks;
}

// Returns the bytes that body leaks after its caches are filled.
static size_t growth(void (*body)(int), int count) {
    body(count / 10 + 1);
    size_t before = in_use();
    body(count);
    size_t after = in_use();
    return after > before ? after - before : 0;
}

static void flat(const char *what, void (*body)(int), int count) {
    size_t bytes = growth(body, count);
    printf("  %s: %zu bytes more\n", what, bytes);
    CHECK(what, bytes < (size_t)count / 10 + 4096);
}

// A planted leak: one request in eight is kept too long.
static NSMutableArray *kept;
static void leak(int count) {
    for (int i = 0; i < count; i++) {
        @autoreleasepool {
            id<Request> r = request_of(in, out);
            if (i % 8 == 0) [kept addObject:r];
        }
    }
}

static void planted(int count) {
    kept = [[NSMutableArray alloc] init];
    size_t bytes = growth(leak, count);
    if (in_use() == 0)
        printf("  bytes cannot be counted here; run it without valgrind too\n");
    else
        CHECK("the bytes show a planted leak", bytes >= (size_t)count / 10 + 4096);
    CHECK("the count of objects shows it too", standin_instances("_ANERequest") >= count / 8);
    [kept release];
    CHECK("the count is exact", standin_instances("_ANERequest") == 0 && standin_instances("_ANEIOSurfaceObject") == 0);
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 100000;
    @autoreleasepool {
        CHECK("start", start("26", NULL, NULL) == 0);
        model = loaded_model("soak");
        in = surface_of(16384);
        out = surface_of(16384);
        flat("evaluations are flat", evaluations, n);
        flat("failures and exceptions are flat", failures, n / 10);
        flat("compile, load, unload are flat", cycles, n / 100);
        @autoreleasepool {
            planted(n);
        }
        CHECK("unload", [model unloadWithQoS:21 error:NULL]);
        CFRelease(in);
        CFRelease(out);
    }
    check_end();
    return driver_failures != 0;
}
