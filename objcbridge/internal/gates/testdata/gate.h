// Shared by the gates: programs that drive the bridge over the stand-in framework, with a small server in C.
//
// Like the drivers of the stand-in, a gate prints one line per check and ends with status 0 if all pass.
// Build it as described in driver.h, with -lanebridge and bridge.h in addition. The first argument
// plants a leak, or another fault, that one of the ways of running it must find:
//
//     surface program request   a handle is never released
//     object                    one of the framework's objects is retained once too often
//     data bytes                an NSData, or 64 bytes of malloc, are forgotten
//     directory                 a program's directory is there again after its release
//     stale                     a handle is used after its release
#ifndef GATE_H
#define GATE_H
#define _GNU_SOURCE // dladdr

#include "driver_ane.h"

#include <dlfcn.h>
#include <time.h>

#include "bridge.h"

enum { QOS = 21, TEXT = 4096 };

// The planted leak and its last address, which is overwritten immediately. Only one thread plants.
static struct {
    const char *what;
    void *volatile last;
} planted = {.what = ""};

static inline int plants(const char *what) { return !strcmp(planted.what, what); }

static size_t gate_attributes(void *context, uint64_t program, char *plist, size_t capacity) {
    (void)context, (void)program;
#define GATE_TENSOR(name)                                                                                 \
    "<dict><key>Name</key><string>" name "</string><key>Type</key><string>Float16</string>"               \
    "<key>Batches</key><integer>1</integer><key>BatchStride</key><integer>256</integer>"                  \
    "<key>Channels</key><integer>4</integer><key>PlaneStride</key><integer>64</integer>"                  \
    "<key>Height</key><integer>1</integer><key>RowStride</key><integer>64</integer>"                      \
    "<key>Width</key><integer>32</integer></dict>"
    static const char text[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n"
        "<plist version=\"1.0\"><dict><key>ANEFModelDescription</key><dict>"
        "<key>kANEFModelInputSymbolsArrayKey</key><array><string>x</string></array>"
        "<key>kANEFModelOutputSymbolsArrayKey</key><array><string>y@output</string></array>"
        "<key>kANEFModelProcedureNameToIDMapKey</key><dict><key>main</key><integer>0</integer></dict>"
        "<key>ANEFModelProcedures</key><array><dict><key>ANEFModelProcedureID</key><integer>0</integer>"
        "<key>ANEFModelInputSymbolIndexArray</key><array><integer>0</integer></array>"
        "<key>ANEFModelOutputSymbolIndexArray</key><array><integer>0</integer></array></dict></array></dict>"
        "<key>NetworkStatusList</key><array><dict><key>LiveInputList</key><array>" GATE_TENSOR("x") "</array>"
        "<key>LiveOutputList</key><array>" GATE_TENSOR("y") "</array></dict></array></dict></plist>\n";
    size_t size = sizeof text - 1;
    memcpy(plist, text, size < capacity ? size : capacity);
    return size;
}

// Starts the framework with driver_ane.h's server, whose procedure 0 adds 1 to each byte.
static inline void gate_start(int argc, char **argv) {
    if (argc > 1) planted.what = argv[1];
    standin_config c = {.profile = "26",
                        .server = {NULL, serve_compile, gate_attributes, serve_evaluate, serve_drop_request,
                                   serve_drop_program}};
    CHECK("start", standin_start(&c) == 0);
}

// An open framework with two surfaces.
struct gate {
    aneb *a;
    IOSurfaceRef in, out;
    aneb_surface *x, *y;
};

static inline int32_t gate_open(struct gate *g, aneb_error *e) {
    Dl_info is = {0};
    dladdr(standin_start, &is);
    aneb_config config = {.framework = is.dli_fname, .iokit = is.dli_fname};
    int32_t kind = aneb_open(&config, &g->a, e);
    g->in = surface_of(BYTES);
    g->out = surface_of(BYTES);
    if (kind == ANEB_OK) kind = aneb_surface_wrap(g->a, g->in, 0, &g->x, e);
    if (kind == ANEB_OK) kind = aneb_surface_wrap(g->a, g->out, 0, &g->y, e);
    return kind;
}

// Releases everything; returns the result of aneb_close.
static inline int32_t gate_close(struct gate *g, aneb_error *e) {
    aneb_surface_release(g->x);
    aneb_surface_release(g->y);
    if (g->in) CFRelease(g->in);
    if (g->out) CFRelease(g->out);
    int32_t kind = aneb_close(g->a, e);
    memset(g, 0, sizeof *g);
    return kind;
}

// A program with a request on g's surfaces. text is borrowed until job_end.
struct job {
    aneb_program *p;
    aneb_request *r;
};

static inline int32_t job_request(struct gate *g, struct job *j, aneb_error *e) {
    aneb_binding in = {g->x, 0, 256}, out = {g->y, 0, 256};
    return aneb_request_create(j->p, 0, &in, 1, &out, 1, &j->r, e);
}

static inline int32_t job_begin(struct gate *g, struct job *j, const char *text, aneb_error *e) {
    aneb_weight w = {"@model_path/weights/w.bin", "weight", 6};
    int32_t cached = 0;
    int32_t kind = aneb_program_create(g->a, text, strlen(text), &w, 1, &j->p, e);
    if (kind == ANEB_OK) kind = aneb_program_compile(j->p, QOS, &cached, e);
    if (kind == ANEB_OK) kind = aneb_program_load(j->p, QOS, e);
    if (kind == ANEB_OK) kind = job_request(g, j, e);
    return kind;
}

static inline void job_end(struct job *j) {
    aneb_request_release(j->r);
    aneb_program_release(j->p);
    *j = (struct job){0};
}

// Returns a text of a program that is in no cache. Single-threaded.
static inline const char *fresh_text(char text[32]) {
    static int serial;
    snprintf(text, 32, "program %d", serial++);
    return text;
}

// Plants the leak that the first argument names. j is a running job.
static inline void plant(struct gate *g, struct job *j) {
    void *made = NULL;
    if (plants("surface")) aneb_surface_wrap(g->a, g->in, 0, (aneb_surface **)&made, NULL);
    if (plants("program")) aneb_program_create(g->a, "forgotten", 9, NULL, 0, (aneb_program **)&made, NULL);
    if (plants("request")) {
        struct job other = *j;
        job_request(g, &other, NULL);
        made = other.r;
    }
    @autoreleasepool {
        if (plants("object")) made = [wrap(g->in) retain];
        if (plants("data")) made = [[NSData alloc] initWithBytes:"leak" length:4];
    }
    if (plants("bytes")) made = malloc(64);
    if (plants("stale")) {
        aneb_surface *s = NULL;
        aneb_surface_wrap(g->a, g->in, 0, &s, NULL);
        aneb_surface_release(s);
        aneb_surface_release(s);
    }
    planted.last = made; // keeps the compiler from removing the allocation
    planted.last = NULL;
}

// Ends j. A planted directory is made again.
static inline void job_end_planted(struct job *j) {
    aneb_program_facts facts = {0};
    aneb_program_inspect(j->p, &facts, NULL);
    char *path = plants("directory") ? strdup(facts.path) : NULL;
    job_end(j);
    if (path) mkdir(path, 0700);
    free(path);
}

// Waits at most a minute for threads of the framework and of the bridge.
#define SETTLED(condition)                                              \
    ({                                                                  \
        for (int tries = 0; tries < 60000 && !(condition); tries++) usleep(1000); \
        (condition);                                                    \
    })

// Returns the number of live handles of the bridge, of all kinds.
static inline int64_t bridge_holds(void) {
    aneb_usage u;
    aneb_usage_now(&u);
    return u.surfaces + u.programs + u.requests + u.identities + u.loaded;
}

// Returns the number of live objects of the framework and its surfaces, without the cache.
static inline int64_t framework_holds(void) {
    standin_counts c;
    standin_surface_stats s;
    standin_count(&c);
    standin_surface_count(&s);
    return c.instances + c.loaded + c.slots + c.lost + s.objects;
}

static inline void print_usage(const char *what, int64_t count) {
    if (count) printf("  %s: %lld alive\n", what, (long long)count);
}

static inline void tell_usages(void) {
    aneb_usage u;
    aneb_usage_now(&u);
    print_usage("aneb_surface", u.surfaces);
    print_usage("aneb_program", u.programs);
    print_usage("aneb_request", u.requests);
    print_usage("directory in use", u.identities);
    print_usage("loaded program", u.loaded);
}

// Closes g and checks that nothing is left in the bridge or the framework. The framework's threads
// release a request shortly after they have answered. Planted leaks are not waited for.
static inline void gate_end(struct gate *g) {
    aneb_error e = {0};
    CHECK("close", gate_close(g, &e) == ANEB_OK);
    if (e.kind) printf("  %s\n", e.message);
    CHECK("the bridge holds nothing", bridge_holds() == 0);
    tell_usages();
    standin_purge_all();
    if (!planted.what[0]) CHECK("the framework holds nothing", SETTLED(framework_holds() == 0));
    check_end();
}

#endif
