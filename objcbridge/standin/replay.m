// Lookups in what is replayed.
#import "replay.h"

#include <stdlib.h>
#include <string.h>

#import "core.h"
#import "errors.h"
#import "typed.h"

static NSDictionary *tables; // set once, before any class is made
static int64_t *calls;       // refused so far, for each row of "errors"

int replay_start(const char *text) {
    if (!text) return 0;
    NSData *data = [NSData dataWithBytes:text length:strlen(text)];
    id list = nil;
    @try {
        list = [NSPropertyListSerialization propertyListWithData:data options:NSPropertyListImmutable format:NULL error:NULL];
    } @catch (id e) {
        core_log(@"standin: replay: %@", e);
    }
    tables = [as(NSDictionary, list) retain];
    NSUInteger rows = [at(NSArray, tables, @"errors") count];
    calls = calloc(rows + 1, sizeof *calls);
    return !tables || !calls;
}

id replay_value(NSString *table, NSString *key, Class type) {
    return typed_at([tables objectForKey:table], key, type);
}

int64_t replay_number(NSString *table, NSString *key, int64_t own) {
    NSNumber *n = replay_value(table, key, [NSNumber class]);
    return n ? [n longLongValue] : own;
}

BOOL replay_flag(NSString *table, NSString *key, BOOL own) {
    NSNumber *n = replay_value(table, key, [NSNumber class]);
    return n ? [n boolValue] : own;
}

NSString *replay_string(NSString *table, NSString *key, NSString *own) {
    NSString *s = replay_value(table, key, [NSString class]);
    return s ? s : own;
}

static NSString *const generic = @"com.apple.appleneuralengine";

// The errors of a list, each the cause of the one before it; nil at its end.
static NSError *cause(NSArray *list, NSUInteger i) {
    NSDictionary *row = as(NSDictionary, item(list, i));
    if (!row) return nil;
    NSString *domain = at(NSString, row, @"domain");
    return error_nested(domain ? domain : generic, [at(NSNumber, row, @"code") integerValue], at(NSString, row, @"text"), nil,
                        cause(list, i + 1));
}

static NSError *error_of(NSDictionary *row, NSString *stage) {
    NSString *domain = at(NSString, row, @"domain"), *text = at(NSString, row, @"text");
    NSNumber *status = at(NSNumber, row, @"status");
    NSInteger code = [at(NSNumber, row, @"code") integerValue];
    if (!text) text = error_text_of(code, stage, [status longLongValue], status != nil);
    return error_nested(domain ? domain : generic, code, text, at(NSDictionary, row, @"userInfo"),
                        cause(at(NSArray, row, @"underlying"), 0));
}

NSError *replay_error(NSString *stage) {
    NSArray *rows = at(NSArray, tables, @"errors");
    for (NSUInteger i = 0; i < [rows count]; i++) {
        NSDictionary *row = as(NSDictionary, item(rows, i));
        if (![stage isEqual:at(NSString, row, @"stage")]) continue;
        NSNumber *refusals = at(NSNumber, row, @"refusals");
        if (refusals && counter_add(&calls[i], 1) > [refusals longLongValue]) continue;
        return error_of(row, stage);
    }
    return nil;
}
