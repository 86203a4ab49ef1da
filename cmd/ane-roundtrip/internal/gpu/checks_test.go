package gpu

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/engine/broker"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
)

func TestMain(m *testing.M) {
	broker.ServeChild()
	leaktest.Main(m)
}

// fake is a device whose kernels are Go. Its faults are those that the checks have to find.
type fake struct {
	stale  bool // works on a copy that it makes when it imports
	wrong  bool // computes the last element of a product wrongly
	eager  bool // does not wait
	spills bool // writes before the range that it is given
	keeps  [][]byte
	leak   bool // keeps as much memory as it imports
	fails  error
}

type fakeMemory struct {
	block *unimem.Block
	own   *unimem.Block // nil in place
}

func (m *fakeMemory) memory() *unimem.Block {
	if m.own != nil {
		return m.own
	}
	return m.block
}
func (m *fakeMemory) Address() uintptr { return m.memory().Address() }
func (m *fakeMemory) Bytes() []byte    { return m.memory().Bytes() }

func (m *fakeMemory) Close() (err error) {
	if m.own != nil {
		err = m.own.Close()
	}
	if m.block != nil {
		m.block.Release()
	}
	return err
}

func (f *fake) Report() Report { return Report{Name: "fake"} }

func (f *fake) Close(context.Context) error { return nil }

func (f *fake) Own(_ context.Context, size int) (Memory, error) {
	b, err := unimem.Open(size, unimem.Warm())
	return &fakeMemory{own: b}, err
}

func (f *fake) Import(_ context.Context, b *unimem.Block) (Memory, error) {
	if f.fails != nil {
		return nil, f.fails
	}
	if err := b.Retain(); err != nil {
		return nil, err
	}
	m := &fakeMemory{block: b}
	if f.stale {
		own, err := unimem.Open(b.Size())
		if err != nil {
			return nil, err
		}
		copy(own.Bytes(), b.Bytes())
		m.own = own
	}
	if f.leak {
		kept := make([]byte, b.Size())
		for i := 0; i < len(kept); i += 512 {
			kept[i] = 1
		}
		f.keeps = append(f.keeps, kept)
	}
	return m, nil
}

func (f *fake) Load(ctx context.Context, b *unimem.Block) (Memory, error) { return f.Import(ctx, b) }

func (f *fake) Copied() int64 { return 0 }

func (f *fake) Kernels() hal.GPU { return nil }

func (f *fake) Capture(_ string, run func() error) error { return run() }

func (f *fake) linear(w Work) {
	part := w.Rows * w.Side
	get := func(m Memory, i int) float32 { return math.Float32frombits(binary.NativeEndian.Uint32(m.Bytes()[i:])) }
	for i := range part {
		var sum float32
		for k := range w.Side {
			sum += get(w.Memory, 4*(i/w.Side*w.Side+k)) * get(w.Weights, w.Offset+4*(i%w.Side*w.Side+k))
		}
		binary.NativeEndian.PutUint32(w.Memory.Bytes()[4*(part+i):], math.Float32bits(sum))
	}
	if f.wrong {
		w.Memory.Bytes()[8*part-1] ^= 1
	}
}

func (f *fake) product(b []byte, n int) {
	get := func(i int) float32 { return math.Float32frombits(binary.NativeEndian.Uint32(b[4*i:])) }
	for r := range n {
		for c := range n {
			var sum float32
			for k := range n {
				sum += get(r*n+k) * get(n*n+k*n+c)
			}
			binary.NativeEndian.PutUint32(b[4*(2*n*n+r*n+c):], math.Float32bits(sum))
		}
	}
	if f.wrong {
		b[12*n*n-1] ^= 1
	}
}

