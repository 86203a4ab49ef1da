// Slots of loaded programs, which all processes of a machine share. Slot i is the lock on byte i of the pool's file, so
// the kernel gives it back when the process ends, however it ends.
#define _GNU_SOURCE // locks of open files
#import "programs.h"

#include <fcntl.h>
#include <unistd.h>

static int pool = -1; // -1: the slots are this process's own

int slots_open(const char *path) {
    if (!path) return 0;
    pool = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return pool < 0;
}

// The lock is the open file's, not the process's: closing another descriptor of the file does not release it.
static int set(int64_t slot, short type) {
    struct flock one = {.l_type = type, .l_whence = SEEK_SET, .l_start = slot, .l_len = 1};
    return pool < 0 || fcntl(pool, F_OFD_SETLK, &one) == 0;
}

int slots_take(int64_t slot) { return set(slot, F_WRLCK); }

void slots_give(int64_t slot) { (void)set(slot, F_UNLCK); }
