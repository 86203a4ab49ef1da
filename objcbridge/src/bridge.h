// The C interface of the bridge to AppleNeuralEngine.framework.
//
// Every function may be called from any thread, never raises, and returns ANEB_OK
// or the kind of its failure, described in *error when that is not NULL. Handles
// belong to the caller, who gives each to its release function exactly once and
// only when no call uses it any more. Pointers passed in are borrowed for the call
// unless a comment says otherwise; strings are UTF-8 and end with a zero byte.
#ifndef ANEB_BRIDGE_H
#define ANEB_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

#define ANEB_VERSION 2

enum aneb_kind {
    ANEB_OK = 0,
    ANEB_NSERROR = 1,       // NO, or nil, with an NSError
    ANEB_NO = 2,            // NO without an NSError
    ANEB_EXCEPTION = 3,     // an Objective-C exception was caught
    ANEB_CONTRADICTION = 4, // YES together with an NSError; counts as failed
    ANEB_NIL = 5,           // a factory returned nil
    ANEB_MISSING = 6,       // library, class or selector missing, or of another encoding
    ANEB_REFUSED = 7,       // by a rule of the bridge: code is an aneb_reason
};

enum aneb_reason {
    ANEB_ARGUMENT = 1, // NULL, empty or out of range
    ANEB_SHORT = 2,    // a surface shorter than the program needs
    ANEB_OFFSET = 3,   // a start offset: the engine reads surfaces from byte 0
    ANEB_INDEX = 4,    // a symbol or procedure that the program does not have
    ANEB_BUDGET = 5,   // this process compiled as often as it may
    ANEB_CROWDED = 6,  // this process loaded as many programs as it may
    ANEB_STATE = 7,    // not compiled, not loaded, still in use, or the same request in flight
    ANEB_FILE = 8,     // the program's files cannot be written
    ANEB_RELOAD = 9,   // compiled program and files are gone: create the program again
};

enum aneb_stage {
    ANEB_OPEN = 1, ANEB_CHECK, ANEB_DEVICE, ANEB_SURFACE, ANEB_CREATE, ANEB_COMPILE, ANEB_LOAD,
    ANEB_DESCRIBE, ANEB_REQUEST, ANEB_EVALUATE, ANEB_UNLOAD, ANEB_PURGE, ANEB_CLOSE,
};

typedef struct {
    int32_t kind, stage;
    int64_t code;                 // NSError code, aneb_reason or errno
    int32_t has_status;           // status was found, in userInfo or in the message
    uint32_t status, status_type; // the driver's; status_type is 0 where only status is told
    int32_t load_stage;           // userInfo's _ANEErrorLoadStage, 0 where it has none
    char domain[64];              // NSError domain
    char exception[64];           // exception name
    char message[1024];           // NSError description, exception reason or own words; cut at a whole character
    // The errors below it (NSUnderlyingErrorKey), outermost first, a line for each:
    // "domain<TAB>code<TAB>description\n". At most 4: the first three and the innermost, whose words are
    // not cut short.
    char causes[2048];
} aneb_error;

typedef struct aneb aneb;                 // an open framework
typedef struct aneb_surface aneb_surface; // a wrapped IOSurface
typedef struct aneb_program aneb_program; // descriptor, model, files and state of one program
typedef struct aneb_request aneb_request; // surfaces tied to symbols

uint32_t aneb_version(void); // ANEB_VERSION the library was built with

// Framework. It stays loaded until the process ends.
typedef struct {
    const char *framework; // path of AppleNeuralEngine, or of what stands in for it
    const char *iokit;     // path of IOKit for aneb_registry; may be NULL
    int32_t compile_limit; // compiles this process may spend; 0 means 110
    int32_t program_limit; // programs it may hold loaded; 0 means 100
} aneb_config;
int32_t aneb_open(const aneb_config *config, aneb **out, aneb_error *error);
int32_t aneb_close(aneb *a, aneb_error *error); // ANEB_STATE while anything made with it is alive

enum aneb_status { ANEB_FOUND = 0, ANEB_NO_CLASS = 1, ANEB_NO_SELECTOR = 2, ANEB_OTHER_ENCODING = 3 };
typedef struct {
    const char *class_name, *selector, *expected, *found; // encodings without offsets; live as long as a
    const char *needed_for;
    int32_t class_method, required, status;
} aneb_check;
// Fills at most capacity rows; *count is how many there are. ANEB_MISSING when a required row is not
// found: then no surface and no program can be made, while aneb_device_info and aneb_registry still
// answer, each value by its own row.
int32_t aneb_self_check(aneb *a, aneb_check *rows, int32_t capacity, int32_t *count, aneb_error *error);

