// A dump of a real machine that replaces the framework's own answers. Go reads the dump; this file gets
// one property list of tables: "model", "device", "registry", "qos", "texts", "limits" and "errors".
#ifndef STANDIN_REPLAY_H
#define STANDIN_REPLAY_H

#import <Foundation/Foundation.h>

#include <stdint.h>

#import "core.h"

#pragma GCC visibility push(hidden)

// Sets the property list; NULL for none. Returns 0, or 1 if it is not a property list. Called once.
int replay_start(const char *text);

// Returns the table's value at key if it has that class, else nil.
id replay_value(NSString *table, NSString *key, Class type);
int64_t replay_number(NSString *table, NSString *key, int64_t own);
BOOL replay_flag(NSString *table, NSString *key, BOOL own);
NSString *replay_string(NSString *table, NSString *key, NSString *own);

// The dumped error of a stage, autoreleased, or nil if the call continues: "compile", "load",
// "evaluate", "map", "unload", "chaining" or "wall". A transient error ends after the number of calls in
// the dump.
NSError *replay_error(NSString *stage);

// The fault of a method whose dumped call did not end with an NSError; kind 0 if the method works.
// Raises if the dump has an exception.
struct fault replay_fault(SEL method);
// The dumped error that a method sets although it returns YES, or nil.
NSError *replay_contradiction(SEL method);

#pragma GCC visibility pop

#endif
