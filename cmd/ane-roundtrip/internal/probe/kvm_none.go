//go:build !linux && !((darwin || macrules) && (amd64 || arm64))

package probe

import "github.com/anekit/anekit/internal/host"

func openMachine() (*machine, error) {
	return nil, &unavailable{"no probe of a hypervisor on " + host.Name, "run it on a Mac"}
}
