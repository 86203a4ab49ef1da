package matrix

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// small returns a tensor of whole numbers whose sums of products are exact.
func small(r *rand.Rand, n int, halves bool) run.Vec {
	v := numbers(n, halves)
	for i := range n {
		if f := float32(r.IntN(7) - 3); halves {
			v.Half[i] = fp16.FromFloat32(f)
		} else {
			v.Single[i] = f
		}
	}
	return v
}

// draw returns windows of some kind, and none without an output position.
func draw(r *rand.Rand) *ops.Window {
	size := func(most int) []int { return []int{1, 1 + r.IntN(most), 1 + r.IntN(most)} }
	w := ops.Window{In: size(24), Kernel: size(5), Strides: size(3), Dilations: size(3), Groups: 1 + r.IntN(2),
		Before: []int{0, r.IntN(5), r.IntN(5)}, After: []int{0, r.IntN(5), r.IntN(5)}, Out: []int{1, 0, 0}}
	switch r.IntN(4) {
	case 0: // as many outputs as inputs
		w.Strides = []int{1, 1, 1}
		for i := 1; i < 3; i++ {
			w.Before[i] = r.IntN((w.Kernel[i]-1)*w.Dilations[i] + 1)
			w.After[i] = (w.Kernel[i]-1)*w.Dilations[i] - w.Before[i]
		}
	case 1: // one position
		w.Kernel, w.Strides, w.Before, w.After = []int{1, 1, 1}, []int{1, 1, 1}, []int{0, 0, 0}, []int{0, r.IntN(2), 0}
	case 2: // lines of several rectangles, or many lines
		w.In[1+r.IntN(2)] += 500
	}
	for i := 1; i < 3; i++ {
		w.Out[i] = (w.In[i]+w.Before[i]+w.After[i]-(w.Kernel[i]-1)*w.Dilations[i]-1)/w.Strides[i] + 1
	}
	if w.Out[1] < 1 || w.Out[2] < 1 {
		return nil
	}
	return &w
}

// TestWindows compares convolutions of all kinds with their definition. The workspace is no larger than asked for and
// has other numbers.
func TestWindows(t *testing.T) {
	useStrips(t)
	r := rand.New(rand.NewPCG(1, 2))
	for computed := 0; computed < 120; {
		w := draw(r)
		if w == nil {
			continue
		}
		computed++
		images, channels, outputs := 1+r.IntN(2), 1+r.IntN(4), 1+r.IntN(70)
		if r.IntN(4) == 0 {
			channels += stripDepth
		}
		if computed == 1 { // neither the channels nor the outputs of a rectangle fit together
			w = &ops.Window{In: []int{1, 16, 16}, Out: []int{1, 16, 16}, Kernel: []int{1, 3, 3}, Strides: []int{1, 1, 1},
				Dilations: []int{1, 1, 1}, Before: []int{0, 1, 1}, Groups: 1}
			channels, outputs = 210, 290
		}
		kernel, size := w.Kernel[1]*w.Kernel[2], w.Out[1]*w.Out[2]
		halves, n := r.IntN(2) == 0, w.In[1]*w.In[2]
		x := small(r, images*w.Groups*channels*n, halves)
		weights := small(r, w.Groups*outputs*channels*kernel, halves)
		bias := small(r, w.Groups*outputs, halves)
		got := numbers(images*w.Groups*outputs*size, false)
		runner := NewWindows(*w, images, channels,
			Operand{Index: 1, Rows: channels * kernel, Cols: outputs, Flip: true, InStrips: true}, true)
		if runner == nil {
			require.Equal(t, 1, kernel, "%+v", w)
			continue
		}
		room := make([]float32, runner.Room())
		for i := range room {
			room[i] = -7
		}
		c := &run.Call{Run: runner, In: []run.Vec{x, weights, bias}, Out: []run.Vec{got}, Work: [][]float32{room},
			Ctx: context.Background(), Workers: 1}
		if runner.Run(c); computed%2 == 0 { // again, a part at a time
			clear(got.Single)
			items := images * w.Groups * runner.down * runner.across * runner.blocks()
			for lo := 0; lo < items; {
				hi := min(lo+1+r.IntN(items), items)
				runner.Span(c, lo, hi, 0)
				lo = hi
			}
		}
		for range 200 {
			i := r.IntN(len(got.Single))
			output, at := i/size, i%size
			group := output / outputs % w.Groups
			plane := (output/outputs/w.Groups*w.Groups + group) * channels
			want := value(&bias, output%(w.Groups*outputs))
			for k := range channels * kernel {
				y := at/w.Out[2]*w.Strides[1] + k%kernel/w.Kernel[2]*w.Dilations[1] - w.Before[1]
				xx := at%w.Out[2]*w.Strides[2] + k%w.Kernel[2]*w.Dilations[2] - w.Before[2]
				if y >= 0 && y < w.In[1] && xx >= 0 && xx < w.In[2] {
					want += value(&x, ((plane+k/kernel)*w.In[1]+y)*w.In[2]+xx) *
						value(&weights, output%(w.Groups*outputs)*channels*kernel+k)
				}
			}
			require.Equal(t, want, got.Single[i], "%+v, channels %d, output %d of %d, position %d", w, channels, output,
				outputs, at)
		}
	}
}

