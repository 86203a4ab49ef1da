package info

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/objcbridge"
)

// The facts are those of the dumps m3ultra-power-transition (25F84 panics, 26A5421a refuses) and device-info.
func TestWarningOfTwoEngines(t *testing.T) {
	registry := func(n string) []objcbridge.Property {
		return []objcbridge.Property{{Service: "H1xANELoadBalancer", Name: "ANEDevicePropertyNumANEs", Value: n}}
	}
	for _, c := range []struct {
		engines  int
		build    string
		registry []objcbridge.Property
		warned   bool
	}{
		{2, "25F84", nil, true},
		{2, "24G84", nil, true},
		{1, "25F84", registry("2"), true},
		{-1, "25F84", registry("2"), true},
		{2, "26A5421a", nil, false},
		{2, "27A1", nil, false},
		{1, "25F84", registry("1"), false},
		{-1, "25F84", registry("many"), false},
		{2, "", nil, false},
		{2, "standin-26", nil, false},
	} {
		got := warnings(objcbridge.Report{Device: &objcbridge.Device{Engines: c.engines, Build: c.build},
			Registry: c.registry})
		require.Equal(t, c.warned, len(got) == 1, "%+v", c)
	}
	require.Empty(t, warnings(objcbridge.Report{Registry: registry("2")}), "no device is known")
}