// Device. Numbers are -1 and strings empty where the framework does not tell. Both functions answer
// whatever the self-check found.
typedef struct {
    int32_t has_ane, virtual_machine, internal_build, engines, cores;
    int64_t board;
    char architecture[32], subtype[32], variant[32], product[64], build[64];
} aneb_device;
int32_t aneb_device_info(aneb *a, aneb_device *out, aneb_error *error);
// Lines "service<TAB>name<TAB>value" of DeviceProperties of the services H11ANEIn and, where there is one,
// H1xANELoadBalancer; *length without the final zero byte, even where capacity is less.
int32_t aneb_registry(aneb *a, char *text, size_t capacity, size_t *length, aneb_error *error);

// Surfaces. The handle retains the IOSurfaceRef. offset has to be 0.
int32_t aneb_surface_wrap(aneb *a, void *iosurface, size_t offset, aneb_surface **out, aneb_error *error);
int32_t aneb_surface_unlock(aneb_surface *s, aneb_error *error); // gives up the CPU's lock, options 0
int32_t aneb_surface_lock(aneb_surface *s, aneb_error *error);   // takes it again; fails if the address changed
void aneb_surface_release(aneb_surface *s);

// Programs. Text and weights are used in place: they stay valid until aneb_program_release.
typedef struct {
    const char *path; // as the text names it: "@model_path/weights/weight.bin"
    const void *data;
    size_t size;
} aneb_weight;
int32_t aneb_program_create(aneb *a, const void *text, size_t size, const aneb_weight *weights, int32_t count,
                            aneb_program **out, aneb_error *error);
// Writes the files and compiles, unless the framework has the program cached. Once per program.
int32_t aneb_program_compile(aneb_program *p, uint32_t qos, int32_t *cached, aneb_error *error);
// Loads; when the framework refuses, once more after 100 ms, before the files are removed.
int32_t aneb_program_load(aneb_program *p, uint32_t qos, aneb_error *error);
int32_t aneb_program_unload(aneb_program *p, uint32_t qos, aneb_error *error);
int32_t aneb_program_purge(aneb_program *p, aneb_error *error); // drops the framework's cached copy
// Unloads if need be and removes the files. A program that the framework twice fails to unload stays
// loaded and counted.
void aneb_program_release(aneb_program *p);

typedef struct {
    const char *identity; // hexStringIdentifier; these two live as long as the program
    const char *path;     // localModelPath
    uint64_t handle, intermediate, state;
    int32_t loaded, queue_depth;
    uint32_t perf_stats_mask;
    aneb_error recovered; // what the latest load was refused with before it succeeded; its kind is 0 for nothing
} aneb_program_facts;
int32_t aneb_program_inspect(aneb_program *p, aneb_program_facts *out, aneb_error *error);

// modelAttributes of a loaded program as JSON, in UTF-8 without a final zero byte: strings, numbers, booleans,
// arrays and dictionaries as the framework has them, objects of other classes as {"$class": NAME}. *length is
// that of the whole, even where capacity is less.
int32_t aneb_program_attributes(aneb_program *p, char *text, size_t capacity, size_t *length, aneb_error *error);

// Requests. A request holds its surfaces and serves every later load of p's text. Numbers of procedures and
// symbols are the program's own, from its attributes.
typedef struct {
    aneb_surface *surface;
    int32_t index; // of the symbol, 0 to 254
    int64_t bytes; // that the symbol needs; a shorter surface is ANEB_SHORT
} aneb_binding;
int32_t aneb_request_create(aneb_program *p, int32_t procedure, const aneb_binding *in, int32_t in_count,
                            const aneb_binding *out, int32_t out_count, aneb_request **made, aneb_error *error);
int32_t aneb_evaluate(aneb_program *p, aneb_request *r, uint32_t qos, aneb_error *error);
// Calls done, on some thread and possibly before the return, exactly once if the result is ANEB_OK, else
// never. A caller that waits no longer says so with aneb_forget: if that returns 1, done will not be
// called. The bridge keeps program, request and surfaces alive until the framework has called back.
typedef void (*aneb_done)(void *context, int32_t kind, const aneb_error *error);
int32_t aneb_evaluate_async(aneb_program *p, aneb_request *r, uint32_t qos, aneb_done done, void *context,
                            uint64_t *ticket, aneb_error *error);
int32_t aneb_forget(uint64_t ticket);
void aneb_request_release(aneb_request *r);

// What this process has spent and holds, over all frameworks.
typedef struct {
    int64_t compiles, compile_limit, loaded, program_limit;
    int64_t programs, surfaces, requests, identities; // alive; identities are directories with a user
    int64_t pending, forgotten;                       // asynchronous runs without an answer; of these given up
    int64_t unexpected;                               // completions that came twice or after an error
} aneb_usage;
void aneb_usage_now(aneb_usage *out);

#endif
