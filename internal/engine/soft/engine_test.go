package soft_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
)

func TestInfo(t *testing.T) {
	dev, err := ane.Open(soft.New(), "no other")
	require.NoError(t, err)
	r := dev.Receipt()
	require.Equal(t, "soft", r.Engine)
	require.Equal(t, "no other", r.Fallback)
	require.Contains(t, r.Chip, runtime.GOARCH)
	require.Contains(t, r.OSBuild, host.Name)
	require.Contains(t, r.Numerics, "nearest even")
	require.NoError(t, dev.Close())
}

// TestOffsets: the engine rejects a tensor after byte 0 by default, and reads
// it in place with AllowOffsets.
func TestOffsets(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		var opts []soft.Option
		if allowed {
			opts = append(opts, soft.AllowOffsets())
		}
		dev, err := ane.Open(soft.New(opts...), "")
		require.NoError(t, err)
		ctx := context.Background()
		m, err := dev.Compile(ctx, ane.Source{Text: []byte(tiny)})
		require.NoError(t, err)
		require.NoError(t, m.Load(ctx))
		tape, err := unimem.Start(1 << 14)
		require.NoError(t, err)
		tensors := map[string]*ane.Tensor{}
		for i, l := range append(m.Inputs(), m.Outputs()...) {
			span, err := tape.Take(l.Bytes(), ane.RowAlign)
			require.NoError(t, err)
			tensors[l.Name], err = ane.OnSpan(tape, span, l)
			require.NoError(t, err)
			require.NoError(t, tensors[l.Name].Set(float32(i+1), 0, 0, 0, 31))
		}
		r, err := m.Bind(map[string]*ane.Tensor{"x": tensors["x"], "y": tensors["y"]},
			map[string]*ane.Tensor{"z": tensors["z"]})
		if !allowed {
			require.ErrorIs(t, err, ane.ErrOffset)
		} else {
			require.NoError(t, err)
			_, err = m.Evaluate(ctx, r)
			require.NoError(t, err)
			for name, want := range map[string]float32{"x": 1, "y": 2, "z": 3} { // the other elements are unchanged
				v, err := tensors[name].At(0, 0, 0, 31)
				require.NoError(t, err)
				require.Equal(t, want, v, name)
			}
			require.NoError(t, r.Close())
		}
		require.NoError(t, m.Close(ctx))
		require.NoError(t, dev.Close())
		require.NoError(t, tape.Close())
	}
}

// TestScratchIsReused: two values of a long chain are alive at a time, so
// scratch does not grow with its length.
func TestScratchIsReused(t *testing.T) {
	before := unimem.Live().Bytes
	open(t, chain("tensor<fp16, [512, 512]>", "relu(x = %s)", 200))
	require.LessOrEqual(t, unimem.Live().Bytes-before, int64(2*512*512*2+1<<16))
}

// TestScratchHasNoHoles: the plan needs no more scratch than the values alive
// at once.
func TestScratchHasNoHoles(t *testing.T) {
	before := unimem.Live().Bytes
	// a is alive throughout; b and c are as large as the values after them.
	open(t, program("tensor<fp16, [512, 512]> x", `tensor<fp16, [512, 512]> a = relu(x = x);
tensor<fp16, [512, 512]> b = relu(x = a);
tensor<fp16, [512, 512]> c = relu(x = b);
tensor<fp16, [1024, 512]> d = concat(values = (c, b), axis = int32(0), interleave = bool(false));
tensor<fp16, [512, 512]> e, tensor<fp16, [512, 512]> f = split(x = d, num_splits = int32(2), axis = int32(0));
tensor<fp16, [512, 512]> g = add(x = e, y = f);
tensor<fp16, [512, 512]> y = add(x = g, y = a);`, "y"))
	const value = 512 * 512 * 2
	require.LessOrEqual(t, unimem.Live().Bytes-before, int64(5*value+1<<16)) // a, b, c and d at once
}
