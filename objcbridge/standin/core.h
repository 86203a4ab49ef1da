// Declarations shared by the files of libAppleNeuralEngine.so. Nothing here is exported.
//
// Each of Apple's classes has a template here, a class with another name. standin_start makes the class
// with Apple's name, the template's size and those of its methods that the profile has. So templates
// access each other's variables and call C functions instead of methods that a profile may lack.
//
// Not imitated, so nothing is proven about it: models on disk, chaining, shared events' signals,
// real-time tasks, new instances, mutable weights, secure coding, the paravirtual client, performance
// counters, the limit of two loads at a time, and queues by QoS. Texts of errors are those in logs of
// real machines. A purged program still loads from its directory while the object that compiled it is
// alive. No dump shows what real machines do with a model's state after unload, and with MIL functions
// that share names: here the state stays and symbols are shared.
#ifndef STANDIN_CORE_H
#define STANDIN_CORE_H

#import <Foundation/Foundation.h>

#include "cf.h"
#include "standin.h"

// Framework generations, oldest first.
enum profile { PROFILE_15, PROFILE_16_5, PROFILE_17, PROFILE_26, PROFILE_27, PROFILES };

enum {
    QUEUE_DEPTH = 127, // asynchronous slots of a program
    STATE_LOADED = 3,
    SURFACE_LIMIT = 255, // inputs, and outputs, of a request
};

// Counters that several threads change. They use builtins, because clang may find GCC's <stdatomic.h>.
#define counter_add(pointer, n) __atomic_add_fetch(pointer, n, __ATOMIC_SEQ_CST)
#define counter_now(pointer) __atomic_load_n(pointer, __ATOMIC_SEQ_CST)
#define counter_set(pointer, n) __atomic_store_n(pointer, n, __ATOMIC_SEQ_CST)

#pragma GCC visibility push(hidden)

// State of the process, written by standin_start and read afterwards.
struct core {
    int started;
    enum profile profile;
    const char *profile_name;
    int strict_surfaces;
    int several;         // the framework compiles programs with several weight files
    int virtual_machine; // the machine has no engine
    standin_server server;
};
extern struct core core;

Class core_class(const char *apples_name); // the class that standin_start made, or Nil
// An object for the framework's own use. It has the template's class if the class with Apple's name is
// missing.
id core_alloc(const char *apples_name, Class template);
void core_log(NSString *format, ...) NS_FORMAT_FUNCTION(1, 2); // only where STANDIN_LOG is set
_Noreturn void core_die(const char *why); // for calls that crash Apple's framework
// Raises the exception of sending selector to an object of another class. nil passes.
void core_require(id object, const char *apples_name, const char *selector);

// ---- faults; fault.m ----

struct fault {
    int32_t kind; // 0 for none
    int64_t value;
};
// Call first in each method that supports faults: raises, hangs, or returns the fault that the method
// must perform.
struct fault fault_enter(SEL method);
struct fault fault_enter_as(const char *name, SEL method); // for a second class with a method of this selector
int fault_refuses(struct fault f, SEL method, NSError **error);          // STANDIN_NO and STANDIN_NO_ERROR
BOOL fault_leave(struct fault f, SEL method, BOOL done, NSError **error); // STANDIN_YES_ERROR
NSError *fault_error(int64_t code, SEL method);
int fault_is_asynchronous(int32_t kind);
void fault_count(standin_counts *out);

// ---- errors; ane_errors.m ----

// Returns an error of domain com.apple.appleneuralengine with the description "METHOD: text".
NSError *core_error(NSInteger code, NSString *method, NSString *text);
NSError *core_domain_error(NSString *domain, NSInteger code, NSString *description);
static inline BOOL core_fail(NSError **error, NSError *with) {
    if (error) *error = with;
    return NO;
}

#pragma GCC visibility pop

// Superclass of all classes: counts live objects by class.
@interface StandinObject : NSObject
@end

#endif
