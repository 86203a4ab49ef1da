// What a dump of a real machine has the framework answer instead of its own facts. The dump is read elsewhere;
// here is one property list of tables: "model", "device", "registry", "qos", "texts", "limits" and "errors".
#ifndef STANDIN_REPLAY_H
#define STANDIN_REPLAY_H

#import <Foundation/Foundation.h>

#include <stdint.h>

#import "core.h"

#pragma GCC visibility push(hidden)

// Takes the property list; NULL for none. Returns 0, or 1 when it is not a property list. Called once.
int replay_start(const char *text);

// What the table says at key, when it is of that class, else nil.
id replay_value(NSString *table, NSString *key, Class type);
int64_t replay_number(NSString *table, NSString *key, int64_t own);
BOOL replay_flag(NSString *table, NSString *key, BOOL own);
NSString *replay_string(NSString *table, NSString *key, NSString *own);

// The dumped error of a stage, autoreleased, or nil when the call goes on: "compile", "load", "evaluate", "map",
// "unload", "chaining" or "wall". A transient error stops after as many calls as the dump says.
NSError *replay_error(NSString *stage);

// How a dumped call ended that did not end with an NSError: what the method is to do, kind 0 for its work. Raises
// where the dump has an exception.
struct fault replay_fault(SEL method);
// The dumped error that a method sets although it returns YES, or nil.
NSError *replay_contradiction(SEL method);

#pragma GCC visibility pop

#endif
