// The framework's NSErrors, with texts observed from Apple's framework.
#ifndef STANDIN_ERRORS_H
#define STANDIN_ERRORS_H

#import <Foundation/Foundation.h>

#include <stdint.h>

#pragma GCC visibility push(hidden)

// An error of any domain. description, more and cause may be nil. Autoreleased, like all errors here.
NSError *error_nested(NSString *domain, NSInteger code, NSString *description, NSDictionary *more, NSError *cause);
// The error of a code of com.apple.appleneuralengine: "METHOD: text", and with a status "METHOD: text (0x1D)".
NSError *error_plain(NSInteger code, NSString *method);
NSError *error_status(NSInteger code, NSString *method, int64_t status);
// The text of a code without the method; a replayed dump takes precedence.
NSString *error_text(NSInteger code);
// The full text that the framework would write for a code that a dump has without text, or nil.
NSString *error_text_of(NSInteger code, NSString *stage, int64_t status, BOOL has_status);

// From 27 on: errors of statuses that have their own code; see ane_errors_27.m. nil for other statuses.
NSError *error_27(NSString *method, int64_t status);
NSError *error_27_load(NSString *method);                // no slot is free
NSString *error_27_text(NSInteger code, int64_t status); // without the method, or nil

// Selectors that occur in texts.
extern NSString *const method_evaluate, *const method_load, *const method_map, *const method_cached;

#pragma GCC visibility pop

#endif
