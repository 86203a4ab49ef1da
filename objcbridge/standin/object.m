// Live objects by class.
#import "core.h"

#include <string.h>

#import "register.h"

static struct {
    Class classes[CLASS_LIMIT];
    int64_t alive[CLASS_LIMIT];
    int count;
} counted;

void object_count_class(Class c) { counted.classes[counted.count++] = c; }

static void add(Class c, int64_t n) {
    for (int i = 0; i < counted.count; i++)
        if (counted.classes[i] == c) counter_add(&counted.alive[i], n);
}

int64_t object_total(void) {
    int64_t total = 0;
    for (int i = 0; i < counted.count; i++) total += counter_now(&counted.alive[i]);
    return total;
}

Class core_class(const char *name) {
    for (int i = 0; i < counted.count; i++)
        if (!strcmp(class_getName(counted.classes[i]), name)) return counted.classes[i];
    return Nil;
}

id core_alloc(const char *apples_name, Class template) {
    Class c = core_class(apples_name);
    return [c ? c : template alloc];
}

int64_t standin_instances(const char *class_name) {
    for (int i = 0; class_name && i < counted.count; i++)
        if (!strcmp(class_getName(counted.classes[i]), class_name)) return counter_now(&counted.alive[i]);
    return registry_instances(class_name);
}

@implementation StandinObject

+ (id)allocWithZone:(NSZone *)zone {
    id o = [super allocWithZone:zone];
    if (o) add(self, 1);
    return o;
}

- (void)dealloc {
    add(object_getClass(self), -1);
    [super dealloc];
}

@end
