#import "internal.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Programs with the same text and weights get the same localModelPath from the
// framework, and the first unload removes it. So such programs are serialized, and
// the directory counts its users.
struct aneb_identity {
    struct aneb_identity *next; // guarded by the process's mutex, like programs
    int programs;               // live programs
    char *path;
    pthread_mutex_t mutex; // held during writing, compile, load, unload and purge; guards the fields below
    int users;             // programs with files in the directory
    int claims;            // of them, those that are not loaded yet
    int hold;              // the lock against other processes; ANEB_NO_HOLD for none
};

static struct aneb_identity *find(const char *path) {
    struct aneb_identity *i = aneb_process.first;
    while (i != NULL && strcmp(i->path, path) != 0) i = i->next;
    return i;
}

static struct aneb_identity *add(const char *path) {
    struct aneb_identity *i = calloc(1, sizeof *i);
    char *copy = strdup(path);
    if (i == NULL || copy == NULL || pthread_mutex_init(&i->mutex, NULL) != 0) {
        free(i);
        free(copy);
        return NULL;
    }
    i->path = copy;
    i->hold = ANEB_NO_HOLD;
    i->next = aneb_process.first;
    aneb_process.first = i;
    return i;
}

struct aneb_identity *aneb_identity_join(const char *path) {
    pthread_mutex_lock(&aneb_process.mutex);
    struct aneb_identity *i = find(path);
    if (i == NULL) i = add(path);
    if (i != NULL) i->programs++;
    pthread_mutex_unlock(&aneb_process.mutex);
    return i;
}

void aneb_identity_leave(struct aneb_identity *i) {
    pthread_mutex_lock(&aneb_process.mutex);
    bool last = --i->programs == 0;
    if (last) {
        struct aneb_identity **at = &aneb_process.first;
        while (*at != i) at = &(*at)->next;
        *at = i->next;
    }
    pthread_mutex_unlock(&aneb_process.mutex);
    if (!last) return;
    pthread_mutex_destroy(&i->mutex);
    free(i->path);
    free(i);
}

// Reports whether no other process holds the identity. Where no file can be made there is no lock: no process
// can have files there either.
static bool lock(aneb_program *p) {
    struct aneb_identity *i = p->shared;
    pthread_mutex_lock(&i->mutex);
    if (i->hold != ANEB_NO_HOLD) return true; // claimed by a program of this process
    int hold = aneb_hold_begin(i->path, atomic_load(&p->patience));
    if (hold == ANEB_HELD_ELSEWHERE) return false;
    i->hold = hold;
    return true;
}

int32_t aneb_identity_lock(aneb_program *p, int32_t stage, aneb_error *e) {
    if (lock(p)) return ANEB_OK;
    pthread_mutex_unlock(&p->shared->mutex);
    return aneb_refuse(e, stage, ANEB_HELD,
                       "another process compiles or loads the same program, and has not ended within %lld ms",
                       atomic_load(&p->patience));
}

void aneb_identity_lock_anyway(aneb_program *p) { lock(p); }

void aneb_identity_unlock(aneb_program *p) {
    struct aneb_identity *i = p->shared;
    if (i->claims == 0 && i->hold != ANEB_NO_HOLD) {
        aneb_hold_end(i->path, i->hold);
        i->hold = ANEB_NO_HOLD;
    }
    pthread_mutex_unlock(&i->mutex);
}

static int32_t unwritable(aneb_program *p, const char *file, int code, aneb_error *e) {
    char why[128] = "";
    if (strerror_r(code, why, sizeof why) != 0) why[0] = 0;
    return aneb_refuse(e, ANEB_COMPILE, ANEB_FILE, "cannot write %s%s%s: error %d %s", p->path, file[0] == 0 ? "" : "/",
                       file, code, why);
}

static int32_t write_files(aneb_program *p, int directory, aneb_error *e) {
    for (NSString *path in p->files) {
        NSData *data = [p->files objectForKey:path];
        const char *name = [path UTF8String];
        if (name == NULL) return unwritable(p, "", ENOMEM, e);
        int code = aneb_tree_write(directory, name, [data bytes], [data length]);
        if (code != 0) return unwritable(p, name, code, e);
    }
    return ANEB_OK;
}

static void use(aneb_program *p) {
    if (p->holds_files) return;
    p->holds_files = p->claims = true;
    p->shared->claims++;
    if (p->shared->users++ == 0) atomic_fetch_add(&aneb_process.identities, 1);
}

int32_t aneb_files_write(aneb_program *p, aneb_error *e) {
    int directory = aneb_tree_make(p->path);
    if (directory < 0) return unwritable(p, "", -directory, e);
    use(p);
    int32_t kind = aneb_guard(e, ANEB_COMPILE, ^int32_t {
        return write_files(p, directory, e);
    });
    close(directory);
    if (kind != ANEB_OK) aneb_files_drop(p);
    return kind;
}

void aneb_files_settle(aneb_program *p) {
    if (p->claims) p->shared->claims--;
    p->claims = false;
}

void aneb_files_drop(aneb_program *p) {
    aneb_files_settle(p);
    if (!p->holds_files) return;
    p->holds_files = false;
    if (--p->shared->users != 0) return;
    atomic_fetch_sub(&aneb_process.identities, 1);
    aneb_tree_remove(p->path); // an unload has already removed it
}

bool aneb_files_present(aneb_program *p) {
    struct stat is;
    return p->holds_files && lstat(p->path, &is) == 0 && S_ISDIR(is.st_mode);
}
