// Controls of the stand-in for AppleNeuralEngine.framework, CoreFoundation and
// IOSurface. Only tests and the standin engine include this; the bridge does not.
#ifndef STANDIN_H
#define STANDIN_H

#include <stddef.h>
#include <stdint.h>

#define STANDIN_VERSION 2

// ---- libstandinsurface.so: CoreFoundation and IOSurface ----

typedef struct {
    int64_t objects;  // live CoreFoundation objects, including surfaces, without constants
    int64_t surfaces; // live IOSurfaces
    int64_t locks;    // locks held over all surfaces
    int64_t bytes;    // mapped bytes
    int64_t retains, releases;
} standin_surface_stats;
void standin_surface_count(standin_surface_stats *out);
// Makes the nth call from now of the named function fail as Apple's does: NULL, 0, or an error code. nth
// 0 disarms the fault.
void standin_surface_fail(const char *function, int32_t nth);
// Makes a surface on an existing file of at least size bytes, mapped a second time. The caller owns one
// reference and still owns fd. NULL if it cannot be mapped.
void *standin_surface_adopt(int32_t fd, size_t size);
int32_t standin_surface_locks(void *surface); // locks held on this one

// Sets the user's folder for temporary files, which confstr answers for _CS_DARWIN_USER_TEMP_DIR. Without a call, or
// after one with NULL, it is the one that ANEKIT_STANDIN_TEMP_DIR names in the environment, or /tmp.
void standin_set_temp_dir(const char *dir);
size_t standin_temp_dir(char *buffer, size_t size); // as confstr

// ---- libAppleNeuralEngine.so: the framework ----

// What becomes of a text.
enum standin_compiled {
    STANDIN_COMPILED = 0,
    STANDIN_INVALID = 1,    // InvalidMILProgram
    STANDIN_LIMIT = 2,      // refused without a reason: beyond a limit of the chip
    STANDIN_REFUSED_22 = 3, // the compiler returns 22
    STANDIN_DIED = 4,       // the compiler's process ends: NO without an NSError
};

// The server of compile and evaluate: the software engine. All functions may be called from several
// threads.
typedef struct {
    void *context;
    // Compiles the MIL text and weights in directory. Returns STANDIN_COMPILED and a program, or another
    // enum standin_compiled and a message.
    int32_t (*compile)(void *context, const char *directory, uint64_t *program, char *message, size_t capacity);
    // Writes the program's modelAttributes as an XML property list and returns its length, even if it
    // exceeds capacity.
    size_t (*attributes)(void *context, uint64_t program, char *plist, size_t capacity);
    // Runs a procedure. Surfaces are ids in ascending order of symbols, inputs then outputs. request
    // identifies the request object, so that the server can keep what it has bound for it. Returns the
    // driver's status, 0 for success.
    uint32_t (*evaluate)(void *context, uint64_t program, uint32_t procedure, uint64_t request,
                         const uint32_t *inputs, int32_t input_count, const uint32_t *outputs, int32_t output_count);
    void (*drop_request)(void *context, uint64_t request); // the request object is released
    void (*drop_program)(void *context, uint64_t program); // no cache and no model owns it any more
} standin_server;

typedef struct {
    const char *profile;        // "15", "16.5", "17", "26", "27", "27-names" or "26-vm"
    const char *const *missing; // "Class" or "Class selector", terminated by NULL; may be NULL
    const char *const *changed; // "Class selector encoding": found with this encoding instead; may be NULL
    const char *pool;           // the file whose bytes are the machine's slots; NULL: this process has its own
    const char *replay;         // an XML property list of a dumped machine's answers, see replay.h; may be NULL
    int32_t slots;              // of the machine, unless replay has them; 0 means 126
    int32_t strict_surfaces;    // not 0: 0x1d for surfaces below 48 KiB, and of unequal size on a side
    standin_server server;
} standin_config;
// Registers the classes. Once per process: returns 0, or 1 for an unknown profile, 2 if already started,
// 3 if replay is not a property list, 4 if the pool cannot be opened.
int32_t standin_start(const standin_config *config);

enum standin_fault_kind {
    STANDIN_EXCEPTION = 1,    // raises NSInternalInconsistencyException
    STANDIN_NIL = 2,          // returns nil (object-returning methods)
    STANDIN_NO = 3,           // returns NO, error unchanged
    STANDIN_NO_ERROR = 4,     // returns NO with an NSError of the given code
    STANDIN_YES_ERROR = 5,    // works, returns YES, and sets an NSError
    STANDIN_HANG = 6,         // blocks until standin_release_hangs, then continues
    STANDIN_LATE = 7,         // asynchronous: calls the completion milliseconds late
    STANDIN_TWICE = 8,        // asynchronous: calls the completion twice
    STANDIN_NEVER = 9,        // asynchronous: withholds the completion
    STANDIN_ASYNC_ERROR = 10, // asynchronous: calls the completion with NO and an NSError of the given code
    STANDIN_LOCKED = 11,      // evaluate ignores surfaces that the CPU holds locked: succeeds, writes nothing
};
// Arms a fault on a selector for its next count calls (-1: until disarmed, 0: disarms it). value is the
// NSError code, or milliseconds. Returns 0, or 1 if the selector does not support the fault.
int32_t standin_fault(const char *selector, int32_t kind, int32_t count, int64_t value);
void standin_release_hangs(void);   // lets every hanging call continue and disarms the hang faults
void standin_fire_lost(void);       // delivers completions withheld by STANDIN_NEVER
void standin_clear_faults(void);    // disarms all faults and releases hangs

typedef struct {
    int64_t compiles, held, cached, loaded; // programs compiled; slots held; programs in the cache, loaded
    int64_t instances;                        // live objects of the framework's classes
    int64_t hanging, lost;                    // blocked calls, withheld completions
    int64_t evaluations, slots;               // evaluations served; asynchronous ones in flight
    int64_t loads, procedures;                // loads since the start; procedures of the loaded programs
    int64_t wired, pageable;                  // loads with the option to keep memory wired, 1 and 0
} standin_counts;
void standin_count(standin_counts *out);
int64_t standin_instances(const char *class_name); // live objects of one class
void standin_purge_all(void); // empties the cache

#endif
