package vulkan

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// device opens a device, and closes it at the end. The test skips without a driver, and fails on a message of
// the validation layer, where that is installed.
func device(t testing.TB, opts ...Option) *Device {
	t.Helper()
	leaktest.SkipEmulated(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	var d *Device
	var err error
	validated := append([]Option{Validate(func(m string) {
		if strings.Contains(m, lateUse) {
			t.Logf("validation layer: %s", m)
			return
		}
		t.Errorf("validation layer: %s", m)
	})}, opts...)
	if d, err = Open(ctx, validated...); errors.Is(err, ErrExtension) {
		t.Logf("without the validation layer: %v", err)
		d, err = Open(ctx, opts...)
	}
	if errors.Is(err, ErrUnavailable) || errors.Is(err, ErrDevice) {
		t.Skipf("%v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close(ctx)) })
	return d
}

// lateUse is the one message that no test fails on: layer 1.3.239 lets a call that waits for a semaphore go on before
// its own thread has marked the semaphore as unused, so that destroying it then is reported now and then.
const lateUse = "VUID-vkDestroySemaphore-semaphore-01137"

// block opens a Block that the test closes at its end.
func block(t testing.TB, size int, opts ...unimem.Option) *unimem.Block {
	t.Helper()
	b, err := unimem.Open(size, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// imported imports a Block that is open until the end of the test.
func imported(t testing.TB, d *Device, b *unimem.Block) *Buffer {
	t.Helper()
	buf, err := d.Import(t.Context(), b)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, buf.Close()) })
	return buf
}

func kernel(t testing.TB, d *Device, p Program) *Kernel {
	t.Helper()
	k, err := d.NewKernel(t.Context(), p)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, k.Close()) })
	return k
}

// run submits commands and waits until they have ended.
func run(t testing.TB, d *Device, commands ...Command) {
	t.Helper()
	done, err := d.NewTimeline(0)
	require.NoError(t, err)
	require.NoError(t, d.Submit(t.Context(), nil, []Point{{done, 1}}, commands...))
	require.NoError(t, done.Wait(t.Context(), 1))
	require.NoError(t, done.Close())
}

func floats(b []byte) []float32 {
	f, err := unimem.View[float32](b)
	if err != nil {
		panic(err)
	}
	return f
}

func words(b []byte) []uint32 {
	w, err := unimem.View[uint32](b)
	if err != nil {
		panic(err)
	}
	return w
}

func push(values ...any) (b []byte) {
	for _, v := range values {
		switch v := v.(type) {
		case int:
			b = binary.NativeEndian.AppendUint32(b, uint32(v))
		case float32:
			b = binary.NativeEndian.AppendUint32(b, math.Float32bits(v))
		}
	}
	return b
}
