// Functions shared by standin_start, the count of objects and the table of versions.
#ifndef STANDIN_REGISTER_H
#define STANDIN_REGISTER_H

#import <objc/runtime.h>

#import "core.h"

enum { CLASS_LIMIT = 32 };

#pragma GCC visibility push(hidden)

void object_count_class(Class c);
int64_t object_total(void);
int64_t registry_instances(const char *name); // "io_object_t" for services not released

// Reports whether the profile has the class (selector NULL) or the method; versions.m.
int version_has(enum profile profile, const char *class_name, const char *selector);

#pragma GCC visibility pop

#endif
