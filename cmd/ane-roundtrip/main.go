// Command ane-roundtrip shows that tensors reach the Neural Engine and come
// back without a copy.
//
// Without arguments it runs the diagnostic, check. This opens memory, runs a set of small programs on the engine of
// this machine and prints the measured values. Run ane-roundtrip --help for the other commands.
//
// Exit status: 0 all checks passed, 1 a check failed or the run did not finish, 2 wrong usage or bad input. Status 3
// means that the requested engine is not available, 4 that a broker cut calls, 130 an interrupt.
package main

import (
	"os"

	"github.com/anekit/anekit/ane/engine/broker"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/probe"
	"github.com/anekit/anekit/internal/growthbench"
	"github.com/anekit/anekit/internal/tripbench"
	"github.com/anekit/anekit/internal/weightbench"
)

func main() {
	broker.ServeChild()
	tripbench.ServeSignals()
	growthbench.ServeClient()
	weightbench.ServeChild()
	probe.ServeLookup()
	handOver(os.Args)
	os.Exit(start(os.Args[1:], os.Stdout, os.Stderr))
}
