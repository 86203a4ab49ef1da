// The C interface of the bridge to AppleNeuralEngine.framework.
//
// Every function may be called from any thread, never raises, and returns ANEB_OK or the kind of its failure,
// which *error describes if error is not NULL. The caller owns handles and passes each to its release
// function exactly once, after the last call that uses it. Pointer arguments are borrowed during the call
// unless a comment states otherwise. Strings are UTF-8 and end with a zero byte.
#ifndef ANEB_BRIDGE_H
#define ANEB_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

#define ANEB_VERSION 6

enum aneb_kind {
    ANEB_OK = 0,
    ANEB_NSERROR = 1,       // NO, or nil, with an NSError
    ANEB_NO = 2,            // NO without an NSError
    ANEB_EXCEPTION = 3,     // an Objective-C exception was caught
    ANEB_CONTRADICTION = 4, // YES together with an NSError; counts as failed
    ANEB_NIL = 5,           // a factory returned nil
    ANEB_MISSING = 6,       // library, class or selector missing, or encoding changed
    ANEB_REFUSED = 7,       // rejected by a rule of the bridge: code is an aneb_reason
};

enum aneb_reason {
    ANEB_ARGUMENT = 1, // NULL, empty or out of range
    ANEB_SHORT = 2,    // a surface shorter than the program needs
    ANEB_OFFSET = 3,   // a start offset: the engine reads surfaces from byte 0
    ANEB_INDEX = 4,    // a symbol or procedure that the program does not have
    ANEB_CROWDED = 5,  // this process has reached its limit of loaded programs
    ANEB_STATE = 6,    // not compiled, not loaded, still in use, or the same request in flight
    ANEB_FILE = 7,     // the program's files cannot be written
    ANEB_RELOAD = 8,   // the compiled program and its files are gone: create the program again
    ANEB_HELD = 9,     // another process compiles or loads the same program, and has not ended in time
};

enum aneb_stage {
    ANEB_OPEN = 1, ANEB_CHECK, ANEB_DEVICE, ANEB_SURFACE, ANEB_CREATE, ANEB_COMPILE, ANEB_LOAD,
    ANEB_DESCRIBE, ANEB_REQUEST, ANEB_EVALUATE, ANEB_UNLOAD, ANEB_PURGE, ANEB_CLOSE,
};

typedef struct {
    int32_t kind, stage;
    int64_t code;                 // NSError code, aneb_reason or errno
    int32_t has_status;           // status was found, in userInfo or in the message
    uint32_t status, status_type; // the driver's; status_type is 0 if only status is known
    int32_t load_stage;           // userInfo's _ANEErrorLoadStage, 0 if it has none
    char domain[64];              // NSError domain
    char exception[64];           // exception name
    char message[1024];           // NSError description, exception reason or the bridge's text; cut at a character
    // The causes (NSUnderlyingErrorKey), outermost first, one line each:
    // "domain<TAB>code<TAB>description\n". At most 4: the first three and the innermost, whose text is
    // not shortened.
    char causes[2048];
} aneb_error;

typedef struct aneb aneb;                 // an open framework
typedef struct aneb_surface aneb_surface; // a wrapped IOSurface
typedef struct aneb_program aneb_program; // descriptor, model, files and state of one program
typedef struct aneb_request aneb_request; // surfaces bound to symbols

uint32_t aneb_version(void); // ANEB_VERSION the library was built with

// Framework. It stays loaded until the process ends.
typedef struct {
    const char *framework; // path of AppleNeuralEngine, or of its stand-in
    const char *iokit;     // path of IOKit for aneb_registry; may be NULL
    int32_t program_limit; // limit of loaded programs in this process; 0 means 100
    int32_t keep_files;    // if not 0, a program's files stay from its load to its unload
} aneb_config;
int32_t aneb_open(const aneb_config *config, aneb **out, aneb_error *error);
int32_t aneb_close(aneb *a, aneb_error *error); // ANEB_STATE while a handle made with it is alive

enum aneb_status { ANEB_FOUND = 0, ANEB_NO_CLASS = 1, ANEB_NO_SELECTOR = 2, ANEB_OTHER_ENCODING = 3 };
typedef struct {
    const char *class_name, *selector, *expected, *found; // encodings without offsets; valid until aneb_close
    const char *needed_for;
    int32_t class_method, required, status;
} aneb_check;
// Fills at most capacity rows and sets *count to the number of rows. ANEB_MISSING if a required row is
// not found: then no surface and no program can be made, while aneb_device_info and aneb_registry still
// work, each value by its own row.
int32_t aneb_self_check(aneb *a, aneb_check *rows, int32_t capacity, int32_t *count, aneb_error *error);

// Folders for temporary files. A framework that verifies (382.11, macOS 27) takes the files of programs only
// from the user's folder; the framework puts them into the process's, which TMPDIR changes.
typedef struct {
    int32_t verifies;  // the framework compares a program's files with their hashes
    int32_t foreign;   // the process's folder is another one than the user's; 0 if that is not known
    char process[1024], user[1024]; // NSTemporaryDirectory() and DARWIN_USER_TEMP_DIR; empty if not known
} aneb_folders;
int32_t aneb_folders_now(aneb *a, aneb_folders *out, aneb_error *error);

