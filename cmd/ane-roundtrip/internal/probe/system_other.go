//go:build !(linux && !macrules) && !((darwin || macrules) && (amd64 || arm64))

package probe

import (
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
)

// equivalentMachine is the hypervisor of this system.
const equivalentMachine = ""

const notHere = "not measured on " + host.Name

func lock(*unimem.Block, uint32) (ns float64, why string) { return 0, notHere }

func regions(uintptr, int) (n int, why string) { return 0, notHere }

func runs(uintptr, int) (n int, why string) { return 0, notHere }

func openMachine() (machine, error) {
	return nil, unavailable("no probe of a hypervisor on "+host.Name, "run it on a Mac")
}
