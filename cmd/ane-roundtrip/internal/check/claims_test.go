package check

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/engine/faulty"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/engine/wrap"
	"github.com/anekit/anekit/internal/host"
)

// checked is an engine with checks of these names and results.
func checked(name, prefix string, status map[string]string) EngineResult {
	t := EngineResult{Receipt: ane.Receipt{Engine: name}, prefix: prefix}
	for check, s := range status {
		t.Checks = append(t.Checks, trial.Check{Name: prefix + check, Status: s})
	}
	return t
}

func TestClaims(t *testing.T) {
	const pass, fail, skip = trial.Pass, trial.Fail, trial.Skip
	viewed := map[string]string{memoryCopies: pass, trial.GrowthCheck: skip, trial.LateWriteCheck: pass, "add/copies": pass}
	measured := map[string]string{memoryCopies: skip, trial.GrowthCheck: pass, trial.LateWriteCheck: pass, "add/copies": skip}
	blind := map[string]string{memoryCopies: skip, trial.GrowthCheck: skip, trial.LateWriteCheck: pass, "add/copies": skip}
	for name, c := range map[string]struct {
		engines []EngineResult
		status  string
		by      []string
	}{
		"the engine shows its memory": {[]EngineResult{checked(engine.Soft, "", viewed)}, ClaimShown,
			[]string{memoryCopies}},
		"memory was measured": {[]EngineResult{checked(engine.StandIn, "", measured)}, ClaimShown,
			[]string{trial.GrowthCheck, trial.LateWriteCheck}},
		"what Apple's engine shows is not enough": {[]EngineResult{checked(engine.Apple, "", viewed)}, ClaimNotShown,
			[]string{trial.GrowthCheck}},
		"Apple's engine, measured": {[]EngineResult{checked(engine.Apple, "", measured)}, ClaimShown,
			[]string{trial.GrowthCheck, trial.LateWriteCheck}},
		"nothing can be seen": {[]EngineResult{checked(engine.Apple, "", blind)}, ClaimNotShown, []string{trial.GrowthCheck}},
		"no check ran": {[]EngineResult{checked(engine.Apple, "", nil)}, ClaimNotShown,
			[]string{trial.GrowthCheck, trial.LateWriteCheck}},
		"values alone are wrong": {[]EngineResult{checked(engine.Soft, "", map[string]string{memoryCopies: pass,
			"add/values": fail})}, ClaimShown, []string{memoryCopies}},
		"a model is copied": {[]EngineResult{checked(engine.Apple, "", map[string]string{trial.GrowthCheck: pass,
			trial.LateWriteCheck: pass, "add/copies": fail})}, ClaimRefuted, []string{"add/copies"}},
		"memory grows": {[]EngineResult{checked(engine.Apple, "", map[string]string{trial.GrowthCheck: fail,
			trial.LateWriteCheck: pass})}, ClaimRefuted, []string{trial.GrowthCheck}},
		"late writes are lost": {[]EngineResult{checked(engine.Apple, "", map[string]string{trial.GrowthCheck: pass,
			trial.LateWriteCheck: fail})}, ClaimRefuted, []string{trial.LateWriteCheck}},
		"the second engine shows less": {[]EngineResult{checked(engine.Soft, "", viewed), checked(engine.Broker,
			"broker/", blind)}, ClaimNotShown, []string{"broker/" + memoryCopies, "broker/" + trial.GrowthCheck}},
		"the second engine copies": {[]EngineResult{checked(engine.Soft, "", blind), checked(engine.Broker, "broker/",
			map[string]string{trial.GrowthCheck: fail})}, ClaimRefuted, []string{"broker/" + trial.GrowthCheck}},
	} {
		require.Equal(t, Claim{Name: NoCopy, Status: c.status, By: c.by}, claimOf(c.engines), name)
	}
}

func TestClaimsInWords(t *testing.T) {
	require.Equal(t, "no copy: shown by a, b", Claim{Name: NoCopy, Status: ClaimShown, By: []string{"a", "b"}}.Words())
	require.Equal(t, "no copy: not shown here, for want of a", Claim{Name: NoCopy, Status: ClaimNotShown, By: []string{"a"}}.Words())
	require.Equal(t, "no copy: refuted by a, b, c and 1 other check",
		Claim{Name: NoCopy, Status: ClaimRefuted, By: []string{"a", "b", "c", "d"}}.Words())
}

// A claim is required of a run that passed, and named as the reason.
func TestRequiredClaims(t *testing.T) {
	r := &cli.Report{Verdict: cli.VerdictPass}
	claim := Claim{Name: NoCopy, Status: ClaimNotShown, By: []string{trial.GrowthCheck}}
	require.NoError(t, requireShown(r, claim, nil))
	require.Equal(t, cli.VerdictPass, r.Verdict)
	err := requireShown(r, claim, []string{NoCopy})
	require.EqualError(t, err, "no copy: not shown here, for want of memory/growth; leave --require-shown no-copy out "+
		"to accept that")
	require.Equal(t, cli.CodeFail, cli.ExitCode(t.Context(), err))
	require.Equal(t, cli.VerdictFail, r.Verdict)
}

// On an engine that shows no view of its memory, as Apple's, no copy is shown by what a process can measure; each copy
// in this process refutes it, and with the control of the measurement switched off it is not shown.
func TestClaimsWithoutViews(t *testing.T) {
	if _, err := trial.OwnMemory(); err != nil {
		t.Skip(err)
	}
	for name, c := range map[string]struct {
		fault  string
		inject string
		status string
		by     string
	}{
		"honest":         {"", "", ClaimShown, trial.LateWriteCheck},
		"no control":     {"", blindMeter, ClaimNotShown, trial.GrowthCheck},
		"hidden-copy":    {"hidden-copy", "", ClaimRefuted, trial.GrowthCheck},
		"copies-inputs":  {"copies-inputs", "", ClaimRefuted, trial.GrowthCheck},
		"copies-outputs": {"copies-outputs", "", ClaimRefuted, trial.GrowthCheck},
		"copies-at-bind": {"copies-at-bind", "", ClaimRefuted, trial.LateWriteCheck},
		"unmeasured":     {"hidden-copy", blindMeter, ClaimNotShown, trial.GrowthCheck},
	} {
		t.Run(name, func(t *testing.T) {
			fault, _ := faulty.ByName(c.fault)
			d, err := ane.Open(wrap.Hide(faulty.Wrap(soft.New(), fault)), "")
			require.NoError(t, err)
			run := CheckRun{App: &cli.App{Out: io.Discard, Err: io.Discard}, Repeat: 1, inject: c.inject}
			result, err := run.CheckEngine(t.Context(), d, "")
			require.NoError(t, err)
			for _, as := range []string{engine.Soft, engine.Apple} {
				result.Receipt.Engine = as
				claim := claimOf([]EngineResult{result})
				if host.Name == "darwin" && claim.Status == ClaimNotShown {
					continue // whether a Mac's footprint shows the copies made on purpose, only a Mac can tell
				}
				require.Equal(t, c.status, claim.Status, claim)
				require.Contains(t, claim.By, c.by)
			}
		})
	}
}
