package check

import (
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/near"
)

// NoCopy claims that the engines read and write the caller's own pages.
const NoCopy = "no-copy"

// ClaimNames lists the claims of check.
func ClaimNames() []string { return []string{NoCopy} }

// Parts of names of checks of trial that decide about noCopy.
const (
	copiesSuffix = "/copies" // after the name of a model
	sharingGroup = "sharing/"
)

// claimsOf judges the claims by the checks of all engines; the engine that shows least decides.
func claimsOf(engines []EngineResult) []cli.Claim {
	by := map[string][]string{}
	for _, e := range engines {
		status, checks := e.copiesNothing()
		by[status] = append(by[status], checks...)
	}
	for _, status := range []string{cli.ClaimRefuted, cli.ClaimNotShown, cli.ClaimShown} {
		if checks, ok := by[status]; ok {
			return []cli.Claim{{Name: NoCopy, Status: status, By: checks}}
		}
	}
	return nil
}

// copiesNothing judges noCopy on one engine. Any failed check of copies or shared memory refutes it, also if the engine
// fails it by wrong values for another reason. It is shown if the engine shows all memory that it reaches and none of it
// is a copy, or if memory does not grow by the size of a tensor and late writes reach the engine. On Apple's engine only
// the latter counts: what it shows of its memory is not all.
func (t EngineResult) copiesNothing() (status string, by []string) {
	passed := map[string]bool{}
	for _, c := range t.Checks {
		name := strings.TrimPrefix(c.Name, t.prefix)
		decides := strings.HasSuffix(name, copiesSuffix) || name == trial.GrowthCheck || strings.HasPrefix(name, sharingGroup)
		if decides && c.Status == trial.Fail {
			by = append(by, c.Name)
		}
		passed[name] = c.Status == trial.Pass
	}
	if len(by) > 0 {
		return cli.ClaimRefuted, by
	}
	ways := [][]string{{memoryCopies}, {trial.GrowthCheck, trial.LateWriteCheck}}
	if t.Receipt.Engine == engine.Apple {
		ways = ways[1:]
	}
	for _, way := range ways {
		missing := slices.DeleteFunc(slices.Clone(way), func(name string) bool { return passed[name] })
		if len(missing) == 0 {
			return cli.ClaimShown, t.named(way)
		}
		by = append(by, t.named(missing)...)
	}
	return cli.ClaimNotShown, by
}

// named puts the prefix of the engine before names of checks.
func (t EngineResult) named(checks []string) (full []string) {
	for _, name := range checks {
		full = append(full, t.prefix+name)
	}
	return full
}

// claimsKnown rejects a name that is no claim.
func claimsKnown(names []string) error {
	for _, name := range names {
		if !slices.Contains(ClaimNames(), name) {
			return cli.Badf("--require-shown %s is no claim; %s", name, near.Choices(name, "choose one of", ClaimNames()))
		}
	}
	return nil
}