// TestWindowsRefuses has windows over three axes, and those whose panel would be too large.
func TestWindowsRefuses(t *testing.T) {
	one := []int{1, 1, 1}
	for _, w := range []ops.Window{
		{In: []int{2, 4, 4}, Out: []int{2, 4, 4}, Kernel: one, Strides: one, Dilations: one, Before: []int{0, 0, 0}},
		{In: []int{1, 9, 1 << 20}, Out: []int{1, 7, 1 << 20}, Kernel: []int{1, 300, 1}, Strides: one, Dilations: one,
			Before: []int{0, 0, 0}},
		{In: []int{1, 1, 1 << 40}, Out: []int{1, 1, 3}, Kernel: []int{1, 1, 2}, Strides: one,
			Dilations: []int{1, 1, 1 << 39}, Before: []int{0, 0, 0}},
		{In: []int{1, 1, 1 << 40}, Out: []int{1, 1, 1 << 10}, Kernel: one, Strides: []int{1, 1, 1 << 30},
			Dilations: one, Before: []int{0, 0, 0}},
	} {
		require.Nil(t, NewWindows(w, 1, 1, Operand{Cols: 16}, false), "%+v", w)
	}
}

// ended is a context that ends when it has been looked at some times.
type ended struct {
	context.Context
	left int
}

func (c *ended) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestWindowsEnd ends the context between two parts of the channels.
func TestWindowsEnd(t *testing.T) {
	useStrips(t)
	w := ops.Window{In: []int{1, 20, 20}, Out: []int{1, 20, 20}, Kernel: []int{1, 3, 3}, Strides: []int{1, 1, 1},
		Dilations: []int{1, 1, 1}, Before: []int{0, 1, 1}, Groups: 1}
	const channels, outputs = 500, 16
	r := NewWindows(w, 1, channels, Operand{Index: 1, Rows: channels * 9, Cols: outputs, Flip: true,
		InStrips: true}, false)
	require.Less(t, r.chunk, channels)
	ctx := &ended{context.Background(), 2}
	c := &run.Call{Run: r, In: []run.Vec{numbers(channels*400, true), numbers(outputs*channels*9, true)}, Ctx: ctx,
		Out: []run.Vec{{DType: mil.FP16, Half: make([]fp16.Bits, outputs*400)}}, Work: [][]float32{make([]float32, r.Room())}}
	r.Span(c, 0, 1, 0)
	require.Equal(t, -1, ctx.left)
	require.Zero(t, c.Out[0].Half[0])
}
