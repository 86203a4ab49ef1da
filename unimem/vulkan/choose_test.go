package vulkan

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The order of devices does not depend on the order in which drivers report them.
func TestOrderOfDevices(t *testing.T) {
	want := []Info{{Name: "b", ID: "2", Kind: "integrated"}, {Name: "a", ID: "1", Kind: "discrete"},
		{Name: "a", ID: "2", Kind: "discrete"}, {Name: "c", Kind: "virtual"}, {Name: "s", Kind: "software"}, {Name: "o", Kind: "other"},
		{Name: "0", Kind: "integrated", Unusable: "too old"}}
	for shift := range want {
		got := slices.Concat(want[shift:], want[:shift])
		slices.Reverse(got)
		slices.SortStableFunc(got, before)
		require.Equal(t, want, got)
	}
}

func TestChoice(t *testing.T) {
	in := &instance{all: []physical{{Info: Info{Name: "GeForce RTX", ID: "aa01", Kind: "discrete"}},
		{Info: Info{Name: "GeForce RTX", ID: "aa02", Kind: "discrete"}},
		{Info: Info{Name: "llvmpipe", ID: "6d65", Kind: "software"}},
		{Info: Info{Name: "relic", ID: "00", Unusable: "too old"}}}}
	for choice, id := range map[string]string{"": "aa01", "aa02": "aa02", "AA02": "aa02", "LLVM": "6d65",
		"6d": "6d65"} {
		p, err := in.choose(config{choice: choice, chosen: true})
		require.NoError(t, err, choice)
		require.Equal(t, id, p.ID, choice)
	}
	for choice, text := range map[string]string{"geforce": "fits 2 devices, give an ID: GeForce RTX (aa01); ",
		"radeon": `"radeon" fits none of GeForce`, "relic": "relic is not usable: too old"} {
		_, err := in.choose(config{choice: choice, chosen: true})
		fails(t, err, ErrDevice, "")
		require.ErrorContains(t, err, text)
	}
	t.Setenv(envDevice, "llvm")
	p, err := in.choose(config{})
	require.NoError(t, err)
	require.Equal(t, "6d65", p.ID)
	p, err = in.choose(config{chosen: true})
	require.NoError(t, err)
	require.Equal(t, "aa01", p.ID, "an empty Choose goes before the variable")
	in.all = in.all[3:]
	_, err = in.choose(config{chosen: true})
	fails(t, err, ErrDevice, "")
	require.ErrorContains(t, err, "none is usable: relic (00), too old")
}

// The list is the same at every call, and Open takes its first device.
func TestListIsStable(t *testing.T) {
	d := device(t, Choose(""))
	first, err := List(t.Context())
	require.NoError(t, err)
	again, err := List(t.Context())
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Equal(t, first[0], d.Info())
	for _, i := range first {
		t.Logf("%+v", i)
		if i.HostMemory {
			require.Positive(t, i.Alignment)
		}
	}
	require.Equal(t, d.Info(), device(t, Choose(d.Info().ID)).Info())
}
