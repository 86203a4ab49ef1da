package trial

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/faulty"
	"github.com/anekit/anekit/internal/engine/soft"
	enginewrap "github.com/anekit/anekit/internal/engine/wrap"
)

// evidenceOf is the status of each check of an engine that shows no view.
func evidenceOf(t *testing.T, fault string, read Meter) (status map[string]string, checks []Check) {
	t.Helper()
	f, ok := faulty.ByName(fault)
	require.Equal(t, fault != "", ok)
	d, err := ane.Open(enginewrap.Hide(faulty.Wrap(soft.New(), f)), "")
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	checks, err = Make(t.Context(), Evidence(d, false, read), func(...string) bool { return true }, nil)
	require.NoError(t, err)
	status = map[string]string{}
	for _, c := range checks {
		status[c.Name] = c.Status
	}
	return status, checks
}

// Without a view of the engine's memory, each copy fails a check, and without a copy the checks pass that show it.
func TestCopiesShowWithoutViews(t *testing.T) {
	if _, err := OwnMemory(); err != nil {
		t.Skip(err)
	}
	for fault, failed := range map[string][]string{
		"":               nil,
		"hidden-copy":    {GrowthCheck},
		"copies-inputs":  {GrowthCheck},
		"copies-outputs": {GrowthCheck},
		"copies-at-bind": {GrowthCheck, LateWriteCheck, lateReadCheck, turnsCheck, chainCheck},
		"stale-result":   {GrowthCheck, LateWriteCheck, lateReadCheck, turnsCheck, chainCheck}, // keeps results
		"one-request":    {turnsCheck, chainCheck},
	} {
		t.Run("fault "+fault, func(t *testing.T) {
			status, checks := evidenceOf(t, fault, OwnMemory)
			for _, c := range checks {
				require.Contains(t, NamesOf(Evidence(nil, false, nil)), c.Name)
				if strings.HasPrefix(c.Name, "sharing/") && strings.Contains(c.Detail, "expose") {
					require.Equal(t, Skip, c.Status, c.Name)
				}
			}
			for _, name := range []string{GrowthCheck, LateWriteCheck, lateReadCheck, turnsCheck, chainCheck} {
				want := Pass
				if slices.Contains(failed, name) {
					want = Fail
				}
				if fault == "one-request" && name == GrowthCheck {
					want = Skip // the large tensors were not computed
				}
				require.Equal(t, want, status[name], "%s: %v", name, checks)
			}
		})
	}
}

// A meter that does not see copies made on purpose has measured nothing, and where none can be read nothing large is
// compiled.
func TestGrowthNeedsAMeter(t *testing.T) {
	f, ok := faulty.ByName("hidden-copy")
	require.True(t, ok)
	for what, c := range map[string]struct {
		read     Meter
		detail   string
		compiles bool
	}{
		"blind":  {BlindMeter, "made on purpose", true},
		"broken": {func() (int64, error) { return 0, errors.New("no meter here") }, "no meter here", false},
	} {
		counting := &compileCounter{Engine: faulty.Wrap(soft.New(), f)}
		d, err := ane.Open(counting, "")
		require.NoError(t, err)
		growth := func(names ...string) bool { return names[0] == GrowthCheck }
		checks, err := Make(t.Context(), Evidence(d, false, c.read), growth, nil)
		require.NoError(t, err)
		require.NoError(t, d.Close())
		require.Len(t, checks, 1)
		require.Equal(t, Skip, checks[0].Status, what)
		require.Contains(t, checks[0].Detail, c.detail)
		require.Equal(t, c.compiles, counting.compiles > 0, what)
	}
}

// Copies can be where the memory grew before the tensors were bound, and parts of tensors can pass through a buffer that
// is smaller than they are: neither shows that nothing is copied.
func TestGrowthThatShowsNothing(t *testing.T) {
	const mib, pair = 1 << 20, 32 << 20
	for what, c := range map[string]struct {
		readings []int64 // before all, after the load, after each round, then around the control
		want     string
		detail   string
	}{
		"nothing grows":      {[]int64{0, 4 * pair, 4 * pair, 4 * pair, 4 * pair, 0, pair}, Pass, "changed by 0.0 MiB"},
		"some at the load":   {[]int64{0, 4*pair + 2*mib, 4*pair + 2*mib, 5 * pair, 6 * pair, 0, pair}, Pass, "changed by 0.0 MiB"},
		"copies at the load": {[]int64{0, 5 * pair}, Skip, "grew by 32.0 MiB when the program was loaded"},
		"a small buffer":     {[]int64{0, 4 * pair, 4*pair + 4*mib, 4*pair + 4*mib, 5 * pair, 0, pair}, Skip, "a buffer that parts"},
		"a copy":             {[]int64{0, 4 * pair, 5 * pair, 6 * pair, 5 * pair, 0, pair}, Fail, "changed by 32.0 MiB"},
	} {
		d, err := ane.Open(soft.New(), "")
		require.NoError(t, err)
		n := 0
		e := &evidence{device: d, read: func() (int64, error) {
			n++
			return c.readings[n-1], nil
		}}
		checks, err := Step{Run: e.growthHere}.Make(t.Context())
		require.NoError(t, err, what)
		require.NoError(t, d.Close())
		check := checks[0]
		require.Equal(t, c.want, check.Status, "%s: %s", what, check.Detail)
		require.Contains(t, check.Detail, c.detail, what)
		require.Len(t, c.readings, n, what)
	}
}

// compileCounter counts what its engine compiles.
type compileCounter struct {
	ane.Engine
	compiles int
}

func (c *compileCounter) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	c.compiles++
	return c.Engine.Compile(ctx, src)
}
