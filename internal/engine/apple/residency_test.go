package apple_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/objcbridge"
)

// TestResidency: the load call gets kANEFKeepModelMemoryWiredKey as the Source asks, by the value that the framework
// exports, and nothing by default; so do a Load after Unload and one that compiles again. The receipt says it.
func TestResidency(t *testing.T) {
	f := framework(t)
	d, err := ane.Open(keptOpen{open(t)}, "")
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	for _, c := range []struct {
		asked           ane.Residency
		wired, pageable int64 // loads with the option
		json            string
	}{
		{ane.DefaultResidency, 0, 0, ""},
		{ane.Wired, 3, 0, `"residency":"wired"`},
		{ane.Pageable, 0, 3, `"residency":"pageable"`},
	} {
		before := f.Counts()
		m, err := d.Compile(t.Context(), ane.Source{File: "add.mil", Text: text(fresh()), Residency: c.asked})
		require.NoError(t, err)
		require.NoError(t, m.Load(t.Context()))
		require.NoError(t, m.Unload(t.Context()))
		require.NoError(t, m.Load(t.Context()))
		require.NoError(t, m.Unload(t.Context()))
		f.PurgeAll()
		require.NoError(t, m.Load(t.Context()))
		now := f.Counts()
		require.Equal(t, []int64{c.wired, c.pageable}, []int64{now.Wired - before.Wired, now.Pageable - before.Pageable})
		require.Equal(t, c.asked, m.Receipt().Residency)
		text, err := json.Marshal(m.Receipt())
		require.NoError(t, err)
		if c.json == "" {
			require.NotContains(t, string(text), "residency")
		} else {
			require.Contains(t, string(text), c.json)
		}
		var back ane.Receipt
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, m.Receipt(), back)
		require.NoError(t, m.Close(t.Context()))
	}
	_, err = d.Compile(t.Context(), ane.Source{File: "add.mil", Text: text(fresh()), Residency: "3"})
	require.ErrorIs(t, err, ane.ErrCompile)
	require.ErrorContains(t, err, "residency 3")
}

// TestResidencySeparatesPrograms: functions of one text share a load only if they ask for the same memory.
func TestResidencySeparatesPrograms(t *testing.T) {
	f := framework(t)
	d, err := ane.Open(keptOpen{open(t)}, "")
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	both := []byte(`program(1.3)
{
    func first<ios18>(tensor<fp16, [1, 64, 1, 32]> a) {
        tensor<fp16, [1, 64, 1, 32]> p = add(x = a, y = fp16(1))[name = string("p")];
    } -> (p);
    func second<ios18>(tensor<fp16, [1, 64, 1, 32]> b) {
        tensor<fp16, [1, 64, 1, 32]> q = add(x = b, y = fp16(2))[name = string("q")];
    } -> (q);
}`)
	before := f.Counts().Loads
	for _, c := range []struct {
		function string
		asked    ane.Residency
		loads    int64
	}{{"first", ane.Wired, 1}, {"second", ane.Wired, 1}, {"second", ane.Pageable, 2}} {
		m, err := d.Compile(t.Context(), ane.Source{File: "both.mil", Text: both, Function: c.function, Residency: c.asked})
		require.NoError(t, err)
		defer func() { require.NoError(t, m.Close(t.Context())) }()
		require.NoError(t, m.Load(t.Context()))
		require.Equal(t, c.loads, f.Counts().Loads-before)
	}
}

// TestResidencyOfTheBridge: the bridge refuses what is no residency.
func TestResidencyOfTheBridge(t *testing.T) {
	f := framework(t)
	c := f.Config()
	require.NoError(t, c.Open())
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	_, p := bridged(t, f)
	var e *objcbridge.Error
	require.ErrorAs(t, p.SetResidency(3), &e)
	require.Equal(t, objcbridge.ReasonArgument, e.Reason)
	require.NoError(t, p.SetResidency(objcbridge.ResidencyDefault))
}
