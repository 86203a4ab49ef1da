package main

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/models"
)

// selection says which checks are made. The zero selection is all of them.
type selection struct {
	pattern string // of --only, as path.Match takes it, but * and ? match / too; empty for all
	prefix  string // of the engine whose checks are meant: "broker/"
}

// flat hides the slashes of a name or pattern from path.Match.
func flat(s string) string { return strings.ReplaceAll(s, "/", "\x00") }

// has reports whether one of the checks is selected.
func (s selection) has(names ...string) bool {
	return s.pattern == "" || slices.ContainsFunc(names, func(name string) bool {
		ok, _ := path.Match(flat(s.pattern), flat(s.prefix+name)) // parse has tried the pattern
		return ok
	})
}

// filter keeps the selected checks, and the failures of what those need.
func (s selection) filter(checks []trial.Check) []trial.Check {
	return slices.DeleteFunc(checks, func(c trial.Check) bool {
		needed := c.Status == trial.Fail && (strings.HasSuffix(c.Name, runSuffix) || c.Name == engineError)
		return !needed && !s.has(c.Name)
	})
}

// Names of the checks that the command makes itself.
const (
	runSuffix      = "/run" // after a model's name; it tells of a model that could not run
	engineError    = "engine/error"
	memoryClosed   = "memory/closed"
	memoryCopies   = "memory/copies"
	memoryNeighbor = "memory/neighbours"
	memoryInputs   = "memory/inputs"
)

// checkNames lists the checks of an engine in this process, or apart in another.
func checkNames(all []models.Model, apart bool) (names []string) {
	for _, m := range all {
		names = append(names, trial.ModelChecks(m.Name)...)
	}
	names = append(names, trial.EvidenceChecks(apart)...)
	return append(names, memoryCopies, memoryNeighbor, memoryInputs, memoryClosed)
}

// only reads the value of --only: a pattern that selects some check of the engines, given
// by the prefix of their checks and whether they run in another process. left counts the
// checks that it leaves out.
func only(pattern string, engines map[string]bool) (s selection, left int, err error) {
	if pattern == "" {
		return selection{}, 0, badf("--only needs a pattern; give one such as 'identity/*' or 'memory/*'")
	}
	if _, err := path.Match(flat(pattern), ""); err != nil {
		return selection{}, 0, badf("--only %q is no pattern; give one such as 'identity/*', in which * stands for "+
			"any text", pattern)
	}
	all, err := models.All()
	if err != nil {
		return selection{}, 0, err
	}
	s.pattern = pattern
	var known []string
	for _, prefix := range slices.Sorted(maps.Keys(engines)) {
		here := selection{pattern, prefix}
		for _, name := range checkNames(all, engines[prefix]) {
			known = append(known, prefix+name)
			if !here.has(name) {
				left++
			}
		}
	}
	// Checks that are made on occasion count only if they are named.
	occasional := []string{engineError, replayName + "/attributes", replayName + "/values", replayName + "/copies"}
	if engines[engine.Broker+"/"] {
		occasional = append(occasional, engine.Broker+"/available")
	}
	if s.has(occasional...) {
		return s, left, nil
	}
	if left == len(known) {
		return s, left, badf("--only %s matches no check; %sthe names are in the table of ane-roundtrip check",
			pattern, near.Hint(pattern, known))
	}
	return s, left, nil
}
