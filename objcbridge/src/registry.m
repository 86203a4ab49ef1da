#import "internal.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// IOKit's functions, as declared in IOKitLib.h. Their objects are toll-free bridged,
// so CoreFoundation is not needed.
struct iokit {
    void *(*matching)(const char *name);                              // CFMutableDictionaryRef, +1
    uint32_t (*service)(uint32_t port, void *matching);               // consumes matching
    void *(*property)(uint32_t entry, void *key, void *allocator, uint32_t options); // CFTypeRef, +1
    int (*release)(uint32_t object);
};

static bool load(aneb *a, struct iokit *out, aneb_error *e) {
    if (a->iokit == NULL) {
        aneb_fail(e, ANEB_DEVICE, ANEB_MISSING, 0, "the config of aneb_open has no path of IOKit");
        return false;
    }
    void *library = dlopen(a->iokit, RTLD_NOW); // stays loaded, like the framework
    if (library == NULL) {
        const char *why = dlerror();
        aneb_fail(e, ANEB_DEVICE, ANEB_MISSING, 0, "cannot load %s: %s", a->iokit, why == NULL ? "no reason given" : why);
        return false;
    }
    *(void **)&out->matching = dlsym(library, "IOServiceMatching");
    *(void **)&out->service = dlsym(library, "IOServiceGetMatchingService");
    *(void **)&out->property = dlsym(library, "IORegistryEntryCreateCFProperty");
    *(void **)&out->release = dlsym(library, "IOObjectRelease");
    if (out->matching != NULL && out->service != NULL && out->property != NULL && out->release != NULL) return true;
    aneb_fail(e, ANEB_DEVICE, ANEB_MISSING, 0, "%s lacks functions of IOKit", a->iokit);
    return false;
}

// DeviceProperties of a service, autoreleased.
static int32_t properties(const struct iokit *io, const char *name, NSDictionary **out, aneb_error *e) {
    void *matching = io->matching(name);
    uint32_t service = matching == NULL ? 0 : io->service(0, matching);
    if (service == 0) return aneb_fail(e, ANEB_DEVICE, ANEB_MISSING, 0, "the IORegistry has no service %s", name);
    id value = [(id)io->property(service, (void *)@"DeviceProperties", NULL, 0) autorelease];
    io->release(service);
    if (value == nil) return aneb_fail(e, ANEB_DEVICE, ANEB_NIL, 0, "%s has no readable DeviceProperties", name);
    if (![value isKindOfClass:[NSDictionary class]])
        return aneb_fail(e, ANEB_DEVICE, ANEB_MISSING, 0, "DeviceProperties of %s is no dictionary", name);
    *out = value;
    return ANEB_OK;
}

// Returns any value as one line of text.
static NSString *line(id value) {
    NSString *text = [value isKindOfClass:[NSString class]] ? value : [value description];
    NSCharacterSet *breaks = [NSCharacterSet characterSetWithCharactersInString:@"\t\r\n"];
    return [[text componentsSeparatedByCharactersInSet:breaks] componentsJoinedByString:@" "];
}

static NSString *lines(const char *service, NSDictionary *all) {
    NSMutableArray *out = [NSMutableArray array];
    for (id key in all)
        [out addObject:[NSString stringWithFormat:@"%s\t%@\t%@\n", service, line(key), line([all objectForKey:key])]];
    return [[out sortedArrayUsingSelector:@selector(compare:)] componentsJoinedByString:@""];
}

int32_t aneb_registry(aneb *a, char *text, size_t capacity, size_t *length, aneb_error *error) {
    if (a == NULL) return aneb_null(error, ANEB_DEVICE);
    if (length == NULL || (text == NULL && capacity > 0))
        return aneb_refuse(error, ANEB_DEVICE, ANEB_ARGUMENT, "aneb_registry: text or length is NULL");
    *length = 0;
    return aneb_guard(error, ANEB_DEVICE, ^int32_t {
        struct iokit io;
        NSDictionary *all = nil, *balancer = nil;
        if (!load(a, &io, error)) return ANEB_MISSING;
        int32_t result = properties(&io, "H11ANEIn", &all, error);
        if (result != ANEB_OK) return result;
        NSString *text_of = lines("H11ANEIn", all);
        // The root service, which has the number of engines. A machine may have
        // none.
        if (properties(&io, "H1xANELoadBalancer", &balancer, NULL) == ANEB_OK)
            text_of = [text_of stringByAppendingString:lines("H1xANELoadBalancer", balancer)];
        char *whole = aneb_text_new(text_of);
        if (whole == NULL) return aneb_fail(error, ANEB_DEVICE, ANEB_NIL, 0, "no memory for DeviceProperties");
        *length = strlen(whole);
        aneb_text_copy(text, capacity, whole, *length);
        free(whole);
        return ANEB_OK;
    });
}
