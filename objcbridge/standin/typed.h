// Values of property lists with unknown types: nil if a value does not have the requested type.
#ifndef STANDIN_TYPED_H
#define STANDIN_TYPED_H

#import <Foundation/Foundation.h>

static inline id typed_value(id value, Class type) { return [value isKindOfClass:type] ? value : nil; }
static inline id typed_at(id dictionary, NSString *key, Class type) {
    return typed_value([typed_value(dictionary, [NSDictionary class]) objectForKey:key], type);
}

#define as(type, value) ((type *)typed_value(value, [type class]))
#define at(type, dictionary, key) ((type *)typed_at(dictionary, key, [type class]))

// The item of an array, or nil beyond its end.
static inline id item(NSArray *list, NSUInteger i) { return i < [list count] ? [list objectAtIndex:i] : nil; }

#endif
