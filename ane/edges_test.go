package ane_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/access"
	"github.com/anekit/anekit/internal/host"
)

// TestLayoutsOfOneTiB checks layouts whose elements end at MaxBytes, and the first that
// is longer. They have no memory.
func TestLayoutsOfOneTiB(t *testing.T) {
	rows := func(height, width, stride int) ane.Layout {
		return ane.Layout{Name: "x", DType: mil.FP16, Shape: []int{height, width},
			Batches: 1, Channels: 1, Depth: 1, Height: height, Width: width, RowStride: stride}
	}
	batches := func(n, stride int) ane.Layout {
		l := newLayout(t, "x", mil.FP16, n, 1, 1, 4)
		l.BatchStride = stride
		return l
	}
	plane := newLayout(t, "x", mil.FP16, 4)
	plane.PlaneStride = ane.MaxBytes // of an axis of length 1
	for name, c := range map[string]struct {
		layout ane.Layout
		fault  string
	}{
		"rows":                 {rows(1<<10, 1<<29, 1<<30), ""},
		"rows with gaps":       {rows(1<<9, 1<<29, 1<<31), ""},
		"one row too many":     {rows(1<<9+1, 1<<29, 1<<31), "larger than 1 TiB"},
		"short rows far apart": {rows(1<<19, 1, 1<<22), "larger than 1 TiB"},
		"too many elements":    {rows(1<<21, 1<<21, 1<<22), "Width is 2097152"},
		"batches":              {batches(2, 1<<39), ""},
		"batches far apart":    {batches(2, 1<<39+64), "larger than 1 TiB"},
		"a plane":              {plane, ""},
	} {
		err := c.layout.Check()
		if c.fault == "" {
			require.NoError(t, err, name)
			require.LessOrEqual(t, c.layout.Bytes(), ane.MaxBytes, name)
			continue
		}
		require.ErrorIs(t, err, ane.ErrShape, name)
		require.ErrorContains(t, err, c.fault, name)
	}
	_, err := ane.NewLayout("x", mil.FP16, 1<<20, 1<<21)
	require.ErrorContains(t, err, "axis 1 of")
}

// The bytes of a tensor of one batch end with its last element, for all positions of its axes.
func TestBytesEndWithTheLastElement(t *testing.T) {
	l := newLayout(t, "x", mil.FP16, 1, 2, 3, 4, 5)
	l.BatchStride = 0
	last, err := l.Offset(0, 1, 2, 3, 4)
	require.NoError(t, err)
	require.Equal(t, last+2, l.Bytes())
}

// A slice of an axis of length 1 is the whole tensor.
func TestSlicesOfAxesOfLengthOne(t *testing.T) {
	for _, shape := range [][]int{{1, 4}, {1, 4, 3}, {4, 1, 3}, {1, 1, 1, 4, 3}} {
		x := numbered(t, shape...)
		for axis, n := range shape {
			if n > 1 {
				continue
			}
			s, err := x.Slice(axis, 0, 1)
			require.NoError(t, err)
			require.Equal(t, shape, s.Layout().Shape)
			want, err := x.Float32s()
			require.NoError(t, err)
			got, err := s.Float32s()
			require.NoError(t, err)
			require.Equal(t, want, got, "%v: axis %d", shape, axis)
			_, err = x.Slice(axis, 1, 1)
			require.ErrorContains(t, err, "1 to 1 on axis")
		}
	}
}

// A slice of one batch has the bytes of its channels, not those of the whole tensor.
func TestSlicesOfChannelsAreShorter(t *testing.T) {
	whole := fp16On(t, 1, 3, 4, 5)
	require.Equal(t, 3*4*64, whole.Layout().Bytes(), "a row of 5 takes 64 bytes")
	part, err := whole.Slice(1, 0, 2)
	require.NoError(t, err)
	require.Equal(t, 2*4*64, part.Layout().Bytes())
	part, err = part.Slice(2, 0, 1)
	require.NoError(t, err)
	require.Equal(t, 2*4*64, part.Layout().Bytes(), "planes stay 4 rows apart")
}

