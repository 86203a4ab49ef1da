package objcbridge

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReportJSON(t *testing.T) {
	in := Report{
		Library: "l", Framework: "f",
		Checks: []Check{{Class: "_ANEModel", Selector: "state", Expected: "Q@:", Found: "I@:", NeededFor: "load",
			Required: true, Status: checkOtherEncoding}},
		Device: &Device{HasANE: AnswerYes, VirtualMachine: AnswerNo, InternalBuild: AnswerUnknown, Engines: -1,
			Cores: 16, Architecture: "h13g"},
	}
	b, err := json.Marshal(in)
	require.NoError(t, err)
	for _, want := range []string{`"status":"other encoding"`, `"has_ane":true`, `"virtual_machine":false`,
		`"internal_build":null`,
		`"class_method":false`, `"needed_for":"load"`, `"program_limit":0`} {
		require.Contains(t, string(b), want)
	}
}

func TestAnswerAndStatusNames(t *testing.T) {
	require.Equal(t, []string{"unknown", "no", "yes", "unknown"},
		[]string{AnswerUnknown.String(), AnswerNo.String(), AnswerYes.String(), Answer(7).String()})
	require.Equal(t, []string{"ok", "no class", "no selector", "other encoding", "status 9"},
		[]string{checkOK.String(), checkNoClass.String(), checkNoSelector.String(), checkOtherEncoding.String(),
			CheckStatus(9).String()})
}
