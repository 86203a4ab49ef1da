package standin

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
)

func TestInvalidOptions(t *testing.T) {
	for name, c := range map[string]struct {
		options  Options
		expected error
	}{
		"defaults":       {Options{}, nil},
		"every profile":  {Options{Profile: "16.5"}, nil},
		"other profile":  {Options{Profile: "14"}, ane.ErrName},
		"zero byte":      {Options{Missing: []string{"_ANEClient\x00x"}}, ane.ErrName},
		"empty word":     {Options{Changed: []string{""}}, ane.ErrName},
		"no file":        {Options{Pool: "a\x00b"}, ane.ErrName},
		"huge limit":     {Options{ProgramLimit: 1 << 31}, ane.ErrLength},
		"negative limit": {Options{ProgramLimit: -5}, ane.ErrLength},
	} {
		t.Run(name, func(t *testing.T) { require.ErrorIs(t, c.options.check(), c.expected) })
	}
}

func TestSameOptions(t *testing.T) {
	require.True(t, Options{}.same(Options{Profile: "26", Missing: []string{}}), "26 is the default")
	for _, o := range []Options{{Dir: "x"}, {Profile: "27"}, {Missing: []string{"a"}}, {Changed: []string{"a"}},
		{Pool: "a"}, {ProgramLimit: 1}, {Dump: "x"}} {
		require.False(t, Options{}.same(o), "%+v", o)
	}
}

func TestFaultKindsHaveNames(t *testing.T) {
	seen := map[string]bool{}
	for k := Exception; k <= Locked; k++ {
		require.NotEmpty(t, k.String())
		require.False(t, seen[k.String()], k.String())
		seen[k.String()] = true
	}
	require.Equal(t, "fault 0", FaultKind(0).String())
	require.Equal(t, "fault -1", FaultKind(-1).String())
	require.Equal(t, "fault 12", FaultKind(12).String())
}
