// The stand-in's part of libSystem: memory as macOS counts and maps it, and names that glibc has too.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "driver.h"
#include "libsystem.h"

#ifdef __aarch64__
#define GLIBC "GLIBC_2.17"
#else
#define GLIBC "GLIBC_2.2.5"
#endif

// Offsets and counts of <mach/task_info.h> of xnu.
_Static_assert(offsetof(struct task_vm_info, phys_footprint) == 144, "36 words of 32 bits stand before it");
_Static_assert(TASK_VM_INFO_REV0_COUNT == 36 && TASK_VM_INFO_REV1_COUNT == 38, "counts are in words");

enum { SIZE = 32 << 20, PAGE = 4096 };

static void *memory(size_t size, int flags) {
    return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
}

static int64_t footprint(void) {
    struct task_vm_info info;
    mach_msg_type_number_t count = TASK_VM_INFO_REV1_COUNT;
    if (task_info(mach_task_self_, TASK_VM_INFO, (integer_t *)&info, &count) || count != TASK_VM_INFO_REV1_COUNT)
        return -1;
    return (int64_t)info.phys_footprint;
}

static int near(int64_t a, int64_t b) { return a - b < SIZE / 4 && b - a < SIZE / 4; }

static kern_return_t again(int flags, void *from, mach_vm_address_t *to) {
    vm_prot_t current, maximum;
    return mach_vm_remap(mach_task_self_, to, SIZE, 0, flags, mach_task_self_, (mach_vm_address_t)from, 0, &current,
                         &maximum, VM_INHERIT_NONE);
}

static void counted(void) {
    char *m = memory(SIZE, MAP_SHARED);
    int64_t before = footprint();
    CHECK("the footprint is told", before > 0);
    memset(m, 1, SIZE);
    CHECK("used memory counts", near(footprint() - before, SIZE));
    mach_vm_address_t second = 0;
    CHECK("a second mapping", again(VM_FLAGS_ANYWHERE, m, &second) == KERN_SUCCESS && second != (uintptr_t)m);
    ((volatile char *)second)[7] = 42;
    CHECK("has the same pages", m[7] == 42);
    memset((void *)second, 2, SIZE);
    CHECK("and counts once", near(footprint() - before, SIZE));
    CHECK("unmapped", mach_vm_deallocate(mach_task_self_, second, SIZE) == KERN_SUCCESS);
    char *target = memory(SIZE, MAP_PRIVATE);
    mach_vm_address_t at = (mach_vm_address_t)target;
    CHECK("a place in use is refused", again(VM_FLAGS_FIXED, m, &at) == KERN_NO_SPACE);
    CHECK("or overwritten", again(VM_FLAGS_FIXED | VM_FLAGS_OVERWRITE, m, &at) == KERN_SUCCESS && target[7] == 2);
    CHECK("private memory is refused", again(VM_FLAGS_ANYWHERE, memory(SIZE, MAP_PRIVATE), &second) != KERN_SUCCESS);
    at++;
    CHECK("so is half a page", again(VM_FLAGS_FIXED | VM_FLAGS_OVERWRITE, m, &at) == KERN_INVALID_ARGUMENT);
    munmap(target, SIZE);
    munmap(m, SIZE);
    CHECK("and what is not mapped", again(VM_FLAGS_ANYWHERE, m, &second) == KERN_INVALID_ADDRESS);
    CHECK("unmapped memory counts no more", near(footprint(), before));
}

static void refused(void) {
    struct task_vm_info info;
    mach_msg_type_number_t count = TASK_VM_INFO_REV0_COUNT;
    info.phys_footprint = 77;
    CHECK("an older caller gets less", task_info(mach_task_self_, TASK_VM_INFO, (integer_t *)&info, &count) == 0 &&
                                           count == TASK_VM_INFO_REV0_COUNT && info.phys_footprint == 77);
    count--;
    CHECK("too few words", task_info(mach_task_self_, TASK_VM_INFO, (integer_t *)&info, &count) ==
                               KERN_INVALID_ARGUMENT);
    count = TASK_VM_INFO_REV1_COUNT;
    CHECK("another flavor", task_info(mach_task_self_, 5, (integer_t *)&info, &count) == KERN_INVALID_ARGUMENT);
    CHECK("another task", task_info(mach_task_self_ + 1, TASK_VM_INFO, (integer_t *)&info, &count) != KERN_SUCCESS);
}

static void names(void) {
    void *self = dlopen("libstandinsurface.so", RTLD_NOW);
    size_t (*answer)(int, char *, size_t) = self ? dlsym(self, "confstr") : NULL;
    int (*present)(void *, size_t, unsigned char *) = self ? dlsym(self, "mincore") : NULL;
    CHECK("a handle has confstr and mincore", answer && present);
    CHECK("glibc's callers get glibc's", dlvsym(RTLD_DEFAULT, "confstr", GLIBC) != (void *)answer &&
                                             dlvsym(RTLD_DEFAULT, "mincore", GLIBC) != (void *)present);
    char text[64], little[4];
    setenv("ANEKIT_STANDIN_TEMP_DIR", "/a/folder", 1);
    CHECK("the folder ends with a slash", answer(_CS_DARWIN_USER_TEMP_DIR, text, sizeof text) == 11 &&
                                              strcmp(text, "/a/folder/") == 0);
    CHECK("a short buffer is cut", answer(_CS_DARWIN_USER_TEMP_DIR, little, sizeof little) == 11 &&
                                       strcmp(little, "/a/") == 0);
    CHECK("no other name", answer(0, text, sizeof text) == 0);

    unsigned char flags[3];
    char *m = memory(3 * PAGE, MAP_PRIVATE);
    m[PAGE] = 1;
    CHECK("used pages", sysconf(_SC_PAGESIZE) != PAGE ||
                            (present(m, 3 * PAGE, flags) == 0 && !flags[0] && flags[1] == MINCORE_INCORE && !flags[2]));

    uint64_t bytes = 0;
    size_t size = sizeof bytes;
    CHECK("hw.memsize", sysctlbyname("hw.memsize", &bytes, &size, NULL, 0) == 0 && size == 8 && bytes > 1 << 20);
    size = 1;
    CHECK("too little room", sysctlbyname("hw.memsize", &bytes, &size, NULL, 0) == -1 && errno == ENOMEM);
    CHECK("an unknown name", sysctlbyname("hw.none", NULL, &size, NULL, 0) == -1 && errno == ENOENT);
    CHECK("no writes", sysctlbyname("hw.memsize", NULL, NULL, &bytes, sizeof bytes) == -1 && errno == EPERM);
}

int main(void) {
    counted();
    refused();
    names();
    return driver_failures != 0;
}
