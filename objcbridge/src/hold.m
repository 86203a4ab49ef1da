#import "internal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// Returns the path of the lock's file, or NULL without memory. free it.
static char *beside(const char *directory) {
    size_t size = strlen(directory) + sizeof ".lock";
    char *path = malloc(size);
    if (path != NULL) snprintf(path, size, "%s.lock", directory);
    return path;
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// Reports whether fd still is the file at path: an owner removes the file before it unlocks it.
static bool same(int fd, const char *path) {
    struct stat a, b;
    return fstat(fd, &a) == 0 && lstat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Locks an open file, which a lock of a process that died no longer is.
static int lock(int fd, int64_t end) {
    struct timespec pause = {.tv_nsec = 1000 * 1000};
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK) return ANEB_NO_HOLD;
        if (now() >= end) return ANEB_HELD_ELSEWHERE;
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 50 * 1000 * 1000) pause.tv_nsec *= 2;
    }
    return fd;
}

static int begin(const char *path, int64_t end) {
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
        if (fd < 0) return ANEB_NO_HOLD;
        int hold = lock(fd, end);
        if (hold >= 0 && same(hold, path)) return hold;
        close(fd);
        if (hold < 0) return hold;
    }
}

int aneb_hold_begin(const char *directory, int64_t milliseconds) {
    char *path = beside(directory);
    if (path == NULL) return ANEB_NO_HOLD;
    int64_t start = now();
    int hold = begin(path, milliseconds < INT64_MAX - start ? start + milliseconds : INT64_MAX);
    free(path);
    return hold;
}

void aneb_hold_end(const char *directory, int hold) {
    char *path = beside(directory);
    if (path != NULL) unlink(path);
    free(path);
    close(hold);
}