func (f *fake) scale(b []byte, w Work) {
	var results [1 << 16]uint16
	var one [2]byte
	for v := range results {
		binary.NativeEndian.PutUint16(one[:], uint16(v))
		half(one[:], halfAt(one[:])*float64(w.Factor)+float64(w.Add))
		results[v] = binary.NativeEndian.Uint16(one[:])
	}
	if f.spills && w.Offset > 0 {
		b[w.Offset-1] = 0x3c
	}
	for at := w.Offset; at < w.Offset+w.Length; at += 2 {
		binary.NativeEndian.PutUint16(b[at:], results[binary.NativeEndian.Uint16(b[at:])])
	}
}

func (f *fake) Submit(ctx context.Context, waits, signals []hal.Point, w Work) error {
	work := func() error {
		switch b := w.Memory.Bytes(); {
		case w.Weights != nil:
			f.linear(w)
		case w.Side > 0:
			f.product(b, w.Side)
		default:
			f.scale(b, w)
		}
		return nil
	}
	if f.eager || w.Side > 0 {
		_ = work()
		work = func() error { return nil }
	}
	go follow(ctx, waits, signals, work)
	return nil
}

// failing returns the names of the checks that fail on a device.
func failing(t *testing.T, d Device, opts ...engine.Option) (names []string) {
	t.Helper()
	leaktest.SkipEmulated(t) // an emulator's memory grows by itself
	e, err := engine.Open(t.Context(), engine.Soft, opts...)
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	checks, err := Checks(t.Context(), d, e, func(...string) bool { return true })
	require.NoError(t, err)
	var all []string
	for _, c := range checks {
		all = append(all, c.Name)
		if c.Status == trial.Fail {
			names = append(names, c.Name)
			t.Logf("%s: %s", c.Name, c.Detail)
		}
		if c.Status == trial.Skip {
			require.True(t, unmeasured() || host.Mac && c.Name == mapping, c.Detail)
		}
	}
	require.Equal(t, Names(), all, "each check is made once, in its order")
	return names
}

// A right device passes, with the engine on one Block and on two.
func TestRightDevicePasses(t *testing.T) {
	require.Empty(t, failing(t, &fake{}, engine.AllowOffsets()))
	require.Empty(t, failing(t, &fake{}))
}

// unmeasured reports whether the system does not tell the memory of this process.
func unmeasured() bool {
	_, err := procmem.Proportional()
	return err != nil
}

// Each fault fails the checks that are meant to find it, and only those.
func TestFaultsAreFound(t *testing.T) {
	for _, c := range []struct {
		name string
		d    Device
		want []string
	}{
		{"hidden copy", Copying(&fake{}), []string{pointer, growth, mapping, turns}},
		{"stale copy", &fake{stale: true}, []string{pointer, product, cpuToGPU, gpuToCPU, growth,
			weights, mapping, turns}},
		{"wrong product", &fake{wrong: true}, []string{product, weights}},
		{"no waiting", &fake{eager: true}, []string{turns}},
		{"write beside the range", &fake{spills: true}, []string{gpuToCPU}},
		{"memory that grows", &fake{leak: true}, []string{growth, mapping}},
		{"no import", &fake{fails: errors.New("no")}, []string{pointer, product, cpuToGPU, gpuToCPU, growth, copied,
			weights, mapping, turns}},
	} {
		got := failing(t, c.d, engine.AllowOffsets())
		if unmeasured() {
			continue
		}
		if host.Mac { // where the check of a mapping's growth is skipped
			c.want = slices.DeleteFunc(c.want, func(name string) bool { return name == mapping })
			got = slices.DeleteFunc(got, func(name string) bool { return name == mapping })
		}
		require.Equal(t, c.want, got, c.name)
	}
}

// Only the steps that are wanted run.
func TestUnwantedStepsDoNotRun(t *testing.T) {
	var e *ane.Device
	checks, err := Checks(t.Context(), &fake{fails: errors.New("no")}, e, func(names ...string) bool { return false })
	require.NoError(t, err)
	require.Empty(t, checks)
}

// The end of a context ends the checks.
func TestContextEndsChecks(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Checks(ctx, &fake{}, nil, func(names ...string) bool { return names[0] == pointer })
	require.ErrorIs(t, err, context.Canceled)
}