// Tensors that touch share no byte.
func TestNeighborsAreCopied(t *testing.T) {
	x := numbered(t, 2, 3, 5)
	first, err := x.Slice(0, 0, 1)
	require.NoError(t, err)
	second, err := x.Slice(0, 1, 2)
	require.NoError(t, err)
	for _, c := range [][2]*ane.Tensor{{first, second}, {second, first}} {
		_, err := ane.Copy(c[0], c[1])
		require.NoError(t, err)
	}
}

// The header of a shared tensor may give the end of the last element as the size.
func TestAdoptedTensorsEndWithTheirLastElement(t *testing.T) {
	if !host.ShareByFD {
		t.Skip("only memory of Linux is shared by a descriptor")
	}
	memory, header, err := ane.ShareTensor(fp16On(t, 3, 5))
	require.NoError(t, err)
	defer memory.Close()
	for size, fits := range map[int]bool{2*64 + 5*2 - 1: false, 2*64 + 5*2: true, 3 * 64: true, 3*64 + 1: false} {
		var fields map[string]any
		require.NoError(t, json.Unmarshal(header, &fields))
		fields["size"] = size
		changed, err := json.Marshal(fields)
		require.NoError(t, err)
		x, err := ane.AdoptTensor(memory, changed)
		if !fits {
			require.ErrorIs(t, err, ane.ErrShort, "%d", size)
			continue
		}
		require.NoError(t, err, "%d", size)
		require.Len(t, x.Bytes(), size)
		require.NoError(t, x.Block().Close())
	}
}

// remote is an adder whose invocations are in another process.
type remote struct {
	*fake
	qos error // of SetQoS
}

func (r remote) Compile(ctx context.Context, s ane.Source) (ane.Executable, error) {
	x, err := r.fake.Compile(ctx, s)
	return remoteExec{x, r}, err
}

type remoteExec struct {
	ane.Executable
	r remote
}

func (x remoteExec) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	run, err := x.Executable.Prepare(in, out)
	return remoteRun{run, x.r}, err
}

type remoteRun struct {
	ane.Invocation
	r remote
}

// Peer returns no address for the second input.
func (remoteRun) Peer() (int, []uintptr, []uintptr) { return 42, []uintptr{100}, []uintptr{300} }

func (r remoteRun) SetQoS(ane.QoS) error { return r.r.qos }

func TestPeersNameTheirAddresses(t *testing.T) {
	d, err := ane.Open(remote{fake: adder(t)}, "")
	require.NoError(t, err)
	m, err := d.Compile(t.Context(), anySource)
	require.NoError(t, err)
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	type peer struct {
		pid     int
		address uintptr
	}
	in := func(name string) peer { pid, at := access.Address(r, access.Input, name); return peer{pid, at} }
	out := func(name string) peer { pid, at := access.Address(r, access.Output, name); return peer{pid, at} }
	require.Equal(t, peer{42, 100}, in("zeta"))
	require.Equal(t, peer{42, 300}, out("sum"))
	require.Equal(t, peer{}, in("alpha"), "the peer says no address")
	require.Equal(t, peer{}, in("sum"), "an output is not an input")
	require.Equal(t, peer{}, out("zeta"))
	require.NoError(t, r.Close())
	require.Equal(t, peer{}, in("zeta"), "closed")
	require.NoError(t, m.Close(t.Context()))
	require.NoError(t, d.Close())
}

// A quality of service that the engine refuses does not change that of later runs.
func TestQoSThatTheEngineRefuses(t *testing.T) {
	refused := errors.New("no such queue")
	for _, refusal := range []error{nil, refused} {
		d, err := ane.Open(remote{adder(t), refusal}, "")
		require.NoError(t, err)
		m, err := d.Compile(t.Context(), anySource)
		require.NoError(t, err)
		r, err := m.NewRequest(t.Context())
		require.NoError(t, err)
		require.Equal(t, refusal, r.SetQoS(ane.QoSUtility))
		result, err := r.Evaluate(t.Context())
		require.NoError(t, err)
		require.Equal(t, refusal == nil, result.QoS == ane.QoSUtility)
		require.NoError(t, r.Close())
		require.NoError(t, m.Close(t.Context()))
		require.NoError(t, d.Close())
	}
}
