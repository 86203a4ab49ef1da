package main

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/engine/faulty"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/engine/wrap"
	"github.com/anekit/anekit/internal/host"
)

// checked is an engine with checks of these names and results.
func checked(name, prefix string, status map[string]string) engineResult {
	t := engineResult{receipt: ane.Receipt{Engine: name}}
	for check, s := range status {
		t.checks = append(t.checks, trial.Check{Name: check, Status: s})
	}
	if prefix != "" {
		t = t.withPrefix(prefix)
	}
	return t
}

func TestClaims(t *testing.T) {
	const pass, fail, skip = trial.Pass, trial.Fail, trial.Skip
	viewed := map[string]string{memoryCopies: pass, trial.GrowthCheck: skip, trial.LateWriteCheck: pass, "add/copies": pass}
	measured := map[string]string{memoryCopies: skip, trial.GrowthCheck: pass, trial.LateWriteCheck: pass, "add/copies": skip}
	blind := map[string]string{memoryCopies: skip, trial.GrowthCheck: skip, trial.LateWriteCheck: pass, "add/copies": skip}
	for name, c := range map[string]struct {
		engines []engineResult
		status  string
		by      []string
	}{
		"the engine shows its memory": {[]engineResult{checked(engine.Soft, "", viewed)}, claimShown,
			[]string{memoryCopies}},
		"memory was measured": {[]engineResult{checked(engine.StandIn, "", measured)}, claimShown,
			[]string{trial.GrowthCheck, trial.LateWriteCheck}},
		"what Apple's engine shows is not enough": {[]engineResult{checked(engine.Apple, "", viewed)}, claimNotShown,
			[]string{trial.GrowthCheck}},
		"Apple's engine, measured": {[]engineResult{checked(engine.Apple, "", measured)}, claimShown,
			[]string{trial.GrowthCheck, trial.LateWriteCheck}},
		"nothing can be seen": {[]engineResult{checked(engine.Apple, "", blind)}, claimNotShown, []string{trial.GrowthCheck}},
		"no check ran": {[]engineResult{checked(engine.Apple, "", nil)}, claimNotShown,
			[]string{trial.GrowthCheck, trial.LateWriteCheck}},
		"values alone are wrong": {[]engineResult{checked(engine.Soft, "", map[string]string{memoryCopies: pass,
			"add/values": fail})}, claimShown, []string{memoryCopies}},
		"a model is copied": {[]engineResult{checked(engine.Apple, "", map[string]string{trial.GrowthCheck: pass,
			trial.LateWriteCheck: pass, "add/copies": fail})}, claimRefuted, []string{"add/copies"}},
		"memory grows": {[]engineResult{checked(engine.Apple, "", map[string]string{trial.GrowthCheck: fail,
			trial.LateWriteCheck: pass})}, claimRefuted, []string{trial.GrowthCheck}},
		"late writes are lost": {[]engineResult{checked(engine.Apple, "", map[string]string{trial.GrowthCheck: pass,
			trial.LateWriteCheck: fail})}, claimRefuted, []string{trial.LateWriteCheck}},
		"the second engine shows less": {[]engineResult{checked(engine.Soft, "", viewed), checked(engine.Broker,
			"broker/", blind)}, claimNotShown, []string{"broker/" + memoryCopies, "broker/" + trial.GrowthCheck}},
		"the second engine copies": {[]engineResult{checked(engine.Soft, "", blind), checked(engine.Broker, "broker/",
			map[string]string{trial.GrowthCheck: fail})}, claimRefuted, []string{"broker/" + trial.GrowthCheck}},
	} {
		got := claimsOf(c.engines)
		require.Equal(t, []claim{{Name: noCopy, Status: c.status, By: c.by}}, got, name)
	}
}

func TestClaimsInWords(t *testing.T) {
	require.Equal(t, "no copy: shown by a, b", claim{Name: noCopy, Status: claimShown, By: []string{"a", "b"}}.words())
	require.Equal(t, "no copy: not shown here, for want of a", claim{Name: noCopy, Status: claimNotShown, By: []string{"a"}}.words())
	require.Equal(t, "no copy: refuted by a, b, c and 1 other check",
		claim{Name: noCopy, Status: claimRefuted, By: []string{"a", "b", "c", "d"}}.words())
}

// A claim is required of a run that passed, and named as the reason.
func TestRequiredClaims(t *testing.T) {
	r := report{Verdict: verdictPass, Claims: []claim{{Name: noCopy, Status: claimNotShown, By: []string{trial.GrowthCheck}}}}
	require.NoError(t, r.require(nil))
	require.Equal(t, verdictPass, r.Verdict)
	err := r.require([]string{noCopy})
	require.EqualError(t, err, "no copy: not shown here, for want of memory/growth; leave --require-shown no-copy out "+
		"to accept that")
	require.Equal(t, codeFail, exitCode(t.Context(), err))
	require.Equal(t, verdictFail, r.Verdict)
}

// On an engine that shows no view of its memory, as Apple's, no copy is shown by what a process can measure; each copy
// in this process refutes it, and with the control of the measurement switched off it is not shown.
func TestClaimsWithoutViews(t *testing.T) {
	if _, err := trial.OwnMemory(); err != nil {
		t.Skip(err)
	}
	for name, c := range map[string]struct {
		fault  string
		read   trial.Meter
		status string
		by     string
	}{
		"honest":         {"", trial.OwnMemory, claimShown, trial.LateWriteCheck},
		"no control":     {"", trial.BlindMeter, claimNotShown, trial.GrowthCheck},
		"hidden-copy":    {"hidden-copy", trial.OwnMemory, claimRefuted, trial.GrowthCheck},
		"copies-inputs":  {"copies-inputs", trial.OwnMemory, claimRefuted, trial.GrowthCheck},
		"copies-outputs": {"copies-outputs", trial.OwnMemory, claimRefuted, trial.GrowthCheck},
		"copies-at-bind": {"copies-at-bind", trial.OwnMemory, claimRefuted, trial.LateWriteCheck},
		"unmeasured":     {"hidden-copy", trial.BlindMeter, claimNotShown, trial.GrowthCheck},
	} {
		t.Run(name, func(t *testing.T) {
			fault, _ := faulty.ByName(c.fault)
			d, err := ane.Open(wrap.Hide(faulty.Wrap(soft.New(), fault)), "")
			require.NoError(t, err)
			run := checkRun{app: &app{out: io.Discard, err: io.Discard}, repeat: 1, meter: c.read}
			result, err := run.checkEngine(t.Context(), d)
			require.NoError(t, err)
			for _, as := range []string{engine.Soft, engine.Apple} {
				result.receipt.Engine = as
				claims := claimsOf([]engineResult{result})
				if host.Name == "darwin" && claims[0].Status == claimNotShown {
					continue // whether a Mac's footprint shows the copies made on purpose, only a Mac can tell
				}
				require.Equal(t, c.status, claims[0].Status, claims)
				require.Contains(t, claims[0].By, c.by)
			}
		})
	}
}
