// Memory of this process as macOS reports and maps it.
#define _GNU_SOURCE
#include "libsystem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

mach_port_t mach_task_self_ = 0x203;

// The bytes of this process's pages, each divided by the number of its mappings, without those of files on
// disk. 0 if the kernel does not tell.
static mach_vm_size_t footprint(void) {
    FILE *f = fopen("/proc/self/smaps_rollup", "re");
    if (!f) return 0;
    char line[256];
    unsigned long long all = 0, files = 0;
    while (fgets(line, sizeof line, f)) {
        sscanf(line, "Pss: %llu kB", &all);
        sscanf(line, "Pss_File: %llu kB", &files);
    }
    fclose(f);
    return (mach_vm_size_t)(all - files) << 10;
}

kern_return_t task_info(mach_port_t task, task_flavor_t flavor, integer_t *info, mach_msg_type_number_t *count) {
    if (task != mach_task_self_) return MACH_SEND_INVALID_DEST;
    if (flavor != TASK_VM_INFO || *count < TASK_VM_INFO_REV0_COUNT) return KERN_INVALID_ARGUMENT;
    struct task_vm_info all = {.page_size = (integer_t)sysconf(_SC_PAGESIZE), .phys_footprint = footprint()};
    *count = *count < TASK_VM_INFO_REV1_COUNT ? TASK_VM_INFO_REV0_COUNT : TASK_VM_INFO_REV1_COUNT;
    memcpy(info, &all, *count * sizeof(natural_t));
    return KERN_SUCCESS;
}

static mach_vm_size_t page_size(void) { return (mach_vm_size_t)sysconf(_SC_PAGESIZE); }

static int aligned(mach_vm_address_t address) { return address % page_size() == 0; }

static mach_vm_size_t whole_pages(mach_vm_size_t size) { return (size + page_size() - 1) / page_size() * page_size(); }

// Maps memory that processes can share a second time. Stricter than macOS: it takes whole pages, and refuses
// private memory, which Linux cannot map twice.
kern_return_t mach_vm_remap(mach_port_t target_task, mach_vm_address_t *target, mach_vm_size_t size,
                            mach_vm_offset_t mask, int flags, mach_port_t source_task, mach_vm_address_t source,
                            boolean_t copy, vm_prot_t *current, vm_prot_t *maximum, vm_inherit_t inheritance) {
    if (target_task != mach_task_self_ || source_task != mach_task_self_) return MACH_SEND_INVALID_DEST;
    int fixed = !(flags & VM_FLAGS_ANYWHERE);
    if (size == 0 || mask || copy || inheritance > VM_INHERIT_NONE || !aligned(source) ||
        (flags & ~(VM_FLAGS_ANYWHERE | VM_FLAGS_OVERWRITE)) || (fixed && !aligned(*target)))
        return KERN_INVALID_ARGUMENT;
    size = whole_pages(size);
    if (msync((void *)source, size, MS_ASYNC)) return KERN_INVALID_ADDRESS;
    void *to = (void *)*target;
    if (fixed && !(flags & VM_FLAGS_OVERWRITE)) { // the place must be free
        void *got = mmap(to, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == MAP_FAILED) return KERN_NO_SPACE;
    }
    void *made = mremap((void *)source, 0, size, MREMAP_MAYMOVE | (fixed ? MREMAP_FIXED : 0), to);
    if (made == MAP_FAILED) return errno == ENOMEM ? KERN_NO_SPACE : KERN_INVALID_ARGUMENT;
    *target = (mach_vm_address_t)made;
    *current = VM_PROT_READ | VM_PROT_WRITE;
    *maximum = VM_PROT_ALL;
    return KERN_SUCCESS;
}

kern_return_t mach_vm_deallocate(mach_port_t task, mach_vm_address_t address, mach_vm_size_t size) {
    if (task != mach_task_self_) return MACH_SEND_INVALID_DEST;
    if (size == 0) return KERN_SUCCESS;
    if (!aligned(address)) return KERN_INVALID_ARGUMENT;
    return munmap((void *)address, whole_pages(size)) ? KERN_INVALID_ARGUMENT : KERN_SUCCESS;
}

// Reads the entries of pagemap for some pages. Returns 0 if the kernel does not tell.
static int entries_of(uintptr_t address, uint64_t *entries, size_t pages) {
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t n = pread(fd, entries, pages * sizeof *entries, (off_t)(address / page_size() * sizeof *entries));
    close(fd);
    return n == (ssize_t)(pages * sizeof *entries);
}

// One byte for each page: Linux tells which are present, and pagemap which are on the swap disk.
int mincore(void *address, size_t size, unsigned char *flags) {
    enum { SWAPPED_BIT = 62, BATCH = 512 };
    size_t page = page_size(), pages = whole_pages(size) / page;
    if (syscall(SYS_mincore, address, size, flags)) return -1;
    uint64_t entries[BATCH];
    for (size_t at = 0; at < pages; at += BATCH) {
        size_t n = pages - at < BATCH ? pages - at : BATCH;
        int told = entries_of((uintptr_t)address + at * page, entries, n);
        for (size_t i = 0; i < n; i++) {
            int swapped = told && (entries[i] >> SWAPPED_BIT & 1);
            flags[at + i] = flags[at + i] & 1 ? MINCORE_INCORE : swapped ? MINCORE_PAGED_OUT : 0;
        }
    }
    return 0;
}
