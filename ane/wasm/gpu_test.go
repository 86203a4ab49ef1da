package wasm_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/unimem"
)

// notGPU is a GPU that adds a constant to words: the second range is the first one, changed.
type notGPU struct {
	imports, open int
	fails         error
	seen          uintptr       // the address of the last memory
	late          chan struct{} // ends work that outlives its Run; nil for none
	begun, waits  chan struct{}
}

type notMemory struct {
	gpu   *notGPU
	block *unimem.Block
	done  chan struct{} // of work that outlives its Run; nil for none
}

func (f *notGPU) Alignment() int { return 16 }

func (f *notGPU) Import(_ context.Context, b *unimem.Block) (hal.GPUMemory, error) {
	if f.fails != nil {
		return nil, f.fails
	}
	f.imports, f.open, f.seen = f.imports+1, f.open+1, b.Address()
	return &notMemory{gpu: f, block: b}, b.Retain()
}

func (m *notMemory) Address() uintptr { return m.block.Address() }

func (m *notMemory) Close() error {
	if m.done != nil {
		close(m.gpu.waits)
		<-m.done
	}
	m.gpu.open--
	m.block.Release()
	return nil
}

func (m *notMemory) Run(ctx context.Context, name string, ranges [][2]int, push []byte) error {
	switch {
	case name != "add":
		return &ane.Error{Op: "gpu", Err: ane.ErrName}
	case m.gpu.late != nil:
		m.done = m.gpu.late
		close(m.gpu.begun)
		<-ctx.Done()
		return ctx.Err()
	}
	mem, more := m.block.Bytes(), binary.LittleEndian.Uint32(push)
	for i := 0; i < ranges[0][1]; i += 4 {
		binary.LittleEndian.PutUint32(mem[ranges[1][0]+i:], binary.LittleEndian.Uint32(mem[ranges[0][0]+i:])+more)
	}
	return nil
}

// Places of the guest's memory.
const (
	nameAt, rangesAt, pushAt, inAt, outAt = 0, 16, 64, 16384, 32768
	gpuBytes                              = 64
)

// onGPU starts a guest whose memory has what gpu_run of 16 words needs.
func onGPU(t *testing.T, r path, gpu hal.GPU) *guest {
	t.Helper()
	r.host = append([]wasm.Option{wasm.GPU(gpu)}, r.host...)
	g := newRig(t, r).start("calls.wasm", wasm.Limits{})
	mem, err := g.Memory().Range(0, 49152)
	require.NoError(t, err)
	copy(mem[nameAt:], "add")
	for i, v := range []uint32{inAt, gpuBytes, outAt, gpuBytes} {
		binary.LittleEndian.PutUint32(mem[rangesAt+4*i:], v)
	}
	binary.LittleEndian.PutUint32(mem[pushAt:], 5)
	for i := range uint32(gpuBytes / 4) {
		binary.LittleEndian.PutUint32(mem[inAt+4*i:], 100+i)
	}
	return g
}

// A guest runs a kernel of the host in its own memory, on each path, also where surfaces of the engine come and go.
func TestGPU(t *testing.T) {
	for _, r := range paths() {
		if r.engine != engine.Soft {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			gpu := &notGPU{}
			g := onGPU(t, r, gpu)
			require.Nil(t, g.GPU())
			require.Equal(t, 16, g.call("gpu_alignment"))
			require.Zero(t, g.call("gpu_run", nameAt, 3, rangesAt, 2, pushAt, 4))
			for i := range gpuBytes / 4 {
				require.Equal(t, 105+i, g.call("load", outAt+4*i))
			}
			require.Zero(t, g.call("load", outAt+gpuBytes))
			copied := int64(0)
			if r.copying {
				copied = 4 * gpuBytes // both ranges, there and back
				require.NotEqual(t, g.Memory().Address(), gpu.seen)
			} else {
				require.Equal(t, g.Memory().Address(), gpu.seen, "the guest's own memory")
			}
			require.Equal(t, copied, g.Copied())
			require.Zero(t, g.call("gpu_run", nameAt, 3, rangesAt, 2, pushAt, 4))
			imports := 1
			if r.name == "surface" {
				imports = 2 // its surfaces come and go over the memory
			}
			require.Equal(t, []int{imports, 2 - imports}, []int{gpu.imports, gpu.open})
			require.Equal(t, imports == 2, g.GPU() == nil)
			require.NoError(t, g.Close(context.Background()))
			require.Zero(t, gpu.open, "the memory is free")
		})
	}
}

