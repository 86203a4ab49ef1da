package enginetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/anekit/anekit/ane"
)

// Failure is one failure of a check.
type Failure struct {
	Check string // name of the check
	Text  string // what was expected and what happened
}

// String returns both on one line.
func (f Failure) String() string { return f.Check + ": " + f.Text }

// Option configures Check and Run.
type Option func(*config)

type config struct {
	name    string
	only    []string
	without map[string]string // check to reason
	limit   time.Duration
	settle  time.Duration // time limit for goroutines to end
}

// Named sets the required name of the engine. Without it any name passes except "apple",
// which only an engine on macOS may use.
func Named(name string) Option { return func(c *config) { c.name = name } }

// Only runs the named checks.
func Only(checks ...string) Option { return func(c *config) { c.only = append(c.only, checks...) } }

// Without omits the named checks. Run reports the reason.
func Without(reason string, checks ...string) Option {
	return func(c *config) {
		for _, n := range checks {
			c.without[n] = reason
		}
	}
}

// Limit is the time limit of one check; the default is two minutes. A check that takes
// longer has failed, and is abandoned without cleanup.
func Limit(d time.Duration) Option { return func(c *config) { c.limit = d } }

// check is one named property.
type check struct {
	name string
	what string // the requirement
	run  func(*env)
}

// all lists the checks in the order in which they run.
func all() []check {
	return slices.Concat(statements(), values(), sharing(), places(), repeats(), refusals(), waiting(), lives())
}

// Check opens an engine for each check and returns the failures. If ctx ends, the suite
// ends with a failure of the running check.
func Check(ctx context.Context, open func() ane.Engine, opts ...Option) []Failure {
	cfg, failures := configure(opts)
	for _, c := range all() {
		if !cfg.wanted(c.name) || cfg.without[c.name] != "" {
			continue
		}
		if ctx.Err() != nil {
			return append(failures, Failure{c.name, "not run: " + ctx.Err().Error()})
		}
		texts, _ := perform(ctx, c, open, cfg)
		for _, text := range texts {
			failures = append(failures, Failure{c.name, text})
		}
	}
	return failures
}

// Run makes a subtest of every check.
func Run(t *testing.T, open func() ane.Engine, opts ...Option) {
	t.Helper()
	cfg, unknown := configure(opts)
	for _, f := range unknown {
		t.Error(f)
	}
	for _, c := range all() {
		if !cfg.wanted(c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if why := cfg.without[c.name]; why != "" {
				t.Skip(why)
			}
			texts, skipped := perform(t.Context(), c, open, cfg)
			for _, text := range texts {
				t.Errorf("%s\nrequired: %s", text, c.what)
			}
			if skipped != "" && len(texts) == 0 {
				t.Skip(skipped)
			}
		})
	}
}

// configure applies options. Unknown names of checks are failures.
func configure(opts []Option) (*config, []Failure) {
	cfg := &config{without: map[string]string{}, limit: 2 * time.Minute, settle: time.Minute}
	for _, o := range opts {
		o(cfg)
	}
	known := map[string]bool{}
	for _, c := range all() {
		known[c.name] = true
	}
	named := slices.Clone(cfg.only)
	for n := range cfg.without {
		named = append(named, n)
	}
	var unknown []Failure
	for _, n := range named {
		if !known[n] {
			unknown = append(unknown, Failure{n, "no such check"})
		}
	}
	return cfg, unknown
}

// wanted reports whether Only selects the check.
func (c *config) wanted(name string) bool { return len(c.only) == 0 || slices.Contains(c.only, name) }
