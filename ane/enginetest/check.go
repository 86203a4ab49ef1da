package enginetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/anekit/anekit/ane"
)

// Failure is one thing that an engine did wrong.
type Failure struct {
	Check string // name of the check
	Text  string // what was expected and what came
}

// String gives both on one line.
func (f Failure) String() string { return f.Check + ": " + f.Text }

// Option changes what is checked.
type Option func(*config)

type config struct {
	name    string
	only    []string
	without map[string]string // check to reason
	limit   time.Duration
}

// Named says what the engine has to call itself. Without it any name passes but
// "apple", which only an engine on macOS may use.
func Named(name string) Option { return func(c *config) { c.name = name } }

// Only runs the named checks.
func Only(checks ...string) Option { return func(c *config) { c.only = append(c.only, checks...) } }

// Without leaves the named checks out for a reason, which Run reports.
func Without(reason string, checks ...string) Option {
	return func(c *config) {
		for _, n := range checks {
			c.without[n] = reason
		}
	}
}

// Limit is how long one check may take, two minutes if not given. A check that
// takes longer has failed and is abandoned with what it holds.
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

// Checks returns the names of all checks, each with what it demands.
func Checks() map[string]string {
	names := map[string]string{}
	for _, c := range all() {
		names[c.name] = c.what
	}
	return names
}

// Check opens an engine for each check and returns what went wrong. An ended
// ctx ends the suite with a failure of the check that was running.
func Check(ctx context.Context, open func() ane.Engine, opts ...Option) []Failure {
	cfg, unknown := configure(opts)
	failures := unknown
	for _, c := range all() {
		if cfg.reason(c.name) != "" {
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

// configure applies options. Names of checks that do not exist are failures.
func configure(opts []Option) (*config, []Failure) {
	cfg := &config{without: map[string]string{}, limit: 2 * time.Minute}
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

// reason tells why a check is left out; it is empty for those to run.
func (c *config) reason(name string) string {
	if len(c.only) > 0 && !slices.Contains(c.only, name) {
		return "not among the checks asked for"
	}
	return c.without[name]
}