// Whatever a guest asks for, it gets a code, and the GPU reaches nothing outside of the guest's memory.
func TestGPURefuses(t *testing.T) {
	r := paths()[0]
	g := onGPU(t, r, &notGPU{})
	size := g.Memory().Size()
	for name, c := range map[string]struct {
		first [2]uint32
		args  []int
		want  wasm.Code
	}{
		"other kernel":    {[2]uint32{inAt, gpuBytes}, []int{nameAt, 2, rangesAt, 2, pushAt, 4}, wasm.CodeName},
		"name outside":    {[2]uint32{inAt, gpuBytes}, []int{size - 1, 3, rangesAt, 2, pushAt, 4}, wasm.CodeBounds},
		"table outside":   {[2]uint32{inAt, gpuBytes}, []int{nameAt, 3, size - 15, 2, pushAt, 4}, wasm.CodeBounds},
		"push outside":    {[2]uint32{inAt, gpuBytes}, []int{nameAt, 3, rangesAt, 2, size - 3, 4}, wasm.CodeBounds},
		"many ranges":     {[2]uint32{inAt, gpuBytes}, []int{nameAt, 3, rangesAt, 17, pushAt, 4}, wasm.CodeLimit},
		"many constants":  {[2]uint32{inAt, gpuBytes}, []int{nameAt, 3, rangesAt, 2, pushAt, 4097}, wasm.CodeLimit},
		"range beyond":    {[2]uint32{uint32(size) - 32, 64}, []int{nameAt, 3, rangesAt, 2, pushAt, 4}, wasm.CodeBounds},
		"reserved, unset": {[2]uint32{uint32(size), gpuBytes}, []int{nameAt, 3, rangesAt, 2, pushAt, 4}, wasm.CodeBounds},
		"wraps around":    {[2]uint32{math.MaxUint32, 2}, []int{nameAt, 3, rangesAt, 2, pushAt, 4}, wasm.CodeBounds},
	} {
		mem, err := g.Memory().Range(rangesAt, 8)
		require.NoError(t, err)
		binary.LittleEndian.PutUint32(mem, c.first[0])
		binary.LittleEndian.PutUint32(mem[4:], c.first[1])
		require.Equal(t, int(c.want), g.call("gpu_run", c.args...), name)
		require.Zero(t, g.call("load", outAt), name)
	}
	without := newRig(t, r).start("calls.wasm", wasm.Limits{})
	require.Equal(t, int(wasm.CodeUnsupported), without.call("gpu_alignment"))
	require.Equal(t, int(wasm.CodeUnsupported), without.call("gpu_run", 0, 0, 0, 0, 0, 0))
	broken := onGPU(t, r, &notGPU{fails: errors.New("no")})
	require.Equal(t, int(wasm.CodeEngine), broken.call("gpu_run", nameAt, 3, rangesAt, 2, pushAt, 4))
	broken = onGPU(t, paths()[3], &notGPU{fails: errors.New("no")})
	require.Equal(t, int(wasm.CodeEngine), broken.call("gpu_run", nameAt, 3, rangesAt, 2, pushAt, 4))
}

// A guest whose time is over while the GPU works keeps its memory until the GPU has ended.
func TestGPUOutlivesTheCall(t *testing.T) {
	gpu := &notGPU{late: make(chan struct{}), begun: make(chan struct{}), waits: make(chan struct{})}
	r := paths()[0]
	g := onGPU(t, r, gpu)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := g.Call(ctx, "gpu_run", nameAt, 3, rangesAt, 2, pushAt, 4)
		ended <- err
	}()
	<-gpu.begun
	cancel()
	closed := make(chan error, 1)
	go func() { closed <- g.Close(context.Background()) }()
	select {
	case <-gpu.waits: // the call waits, or Close if gpu_run has returned its code before the call was stopped
	case err := <-closed:
		require.FailNow(t, "the guest is closed before the GPU has ended", "%v", err)
	}
	require.Equal(t, 1, gpu.open)
	close(gpu.late)
	if err := <-ended; err != nil {
		require.ErrorIs(t, err, wasm.ErrTime)
	}
	require.NoError(t, <-closed)
	require.Zero(t, gpu.open)
}
