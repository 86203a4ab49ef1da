// The framework's NSErrors, in the words that have been seen of it.
#ifndef STANDIN_ERRORS_H
#define STANDIN_ERRORS_H

#import <Foundation/Foundation.h>

#include <stdint.h>

#pragma GCC visibility push(hidden)

// An error of any domain. description, more and cause may be nil. Autoreleased, as all here.
NSError *error_nested(NSString *domain, NSInteger code, NSString *description, NSDictionary *more, NSError *cause);
// The error of a code of com.apple.appleneuralengine: "METHOD: text", and with a status "METHOD: text (0x1D)".
NSError *error_plain(NSInteger code, NSString *method);
NSError *error_status(NSInteger code, NSString *method, int64_t status);
// The text of a code, without the method; a replayed dump goes first.
NSString *error_text(NSInteger code);
// The whole text that the framework would write for a code which a dump gives without text, or nil.
NSString *error_text_of(NSInteger code, NSString *stage, int64_t status, BOOL has_status);

// From 27 on, statuses with a code of their own; ane_errors_27.m. nil for others.
NSError *error_27(NSString *method, int64_t status);
NSError *error_27_load(NSString *method);                // no memory
NSString *error_27_text(NSInteger code, int64_t status); // without the method, or nil

// Selectors that stand in texts.
extern NSString *const method_evaluate, *const method_load, *const method_map, *const method_cached;

#pragma GCC visibility pop

#endif
