package wasm_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/internal/host"
)

// A guest's tables, surfaces and small caches are memory and descriptors of the host too.
func TestGreedyGuests(t *testing.T) {
	if !host.Unmap {
		t.Skip("no surface is mapped over a guest here")
	}
	descriptors := func() int {
		if !host.DescriptorPaths {
			return 0
		}
		all, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(all)
	}
	r := newRig(t, paths()[1])
	g := r.start("greedy.wasm", wasm.Limits{})
	require.Equal(t, 10, g.call("grow_bounded", 10))
	require.Equal(t, -1, g.call("grow_bounded", 1), "its own maximum")
	require.Equal(t, -1, g.call("grow_open", 1<<20))
	require.Equal(t, 1, g.call("grow_open", 1000))
	require.Equal(t, 1001, g.call("grow_open", 0))

	before := descriptors()
	require.Equal(t, 1000, g.call("surfaces", 1000))
	require.Less(t, descriptors()-before, 100)

	require.EqualValues(t, wasm.CodeLimit, g.call("cache", 3000), "6,000 pages of 16 KiB are more than 64 MiB")
	require.Positive(t, g.call("cache", 2))
}

// A start function runs before the guest has its memory; the functions of the host say so.
func TestStartFunctionsGetACode(t *testing.T) {
	r := newRig(t, paths()[0])
	require.EqualValues(t, wasm.CodeUnsupported, r.start("greedy.wasm", wasm.Limits{}).call("early"))
}

func TestTablesAreBounded(t *testing.T) {
	ctx := context.Background()
	r := newRig(t, paths()[0])
	header := "\x00asm\x01\x00\x00\x00"
	for text, fits := range map[string]bool{
		"\x04\x06\x01\x70\x00\x80\x80\x40":                         true,  // 2^20 elements
		"\x04\x06\x01\x70\x00\x81\x80\x40":                         false, // one more
		"\x04\x06\x01\x70\x00\xff\xff\x3f\x04\x04\x01\x70\x00\x02": false, // together one more
		"\x04\x09\x02\x70\x00\x80\x80\x40\x70\x00\x01":             false,
		"\x04\x06\x02\x70\x00\x80\x80\x40":                         false, // cut off
		"\x04\x7f":                                                 false,
		"\x04":                                                     false,
	} {
		code, err := r.host.Compile(ctx, []byte(header+text))
		if !fits {
			require.ErrorIs(t, err, wasm.ErrCode, "%q", text)
			continue
		}
		require.NoError(t, err)
		require.NoError(t, code.Close(ctx))
	}
}
