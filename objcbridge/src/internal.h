// Declarations shared by the files of the bridge. Lock order: an identity's mutex, then a
// program's, then the process's. A program's mutex is held to read modelAttributes and to make
// requests. The process's mutex is held to load the framework, and never during a call into
// it.
#ifndef ANEB_INTERNAL_H
#define ANEB_INTERNAL_H

#import "apple.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#pragma GCC visibility push(default)
#include "bridge.h"
#pragma GCC visibility pop

// ---- errors.m: failures, and the guard around every entry ----

// Runs body in an autorelease pool and converts exceptions to ANEB_EXCEPTION. e may be NULL
// here and in every function below. All return the kind that they describe.
int32_t aneb_guard(aneb_error *e, int32_t stage, int32_t (^body)(void));
int32_t aneb_fail(aneb_error *e, int32_t stage, int32_t kind, int64_t code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
#define aneb_refuse(e, stage, reason, ...) aneb_fail(e, stage, ANEB_REFUSED, reason, __VA_ARGS__)
// For an entry whose handle is NULL.
#define aneb_null(e, stage) aneb_refuse(e, stage, ANEB_ARGUMENT, "%s: the handle is NULL", __func__)
// The BOOL of method decides. cause is the usual cause of a NO without an NSError.
int32_t aneb_judge(aneb_error *e, int32_t stage, BOOL ok, NSError *error, const char *method, const char *cause);

// ---- text.m: C strings from and to Objective-C ----

bool aneb_utf8_valid(const char *text);
// Copies at most capacity-1 bytes, cut at a whole character, and always well-formed: zero
// bytes become spaces, invalid bytes become question marks.
void aneb_text_copy(char *out, size_t capacity, const char *bytes, size_t size);
void aneb_text_from(char *out, size_t capacity, id string); // empty if string is not an NSString
char *aneb_text_new(id string);                              // malloc; NULL if it is not an NSString

// ---- process.m: state of the process ----

struct aneb_identity;

// The only mutable state outside handles. Classes share one name space, the machine's slots are
// taken for a process, and programs of one identity share a directory. So this state belongs to
// the process, over all frameworks.
struct aneb_process {
    atomic_llong compiles, loaded;                            // used, held
    atomic_llong program_limit;                               // of the last aneb_open
    atomic_llong programs, surfaces, requests, identities;    // alive
    pthread_mutex_t mutex;                                    // guards the fields below
    void *library;                                            // the framework whose classes are in use
    struct aneb_identity *first;                              // list of identities
};
extern struct aneb_process aneb_process;
// Adds one to *count unless it has reached limit.
bool aneb_take(atomic_llong *count, int64_t limit);

// ---- framework.m, selfcheck.m ----

enum aneb_row {
    ANEB_ROW_DESCRIPTOR, ANEB_ROW_MODEL, ANEB_ROW_IDENTITY, ANEB_ROW_PATH, ANEB_ROW_EXISTS, ANEB_ROW_COMPILE,
    ANEB_ROW_LOAD, ANEB_ROW_EVALUATE, ANEB_ROW_UNLOAD, ANEB_ROW_ATTRIBUTES, ANEB_ROW_REQUEST, ANEB_ROW_SURFACE,
    ANEB_ROW_PURGE, ANEB_ROW_VALIDATE, ANEB_ROW_HANDLE, ANEB_ROW_INTERMEDIATE, ANEB_ROW_STATE,
    ANEB_ROW_DEPTH, ANEB_ROW_MASK, ANEB_ROW_INNER, ANEB_ROW_INNER_ATTRIBUTES,
    ANEB_ROW_HAS_ANE, ANEB_ROW_VIRTUAL, ANEB_ROW_INTERNAL, ANEB_ROW_ENGINES, ANEB_ROW_CORES, ANEB_ROW_BOARD,
    ANEB_ROW_ARCHITECTURE, ANEB_ROW_SUBTYPE, ANEB_ROW_VARIANT, ANEB_ROW_PRODUCT, ANEB_ROW_BUILD,
    ANEB_ROWS,
};

struct aneb {
    char *framework, *iokit; // iokit may be NULL
    int64_t program_limit;
    bool keep_files;
    Class<ANEBDescriptor> descriptor;
    Class<ANEBModel> model;
    Class<ANEBRequest> request;
    Class<ANEBSurface> surface;
    Class<ANEBDeviceInfo> device;
    NSDictionary *options;    // empty, never nil
    NSString *wired;          // the key of the load option; nil if the framework exports none
    atomic_llong alive;       // surfaces, programs and requests
    bool usable;              // true if every required row was found
    int32_t status[ANEB_ROWS];
    char expected[ANEB_ROWS][32], found[ANEB_ROWS][128];
};
void aneb_check_all(aneb *a); // fills classes, rows and usable
// ANEB_OK if a can be used; otherwise ANEB_REFUSED for NULL, ANEB_MISSING with the first bad
// row.
int32_t aneb_usable(aneb *a, int32_t stage, aneb_error *e);
// ANEB_OK if an optional row was found too.
int32_t aneb_offers(aneb *a, int32_t row, int32_t stage, aneb_error *e);

// ---- surface.m ----

struct aneb_surface {
    aneb *owner;
    atomic_int refs; // the caller's and one per request
    id<ANEBSurface> object;
    IOSurfaceRef ref;
    void *_Atomic base; // NULL until a lock returns it
    size_t size;
};
void aneb_surface_drop(aneb_surface *s);

// ---- program.m, compile.m, load.m ----

#define ANEB_UNLOADED (-1)

struct aneb_program {
    aneb *owner;
    atomic_int gate; // ANEB_UNLOADED, or the number of runs in flight
    id<ANEBModel> model;
    NSDictionary *files; // path inside the directory to NSData, including model.mil
    char *identity, *path;
    uint64_t text_hash;  // of the MIL text: equal texts have equal symbols
    struct aneb_identity *shared;
    atomic_int residency;  // of loads
    atomic_llong patience; // milliseconds to wait for other processes
    bool compiled, holds_files, claims; // guarded by the identity's mutex until the last release; see identity.m
    pthread_mutex_t mutex;      // held while modelAttributes is read and requests are made
    aneb_error recovered;       // see aneb_program_facts; guarded by mutex
};
int32_t aneb_unload_locked(aneb_program *p, uint32_t qos, aneb_error *e);
// Sets *cached if the framework has p in its cache. Call with the identity locked.
int32_t aneb_cached(aneb_program *p, int32_t stage, BOOL *cached, aneb_error *e);
// Makes both dictionaries of a program's weights and checks them: the descriptor's and the
// files'.
int32_t aneb_weights(const aneb_weight *weights, int32_t count, NSMutableDictionary *descriptor,
                     NSMutableDictionary *files, aneb_error *e);

// ---- identity.m: programs of one identity share a mutex, a directory, and a lock between processes ----

struct aneb_identity *aneb_identity_join(const char *path); // NULL without memory
void aneb_identity_leave(struct aneb_identity *i);
// Locks p's identity in this process and against others. ANEB_HELD, with nothing locked, if another process
// holds it for longer than p's patience.
int32_t aneb_identity_lock(aneb_program *p, int32_t stage, aneb_error *e);
void aneb_identity_lock_anyway(aneb_program *p); // after p's patience without the other processes
void aneb_identity_unlock(aneb_program *p);      // other processes wait on while a program of this one claims files
// Call with the identity locked. aneb_files_write writes p's files, makes p a user of the
// directory, and claims it against other processes. aneb_files_settle ends the claim: p is
// loaded. aneb_files_drop ends claim and use; the last user removes the directory.
// aneb_files_present reports whether p can load from the directory.
int32_t aneb_files_write(aneb_program *p, aneb_error *e);
void aneb_files_settle(aneb_program *p);
void aneb_files_drop(aneb_program *p);
bool aneb_files_present(aneb_program *p);

// ---- hold.m: a lock between processes, beside a directory ----

// Waits at most so long. Returns a descriptor for aneb_hold_end, ANEB_NO_HOLD if no file can be made there, or
// ANEB_HELD_ELSEWHERE.
#define ANEB_NO_HOLD (-1)
#define ANEB_HELD_ELSEWHERE (-2)
int aneb_hold_begin(const char *directory, int64_t milliseconds);
void aneb_hold_end(const char *directory, int hold);

// ---- tree.m: directories, never through a symbolic link ----

int aneb_tree_make(const char *path); // descriptor of a new or existing directory, or -errno
int aneb_tree_write(int directory, const char *path, const void *bytes, size_t size); // 0 or errno
int aneb_tree_remove(const char *path);                                               // 0 or errno

// ---- request.m, evaluate.m ----

struct aneb_request {
    aneb *owner;
    atomic_bool busy; // in flight
    id<ANEBRequest> object;
    uint64_t text_hash;
    aneb_surface **surfaces;
    int32_t surface_count;
};

#endif
