#import "internal.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { deepest = 64, piece = 1 << 30 }; // macOS refuses writes of 2 GiB

static int enter(int parent, const char *name) {
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int aneb_tree_make(const char *path) {
    bool made = mkdir(path, 0700) == 0;
    if (!made && errno != EEXIST) return -errno;
    int fd = enter(AT_FDCWD, path);
    if (fd >= 0) return fd;
    int code = errno;
    if (made) rmdir(path);
    return -code;
}

static int write_all(int fd, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t n = write(fd, bytes, size < piece ? size : piece);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : EIO;
        bytes += n;
        size -= (size_t)n;
    }
    return 0;
}

// The file appears complete or not at all: another process may be reading the file of
// the same identity.
static int write_file(int directory, const char *name, const void *bytes, size_t size) {
    char part[32];
    snprintf(part, sizeof part, ".%ld.part", (long)getpid());
    if (unlinkat(directory, part, 0) != 0 && errno != ENOENT) return errno;
    int fd = openat(directory, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    int code = write_all(fd, bytes, size);
    if (close(fd) != 0 && code == 0) code = errno;
    if (code == 0 && renameat(directory, part, directory, name) != 0) code = errno;
    if (code != 0) unlinkat(directory, part, 0);
    return code;
}

int aneb_tree_write(int directory, const char *path, const void *bytes, size_t size) {
    const char *slash = strchr(path, '/');
    if (slash == NULL) return write_file(directory, path, bytes, size);
    char *name = strndup(path, (size_t)(slash - path));
    if (name == NULL) return ENOMEM;
    int code = mkdirat(directory, name, 0700) != 0 && errno != EEXIST ? errno : 0;
    int fd = code == 0 ? enter(directory, name) : -1;
    if (code == 0 && fd < 0) code = errno;
    free(name);
    if (code != 0) return code;
    code = aneb_tree_write(fd, slash + 1, bytes, size);
    close(fd);
    return code;
}

static int remove_entry(int parent, const char *name, int depth);

static int empty(int fd, int depth) {
    DIR *all = fdopendir(fd); // owns fd from here on
    if (all == NULL) {
        int code = errno;
        close(fd);
        return code;
    }
    int code = 0;
    for (int removed = 1; removed > 0 && code == 0;) { // a removal may hide entries from readdir
        removed = 0;
        rewinddir(all);
        for (struct dirent *at; code == 0 && (at = readdir(all)) != NULL;) {
            if (strcmp(at->d_name, ".") == 0 || strcmp(at->d_name, "..") == 0) continue;
            code = remove_entry(fd, at->d_name, depth + 1);
            removed++;
        }
    }
    closedir(all);
    return code;
}

// Removes the entry itself, not the target of a link.
static int remove_entry(int parent, const char *name, int depth) {
    struct stat is;
    if (fstatat(parent, name, &is, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT ? 0 : errno;
    if (S_ISDIR(is.st_mode)) {
        if (depth > deepest) return ELOOP;
        int fd = enter(parent, name);
        if (fd < 0) return errno;
        int code = empty(fd, depth);
        if (code != 0) return code;
    }
    int code = unlinkat(parent, name, S_ISDIR(is.st_mode) ? AT_REMOVEDIR : 0) == 0 ? 0 : errno;
    return code == ENOENT ? 0 : code;
}

int aneb_tree_remove(const char *path) { return remove_entry(AT_FDCWD, path, 0); }
