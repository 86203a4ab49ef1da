// What macOS answers about itself by name.
#include "libsystem.h"
#include "standin.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t confstr(int name, char *buffer, size_t size);

static struct {
    pthread_mutex_t mutex;
    char *dir; // NULL before standin_set_temp_dir
} named = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void standin_set_temp_dir(const char *dir) {
    char *copy = dir ? strdup(dir) : NULL;
    pthread_mutex_lock(&named.mutex);
    free(named.dir);
    named.dir = copy;
    pthread_mutex_unlock(&named.mutex);
}

static size_t write_dir(const char *dir, char *buffer, size_t size) {
    size_t length = strlen(dir), slash = dir[length - 1] != '/'; // macOS ends it with one
    if (size > 0) {
        size_t n = length < size - 1 ? length : size - 1;
        memcpy(buffer, dir, n);
        if (slash && n < size - 1) buffer[n++] = '/';
        buffer[n] = 0;
    }
    return length + slash + 1;
}

size_t standin_temp_dir(char *buffer, size_t size) {
    pthread_mutex_lock(&named.mutex);
    const char *dir = named.dir ? named.dir : getenv("ANEKIT_STANDIN_TEMP_DIR");
    size_t length = write_dir(dir && *dir ? dir : "/tmp", buffer, size);
    pthread_mutex_unlock(&named.mutex);
    return length;
}

// Answers the user's folder for temporary files alone. macOS does not ask TMPDIR for it either.
size_t confstr(int name, char *buffer, size_t size) {
    if (name == _CS_DARWIN_USER_TEMP_DIR) return standin_temp_dir(buffer, size);
    errno = EINVAL;
    return 0;
}

// Copies an answer as sysctl does: a NULL buffer asks for its size.
static int answer(const void *value, size_t length, void *old, size_t *size) {
    if (!size) return 0;
    size_t room = *size;
    *size = length;
    if (!old) return 0;
    if (room < length) {
        *size = room;
        memcpy(old, value, room);
        errno = ENOMEM;
        return -1;
    }
    memcpy(old, value, length);
    return 0;
}

int sysctlbyname(const char *name, void *old, size_t *size, void *new_value, size_t new_size) {
    if (new_value || new_size) {
        errno = EPERM;
        return -1;
    }
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    int32_t native = 0, level = 50, normal = 1;
    if (strcmp(name, "hw.memsize") == 0) return answer(&memory, sizeof memory, old, size);
    if (strcmp(name, "sysctl.proc_translated") == 0) return answer(&native, sizeof native, old, size);
    if (strcmp(name, "kern.memorystatus_level") == 0) return answer(&level, sizeof level, old, size);
    if (strcmp(name, "kern.memorystatus_vm_pressure_level") == 0) return answer(&normal, sizeof normal, old, size);
    const char *text = strcmp(name, "kern.osproductversion") == 0 ? "27.0.1" : NULL;
    if (text) return answer(text, strlen(text) + 1, old, size);
    errno = ENOENT;
    return -1;
}