// Device. Unknown numbers are -1 and unknown strings empty. Both functions work whatever the result of
// the self-check.
typedef struct {
    int32_t has_ane, virtual_machine, internal_build, engines, cores;
    int64_t board;
    char architecture[32], subtype[32], variant[32], product[64], build[64];
} aneb_device;
int32_t aneb_device_info(aneb *a, aneb_device *out, aneb_error *error);
// Lines "service<TAB>name<TAB>value" of DeviceProperties of the services H11ANEIn and, if it exists,
// H1xANELoadBalancer. *length is the full length without the final zero byte, even if capacity is less.
int32_t aneb_registry(aneb *a, char *text, size_t capacity, size_t *length, aneb_error *error);

// Surfaces. The handle retains the IOSurfaceRef. offset must be 0.
int32_t aneb_surface_wrap(aneb *a, void *iosurface, size_t offset, aneb_surface **out, aneb_error *error);
int32_t aneb_surface_unlock(aneb_surface *s, aneb_error *error); // releases the CPU's lock, options 0
int32_t aneb_surface_lock(aneb_surface *s, aneb_error *error);   // takes it again; fails if the address changed
void aneb_surface_release(aneb_surface *s);

// Programs. Text and weights are used in place: they must stay valid until aneb_program_release.
typedef struct {
    const char *path; // path in the text: "@model_path/weights/weight.bin"
    const void *data;
    size_t size;
} aneb_weight;
int32_t aneb_program_create(aneb *a, const void *text, size_t size, const aneb_weight *weights, int32_t count,
                            aneb_program **out, aneb_error *error);
// How long each later call on p waits for other processes; at first 30 s. All processes that make a program of
// the same text and weights have one directory for it. So compile, load, unload, purge and release wait until no
// other process is in one of them, or between a compile that wrote files and its load. ANEB_HELD if that takes
// longer; release then goes on.
void aneb_program_patience(aneb_program *p, int64_t milliseconds);
// Writes the files and compiles, unless the framework has the program in its cache. Once per program.
int32_t aneb_program_compile(aneb_program *p, uint32_t qos, int32_t *cached, aneb_error *error);
// Whether later loads keep the program's memory wired (kANEFKeepModelMemoryWiredKey 1) or let it be paged out (0).
// ANEB_DEFAULT, as at first, passes no option. ANEB_MISSING if the framework does not export the key.
enum aneb_residency { ANEB_DEFAULT = 0, ANEB_WIRED = 1, ANEB_PAGEABLE = 2 };
int32_t aneb_program_reside(aneb_program *p, int32_t residency, aneb_error *error);
// Loads, and removes the files: the loaded program does not need them. If the framework rejects the load, retries
// once after 100 ms, before the files are removed.
int32_t aneb_program_load(aneb_program *p, uint32_t qos, aneb_error *error);
int32_t aneb_program_unload(aneb_program *p, uint32_t qos, aneb_error *error);
int32_t aneb_program_purge(aneb_program *p, aneb_error *error); // removes the program from the framework's cache
// Unloads if necessary and removes the files. If unloading fails twice, the program stays loaded and
// counted.
void aneb_program_release(aneb_program *p);

typedef struct {
    const char *identity; // hexStringIdentifier; valid as long as the program, like path
    const char *path;     // localModelPath
    uint64_t handle, intermediate, state;
    int32_t loaded, queue_depth;
    uint32_t perf_stats_mask;
    aneb_error recovered; // error of the first try of the last load, which then succeeded; kind 0 for none
} aneb_program_facts;
int32_t aneb_program_inspect(aneb_program *p, aneb_program_facts *out, aneb_error *error);

// modelAttributes of a loaded program as JSON, in UTF-8 without a final zero byte: strings, numbers, booleans,
// arrays and dictionaries as in the framework, objects of other classes as {"$class": NAME}. *length is the
// full length, even if capacity is less.
int32_t aneb_program_attributes(aneb_program *p, char *text, size_t capacity, size_t *length, aneb_error *error);

// Requests. A request holds its surfaces and is valid for every later load of p's text. The numbers of
// procedures and symbols are the program's, from its attributes.
typedef struct {
    aneb_surface *surface;
    int32_t index; // index of the symbol, 0 to 254
    int64_t bytes; // bytes that the symbol needs; a shorter surface is ANEB_SHORT
} aneb_binding;
int32_t aneb_request_create(aneb_program *p, int32_t procedure, const aneb_binding *in, int32_t in_count,
                            const aneb_binding *out, int32_t out_count, aneb_request **made, aneb_error *error);
int32_t aneb_evaluate(aneb_program *p, aneb_request *r, uint32_t qos, aneb_error *error);
void aneb_request_release(aneb_request *r);

// This process's usage and live objects, over all frameworks.
typedef struct {
    int64_t compiles, loaded, program_limit;          // compiles so far; loaded programs
    int64_t programs, surfaces, requests, identities; // live handles; identities are directories in use
} aneb_usage;
void aneb_usage_now(aneb_usage *out);

#endif
