package check

import (
	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/engine/faulty"
	"github.com/anekit/anekit/internal/near"
)

// Injectable lists the faults of --inject that need no GPU.
func Injectable() []string { return append(Injections(), blindMeter) }

// Injections lists the faults that a check finds.
func Injections() []string {
	var names []string
	for _, fault := range faulty.Faults() {
		if !fault.SuiteOnly {
			names = append(names, fault.Name)
		}
	}
	return names
}

// Faults that wrap no engine.
const (
	// blindMeter is a measurement of memory that sees no copies: what it measures shows nothing.
	blindMeter = "blind-meter"
	// GPUCopy is a GPU that works on a copy of a Block.
	GPUCopy = "gpu-copy"
)

// injected returns the wrapper that injects the fault called name; nil for an empty name.
func injected(a *cli.App, name string) (wrap func(ane.Engine) ane.Engine, err error) {
	if name == "" {
		return nil, nil
	}
	fault, ok := faulty.ByName(name)
	what := map[string]string{GPUCopy: "the GPU works on a copy of each Block",
		blindMeter: "the measurement of memory sees no copies"}[name]
	switch {
	case what != "":
	case !ok || fault.SuiteOnly:
		return nil, cli.Badf("there is no fault %q to inject; %s", name, near.Choices(name, "choose one of", Injectable()))
	default:
		what = fault.What
		wrap = func(e ane.Engine) ane.Engine { return faulty.Wrap(e, fault) }
	}
	a.Injected = name
	a.Logf("injected fault: %s (%s)", name, what)
	return wrap, nil
}
