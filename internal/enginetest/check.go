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
	what string
	run  func(*env)
}

// all lists the checks in the order in which they run.
func all() []check {
	return slices.Concat(statements(), values(), sharing(), places(), repeats(), refusals(), waiting(), lives())
}

// Checks returns the names of all checks, each with its requirement.
func Checks() map[string]string {
	names := map[string]string{}
	for _, c := range all() {
		names[c.name] = c.what
	}
	return names
}

// Check opens an engine for each check and returns the failures. If ctx ends, the suite
// ends with a failure of the running check.
func Check(ctx context.Context, open func() ane.Engine, opts ...Option) []Failure {
	cfg, unknown := configure(opts)
	failures := unknown
	for _, c := range all() {
		if !cfg.wanted(c.name) || cfg.reason(c.name) != "" {
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
			if why := cfg.reason(c.name); why != "" {
				t.Skip(why)
			}
			texts, skipped := perform(t.Context(), c, open, cfg)
			for _, text := range texts {
				t.Error(text)
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
	var unknown []Failure
	known := Checks()
	for _, n := range cfg.only {
		if known[n] == "" {
			unknown = append(unknown, Failure{n, "no such check"})
		}
	}
	for n := range cfg.without {
		if known[n] == "" {
			unknown = append(unknown, Failure{n, "no such check"})
		}
	}
	return cfg, unknown
}

// reason is the reason to omit a check; it is empty for checks to run.
func (c *config) reason(name string) string { return c.without[name] }

// wanted reports whether Only selects the check.
func (c *config) wanted(name string) bool { return len(c.only) == 0 || slices.Contains(c.only, name) }
