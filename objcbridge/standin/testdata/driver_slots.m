// Callers with and without autorelease pools: what compiles leave there limits further compiles, and keeps the slots of
// unloaded programs.
#include "driver_ane.h"

enum { MOST = 119 };

static id options(void) { return [NSDictionary dictionary]; }

static standin_counts counts(void) {
    standin_counts c;
    standin_count(&c);
    return c;
}

static BOOL compiles(int serial) {
    char text[32];
    snprintf(text, sizeof text, "slots %d", serial);
    NSError *error = nil;
    id<Model> m = model_of(text);
    BOOL done = [m compileWithQoS:21 options:options() error:&error] && !error;
    CHECK("no compile has an error", !error);
    [[NSFileManager defaultManager] removeItemAtPath:[m localModelPath] error:NULL];
    return done;
}

static void with_pools(void) {
    int done = 0;
    for (int i = 0; i < 140; i++) {
        @autoreleasepool {
            done += compiles(i);
        }
    }
    CHECK("140 compiles, each in a pool", done == 140);
    for (int i = 0; i < 200; i++) {
        id kept;
        @autoreleasepool {
            kept = loaded_model("slots");
            [kept retain];
        }
        [(id<Model>)kept unloadWithQoS:21 error:NULL];
        [kept release];
        done += counts().held == 0;
    }
    CHECK("each unload gives the slot back at once", done == 340);
}

static void without(void) {
    @autoreleasepool {
        int done = 0;
        for (int i = 0; i < MOST; i++) done += compiles(1000 + i);
        CHECK("119 compiles in one pool", done == MOST);
        CHECK("one more: NO without error", !compiles(2000));
        id<Model> cached = model_of("slots 1000");
        CHECK("what is cached needs no compile", [cached loadWithQoS:21 options:options() error:NULL]);
        CHECK("and gives its slot back", [cached unloadWithQoS:21 error:NULL] && counts().held == 0);
    }
    @autoreleasepool {
        CHECK("the drained pool ends it", compiles(2001));
    }
    @autoreleasepool {
        id<Model> m = loaded_model("slots");
        NSError *error = nil;
        CHECK("unload says YES", [m unloadWithQoS:21 error:&error] && !error);
        CHECK("the slot stays taken", counts().loaded == 0 && counts().held == 1);
    }
    CHECK("until the pool is drained", counts().held == 0);
}

int main(void) {
    @autoreleasepool {
        CHECK("start", start("26", NULL, NULL) == 0);
        with_pools();
        without();
    }
    check_end();
    return driver_failures != 0;
}
