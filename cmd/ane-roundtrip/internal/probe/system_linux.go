//go:build !macrules

package probe

import (
	"errors"
	"fmt"
	"os"

	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
)

// equivalentMachine is the hypervisor of this system.
const equivalentMachine = "KVM"

// lock: the memory of Linux has no lock.
func lock(*unimem.Block, uint32) (ns float64, why string) {
	return 0, "shared memory of Linux has no lock"
}

// regions counts the mappings that hold a range.
func regions(address uintptr, size int) (n int, why string) {
	end := uint64(address) + uint64(size)
	err := procmem.Mappings(0, func(m *procmem.Mapping) {
		if m.Start < end && m.End > uint64(address) {
			n++
		}
	})
	if err != nil {
		return 0, err.Error()
	}
	return n, ""
}

// runs counts the runs of page frames that follow each other.
func runs(address uintptr, size int) (n int, why string) {
	frames, shown := procmem.Frames(0, uint64(address), size/os.Getpagesize())
	if !shown {
		return 0, "the kernel shows page frames to processes with CAP_SYS_ADMIN only"
	}
	for i, f := range frames {
		if i == 0 || f != frames[i-1]+1 {
			n++
		}
	}
	return n, ""
}

// openMachine opens a virtual machine of KVM.
func openMachine() (machine, error) {
	m, err := newKVM()
	if err == nil {
		return m, nil
	}
	hint := "see kvm-ok of Debian's cpu-checker"
	if errors.Is(err, os.ErrPermission) {
		hint = "join the group kvm"
	}
	return nil, unavailable(fmt.Sprintf("no KVM: %v", err), hint)
}
