// standin_start: the classes of a profile.
#import "register.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#import "ane_program.h"
#import "programs.h"
#import "replay.h"

struct core core;

// On 27 no public program with several weight files compiles. All of them call every file "data"; whether other names
// compile is not known, so there is a profile for each. A virtual machine has the framework, but no engine.
static const struct {
    const char *name;
    enum profile generation;
    int several, virtual_machine;
} profiles[] = {
    {"15", PROFILE_15, 1, 0}, {"16.5", PROFILE_16_5, 1, 0}, {"17", PROFILE_17, 1, 0},       {"26", PROFILE_26, 1, 0},
    {"27", PROFILE_27, 0, 0}, {"27-names", PROFILE_27, 1, 0}, {"26-vm", PROFILE_26, 1, 1},
};

static const struct {
    const char *template_name, *apples_name;
} classes[] = {
    {"StandinDescriptor", "_ANEInMemoryModelDescriptor"},
    {"StandinInMemoryModel", "_ANEInMemoryModel"},
    {"StandinRequest", "_ANERequest"},
    {"StandinSurface", "_ANEIOSurfaceObject"},
    {"StandinClient", "_ANEClient"},
    {"StandinModel", "_ANEModel"},
    {"StandinProgramForEvaluation", "_ANEProgramForEvaluation"},
    {"StandinDeviceInfo", "_ANEDeviceInfo"},
    {"StandinQoSMapper", "_ANEQoSMapper"},
    {"StandinErrors", "_ANEErrors"},
    {"StandinStrings", "_ANEStrings"},
    {"StandinPerformanceStats", "_ANEPerformanceStats"},
    {"StandinPerformanceStatsSurface", "_ANEPerformanceStatsIOSurface"},
    {"StandinSharedEvents", "_ANESharedEvents"},
    {"StandinHashEncoding", "_ANEHashEncoding"},
    {"StandinCloneHelper", "_ANECloneHelper"},
};

void core_log(NSString *format, ...) {
    if (!getenv("STANDIN_LOG")) return;
    va_list arguments;
    va_start(arguments, format);
    NSLogv(format, arguments);
    va_end(arguments);
}

_Noreturn void core_die(const char *why) {
    fprintf(stderr, "standin: %s\n", why);
    abort();
}

void core_require(id object, const char *apples_name, const char *selector) {
    if (object && ![object isKindOfClass:core_class(apples_name)])
        [object doesNotRecognizeSelector:sel_registerName(selector)];
}

// The line "class selector rest" of the list for this method, or NULL. rest may be empty.
static const char *line_about(const char *const *list, const char *class_name, const char *selector) {
    size_t c = strlen(class_name), s = selector ? strlen(selector) : 0;
    for (; list && *list; list++) {
        const char *at = *list;
        if (strncmp(at, class_name, c)) continue;
        at += c;
        if (!selector) {
            if (*at == 0) return at;
            continue;
        }
        if (*at++ != ' ' || strncmp(at, selector, s)) continue;
        at += s;
        if (*at == 0 || *at == ' ') return *at ? at + 1 : at;
    }
    return NULL;
}

static void copy_methods(Class from, Class to, const char *apples_name, const standin_config *config) {
    unsigned count = 0;
    Method *methods = class_copyMethodList(from, &count);
    for (unsigned i = 0; i < count; i++) {
        const char *selector = sel_getName(method_getName(methods[i]));
        const char *types = method_getTypeEncoding(methods[i]);
        if (!version_has(core.profile, apples_name, selector)) continue;
        if (line_about(config->missing, apples_name, selector)) continue;
        const char *other = line_about(config->changed, apples_name, selector);
        if (other && *other) types = other; // the runtime copies it
        class_addMethod(to, sel_registerTypedName(selector, types), method_getImplementation(methods[i]), types);
    }
    free(methods);
}

static void make_class(const char *template_name, const char *apples_name, const standin_config *config) {
    Class template = objc_getClass(template_name);
    if (!template) core_die("a template class is not linked in");
    if (!version_has(core.profile, apples_name, NULL) || line_about(config->missing, apples_name, NULL)) return;
    Class base = [StandinObject class];
    Class made = objc_allocateClassPair(base, apples_name, 0);
    if (!made) core_die("a class of Apple's name exists already");
    size_t extra = class_getInstanceSize(template) - class_getInstanceSize(base);
    if (extra && !class_addIvar(made, "_state", extra, 3, "^v")) core_die("a class cannot be given its size");
    copy_methods(template, made, apples_name, config);
    copy_methods(object_getClass(template), object_getClass(made), apples_name, config);
    objc_registerClassPair(made);
    object_count_class(made);
}

static int32_t start(const standin_config *config) {
    if (core.started) return 2;
    size_t i = 0;
    while (i < sizeof profiles / sizeof profiles[0] && (!config->profile || strcmp(config->profile, profiles[i].name))) i++;
    if (i == sizeof profiles / sizeof profiles[0]) return 1;
    if (replay_start(config->replay)) return 3;
    if (slots_open(config->pool)) return 4;
    core.started = 1;
    core.strict_surfaces = config->strict_surfaces;
    core.profile = profiles[i].generation;
    core.profile_name = profiles[i].name;
    core.several = profiles[i].several;
    core.virtual_machine = profiles[i].virtual_machine;
    core.server = config->server;
    programs_set_wall(replay_number(@"limits", @"programs", config->slots));
    for (i = 0; i < sizeof classes / sizeof classes[0]; i++)
        make_class(classes[i].template_name, classes[i].apples_name, config);
    return 0;
}

int32_t standin_start(const standin_config *config) {
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&once);
    int32_t result;
    @autoreleasepool {
        result = start(config);
    }
    pthread_mutex_unlock(&once);
    return result;
}

void standin_count(standin_counts *out) {
    *out = (standin_counts){.instances = object_total() + registry_instances("io_object_t")};
    programs_count(out);
    asynchronous_count(out);
    fault_count(out);
}
