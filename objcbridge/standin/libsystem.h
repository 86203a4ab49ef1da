// The prototypes of libSystem that the stand-in exports, as in macOS's headers.
#ifndef STANDIN_LIBSYSTEM_H
#define STANDIN_LIBSYSTEM_H

#include <stddef.h>
#include <stdint.h>

#include "cf.h"

typedef uint32_t mach_port_t;
typedef uint64_t mach_vm_address_t, mach_vm_size_t, mach_vm_offset_t;
typedef int32_t integer_t;
typedef uint32_t natural_t;
typedef natural_t mach_msg_type_number_t;
typedef natural_t task_flavor_t;
typedef int vm_prot_t;
typedef unsigned vm_inherit_t;
typedef int boolean_t;

enum { // <mach/kern_return.h>, <mach/message.h>
    KERN_SUCCESS = 0,
    KERN_INVALID_ADDRESS = 1,
    KERN_NO_SPACE = 3,
    KERN_INVALID_ARGUMENT = 4,
    MACH_SEND_INVALID_DEST = 0x10000003,
};
enum { VM_FLAGS_FIXED = 0, VM_FLAGS_ANYWHERE = 1, VM_FLAGS_OVERWRITE = 0x4000 }; // <mach/vm_statistics.h>
enum { VM_PROT_READ = 1, VM_PROT_WRITE = 2, VM_PROT_ALL = 7 };                   // <mach/vm_prot.h>
enum { VM_INHERIT_NONE = 2 };                                                    // <mach/vm_inherit.h>
enum { MINCORE_INCORE = 0x1, MINCORE_PAGED_OUT = 0x20 };                         // <sys/mman.h>
enum { _CS_DARWIN_USER_TEMP_DIR = 65537 };                                       // <unistd.h>
enum { TASK_VM_INFO = 22 };

// The first two revisions of task_vm_info in <mach/task_info.h>; later ones add fields at the end.
#pragma pack(push, 4)
struct task_vm_info {
    mach_vm_size_t virtual_size;
    integer_t region_count;
    integer_t page_size;
    mach_vm_size_t resident_size;
    mach_vm_size_t resident_size_peak;
    mach_vm_size_t device, device_peak;
    mach_vm_size_t internal, internal_peak;
    mach_vm_size_t external, external_peak;
    mach_vm_size_t reusable, reusable_peak;
    mach_vm_size_t purgeable_volatile_pmap;
    mach_vm_size_t purgeable_volatile_resident;
    mach_vm_size_t purgeable_volatile_virtual;
    mach_vm_size_t compressed, compressed_peak, compressed_lifetime;
    mach_vm_size_t phys_footprint; // of revision 1
};
#pragma pack(pop)
#define TASK_VM_INFO_REV1_COUNT ((mach_msg_type_number_t)(sizeof(struct task_vm_info) / sizeof(natural_t)))
#define TASK_VM_INFO_REV0_COUNT (TASK_VM_INFO_REV1_COUNT - 2)

extern mach_port_t mach_task_self_;

kern_return_t task_info(mach_port_t task, task_flavor_t flavor, integer_t *info, mach_msg_type_number_t *count);
kern_return_t mach_vm_remap(mach_port_t target_task, mach_vm_address_t *target, mach_vm_size_t size,
                            mach_vm_offset_t mask, int flags, mach_port_t source_task, mach_vm_address_t source,
                            boolean_t copy, vm_prot_t *current, vm_prot_t *maximum, vm_inherit_t inheritance);
kern_return_t mach_vm_deallocate(mach_port_t task, mach_vm_address_t address, mach_vm_size_t size);
int sysctlbyname(const char *name, void *old, size_t *size, void *new_value, size_t new_size);

#endif
