#import "internal.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The slots of loaded programs are the machine's: 115 to 118 on an M5 Max, 126 on an M4 Max. This process leaves some
// to others.
enum { program_limit = 100 };

// A process has one class of a name: a second framework would use the classes of the
// first. Call with the process's mutex held.
static int32_t open_library(const char *path, void **library, aneb_error *e) {
    void *first = aneb_process.library;
    // A framework in macOS's shared cache has no file, so only a framework with a file
    // can be compared before it is loaded.
    if (first != NULL && access(path, F_OK) == 0 && dlopen(path, RTLD_NOW | RTLD_NOLOAD) == NULL)
        return aneb_refuse(e, ANEB_OPEN, ANEB_STATE,
                           "%s: this process already uses the classes of another framework and cannot load a "
                           "second set; use another process", path);
    *library = dlopen(path, RTLD_NOW);
    if (*library == NULL) {
        const char *why = dlerror();
        return aneb_fail(e, ANEB_OPEN, ANEB_MISSING, 0, "cannot load the framework %s: %s", path,
                         why == NULL ? "no reason given" : why);
    }
    if (first != NULL && first != *library)
        return aneb_refuse(e, ANEB_OPEN, ANEB_STATE, "%s is not the framework that this process opened first", path);
    return ANEB_OK;
}

static void discard(aneb *a) {
    free(a->framework);
    free(a->iokit);
    [a->options release];
    [a->wired release];
    free(a);
}

// The value of an exported string. Only the framework knows it: some keys have a suffix that their values lack.
static NSString *exported(void *library, const char *symbol) {
    id const *at = (id const *)dlsym(library, symbol);
    return at != NULL && [*at isKindOfClass:[NSString class]] ? *at : nil;
}

static int32_t fill(aneb *a, const aneb_config *config, void *library, aneb_error *e) {
    a->program_limit = config->program_limit == 0 ? program_limit : config->program_limit;
    a->keep_files = config->keep_files != 0;
    a->framework = strdup(config->framework);
    a->iokit = config->iokit == NULL ? NULL : strdup(config->iokit);
    a->options = [[NSDictionary alloc] init];
    a->wired = [exported(library, "kANEFKeepModelMemoryWiredKey") retain];
    if (a->framework == NULL || a->options == nil || (a->iokit == NULL) != (config->iokit == NULL))
        return aneb_refuse(e, ANEB_OPEN, ANEB_ARGUMENT, "no memory to open the framework");
    aneb_check_all(a);
    return ANEB_OK;
}

int32_t aneb_open(const aneb_config *config, aneb **out, aneb_error *error) {
    if (config == NULL || out == NULL || config->framework == NULL || config->framework[0] == 0)
        return aneb_refuse(error, ANEB_OPEN, ANEB_ARGUMENT, "aneb_open: config, its framework path and out are needed");
    *out = NULL;
    if (config->program_limit < 0)
        return aneb_refuse(error, ANEB_OPEN, ANEB_ARGUMENT, "the limit is %d programs; 0 means the default",
                           config->program_limit);
    aneb *a = calloc(1, sizeof *a);
    if (a == NULL) return aneb_refuse(error, ANEB_OPEN, ANEB_ARGUMENT, "no memory to open the framework");
    pthread_mutex_lock(&aneb_process.mutex);
    int32_t kind = aneb_guard(error, ANEB_OPEN, ^int32_t {
        void *library = NULL;
        int32_t opened = open_library(config->framework, &library, error);
        if (opened == ANEB_OK) opened = fill(a, config, library, error);
        // A library without classes, or with classes that are added later, sets no
        // framework.
        if (opened == ANEB_OK && a->model != Nil) aneb_process.library = library;
        return opened;
    });
    pthread_mutex_unlock(&aneb_process.mutex);
    if (kind != ANEB_OK) {
        aneb_guard(NULL, ANEB_OPEN, ^int32_t {
            discard(a);
            return ANEB_OK;
        });
        return kind;
    }
    atomic_store(&aneb_process.program_limit, a->program_limit);
    *out = a;
    return ANEB_OK;
}

int32_t aneb_close(aneb *a, aneb_error *error) {
    if (a == NULL) return aneb_null(error, ANEB_CLOSE);
    long long alive = atomic_load(&a->alive);
    if (alive != 0)
        return aneb_refuse(error, ANEB_CLOSE, ANEB_STATE,
                           "%lld surfaces, programs and requests are alive; release them, and wait for pending runs",
                           alive);
    return aneb_guard(error, ANEB_CLOSE, ^int32_t {
        discard(a);
        return ANEB_OK;
    });
}
