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

// Parts of names of checks of trial that decide about noCopy.
const (
	copiesSuffix = "/copies" // after the name of a model
	sharingGroup = "sharing/"
)

// Claim is what a verdict says about the engines as a whole. A claim that no check showed is not part of a pass.
type Claim struct {
	Name   string   `json:"name"`
	Status string   `json:"status"`
	By     []string `json:"by"` // the checks that show or refute it, or that could not show it here
}

// Values of Claim.Status.
const (
	ClaimShown    = "shown"
	ClaimNotShown = "not shown"
	ClaimRefuted  = "refuted"
)

// Words are the claim as a line of the verdict. It names three checks at most; the table has the others.
func (c Claim) Words() string {
	const most = 3
	checks := strings.Join(c.By, ", ")
	if more := len(c.By) - most; more > 0 {
		checks = strings.Join(c.By[:most], ", ") + " and " + cli.Counted(more, "other check", "other checks")
	}
	how := " by "
	if c.Status == ClaimNotShown {
		how = " here, for want of "
	}
	return strings.ReplaceAll(c.Name, "-", " ") + ": " + c.Status + how + checks
}

// claimOf judges noCopy by the checks of all engines; the engine that shows least decides.
func claimOf(engines []EngineResult) Claim {
	by := map[string][]string{}
	for _, e := range engines {
		status, checks := e.copiesNothing()
		by[status] = append(by[status], checks...)
	}
	status := ClaimShown
	for _, s := range []string{ClaimNotShown, ClaimRefuted} {
		if by[s] != nil {
			status = s
		}
	}
	return Claim{Name: NoCopy, Status: status, By: by[status]}
}

// copiesNothing judges noCopy on one engine. Any failed check of copies or shared memory refutes it, also if the engine
// fails it by wrong values for another reason. It is shown if the engine shows all memory that it reaches and none of
// it is a copy. It is also shown if memory does not grow by the size of a tensor and late writes reach the engine.
// Apple's engine has only this second way: what it shows of its memory is not all.
func (t EngineResult) copiesNothing() (status string, by []string) {
	passed := map[string]bool{}
	for _, c := range t.Checks {
		name := strings.TrimPrefix(c.Name, t.prefix)
		decides := strings.HasSuffix(name, copiesSuffix) || name == trial.GrowthCheck || strings.HasPrefix(name, sharingGroup)
		if decides && c.Status == trial.Fail {
			by = append(by, c.Name)
		}
		passed[c.Name] = c.Status == trial.Pass
	}
	if len(by) > 0 {
		return ClaimRefuted, by
	}
	ways := [][]string{{t.prefix + memoryCopies}, {t.prefix + trial.GrowthCheck, t.prefix + trial.LateWriteCheck}}
	if t.Receipt.Engine == engine.Apple {
		ways = ways[1:]
	}
	for _, way := range ways {
		missing := slices.DeleteFunc(slices.Clone(way), func(name string) bool { return passed[name] })
		if len(missing) == 0 {
			return ClaimShown, way
		}
		by = append(by, missing...)
	}
	return ClaimNotShown, by
}

// claimsKnown rejects a name that is no claim.
func claimsKnown(names []string) error {
	for _, name := range names {
		if name != NoCopy {
			return cli.Badf("--require-shown %s is no claim; %s", name, near.Choices(name, "choose one of", []string{NoCopy}))
		}
	}
	return nil
}

// requireShown sets the verdict of a report to fail and returns an error if a required claim is not shown.
func requireShown(r *cli.Report, c Claim, required []string) error {
	if c.Status == ClaimShown || !slices.Contains(required, c.Name) {
		return nil
	}
	r.Verdict = cli.VerdictFail
	return cli.Failf("%s; leave --require-shown %s out to accept that", c.Words(), c.Name)
}
