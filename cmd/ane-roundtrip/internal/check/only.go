package check

import (
	"path"
	"slices"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/gpu"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/models"
)

// selection says which checks run. The zero selection runs all checks.
type selection struct {
	pattern string // value of --only: a pattern of path.Match in which * and ? match / too; empty for all
	prefix  string // before the names of the checks of an engine: "broker/"
}

// Flat replaces the slashes of a name or pattern, so that * and ? of path.Match match them.
func Flat(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

// has reports whether one of the checks is selected.
func (s selection) has(names ...string) bool {
	return s.pattern == "" || slices.ContainsFunc(names, func(name string) bool {
		ok, _ := path.Match(Flat(s.pattern), Flat(s.prefix+name)) // only has checked the pattern
		return ok
	})
}

// filter keeps the selected checks, and the failed checks of models and engines that they need.
func (s selection) filter(checks []trial.Check) []trial.Check {
	return slices.DeleteFunc(checks, func(c trial.Check) bool {
		needed := c.Status == trial.Fail && (strings.HasSuffix(c.Name, runSuffix) || c.Name == engineError)
		return !needed && !s.has(c.Name)
	})
}

// Names of the checks that this package makes.
const (
	runSuffix      = "/run" // after the name of a model that could not run
	engineError    = "engine/error"
	memoryClosed   = "memory/closed"
	memoryCopies   = "memory/copies"
	memoryNeighbor = "memory/neighbours"
	memoryInputs   = "memory/inputs"
)

// sumChecks are those of all models together.
func sumChecks() []string { return []string{memoryCopies, memoryNeighbor, memoryInputs} }

// brokerAvailable is the check of a private broker that cannot start.
const brokerAvailable = brokerPrefix + "available"

// engineChecks lists the checks of an engine, which may run in another process, with a prefix before their names.
func engineChecks(prefix string, remote bool) []string {
	var names []string
	all, _ := models.All() // check ends without them
	for _, m := range all {
		names = append(names, trial.ModelChecks(m.Name)...)
	}
	names = slices.Concat(names, trial.NamesOf(trial.Evidence(nil, remote, nil)), sumChecks(), []string{memoryClosed})
	for i := range names {
		names[i] = prefix + names[i]
	}
	return names
}

// CheckNames lists the checks of an engine, which may run in another process, of a private broker, and of a GPU.
func CheckNames(remote, withBroker, withGPU bool) []string {
	names := engineChecks("", remote)
	if withBroker {
		names = append(names, engineChecks(brokerPrefix, true)...)
	}
	if withGPU {
		names = append(names, gpu.Names()...)
	}
	return names
}

// only returns the selection of the value of --only, which has to match at least one check of CheckNames.
// leftOut counts the checks that the pattern leaves out.
func only(pattern string, remote, withBroker, withGPU bool) (s selection, leftOut int, err error) {
	if pattern == "" {
		return s, 0, cli.Badf("--only needs a pattern; give one such as 'identity/*' or 'memory/*'")
	}
	if _, err := path.Match(Flat(pattern), ""); err != nil {
		return s, 0, cli.Badf("--only %q is not a valid pattern; give one such as 'identity/*', in which "+
			"* stands for any text", pattern)
	}
	s.pattern = pattern
	known := CheckNames(remote, withBroker, withGPU)
	for _, name := range known {
		if !s.has(name) {
			leftOut++
		}
	}
	// These checks run only on some machines; leftOut does not count them.
	occasional := []string{engineError, replayName + "/attributes", replayName + "/values", replayName + "/copies"}
	if withBroker {
		occasional = append(occasional, brokerAvailable)
	}
	if leftOut == len(known) && !s.has(occasional...) {
		return s, leftOut, cli.Badf("--only %s matches no check; %sthe names are in the table of ane-roundtrip check",
			pattern, near.Hint(pattern, append(known, groups(known)...)))
	}
	return s, leftOut, nil
}

// groups lists the patterns of the groups in which checks are: identity/*, broker/* and */values, each once.
func groups(names []string) (patterns []string) {
	for _, name := range names {
		for i := range name {
			if name[i] == '/' {
				patterns = append(patterns, name[:i+1]+"*", "*"+name[i:])
			}
		}
	}
	slices.Sort(patterns)
	return slices.Compact(patterns)
}

// OnlyChoices lists what --only may be: groups and names of checks, those of a private broker and of a GPU included.
func OnlyChoices() []string {
	names := CheckNames(false, true, true)
	return append(groups(names), names...)
}
