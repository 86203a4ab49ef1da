package vulkan_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine/broker"
	"github.com/anekit/anekit/ane/hal/vulkan"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
	gpu "github.com/anekit/anekit/unimem/vulkan"
)

func TestMain(m *testing.M) {
	broker.ServeChild()
	leaktest.Main(m)
}

// open opens a GPU that the test closes at its end. The test skips without a driver, and fails on a message of the
// validation layer, where that is installed.
func open(t testing.TB) *gpu.Device {
	t.Helper()
	leaktest.SkipEmulated(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	d, err := gpu.Open(ctx, gpu.Validate(func(m string) {
		if strings.Contains(m, lateUse) {
			t.Logf("validation layer: %s", m)
			return
		}
		t.Errorf("validation layer: %s", m)
	}))
	if errors.Is(err, gpu.ErrExtension) {
		t.Logf("without the validation layer: %v", err)
		d, err = gpu.Open(ctx)
	}
	if errors.Is(err, gpu.ErrUnavailable) || errors.Is(err, gpu.ErrDevice) {
		t.Skipf("%v", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close(ctx)) })
	return d
}

// lateUse is the one message that no test fails on: layer 1.3.239 lets a call that waits for a semaphore go on before
// its own thread has marked the semaphore as unused, so that destroying it then is reported now and then.
const lateUse = "VUID-vkDestroySemaphore-semaphore-01137"

func queueOf(t testing.TB, d *gpu.Device) *vulkan.Queue {
	t.Helper()
	q, err := vulkan.NewQueue(d)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, q.Close(context.Background())) })
	return q
}

func block(t testing.TB, size int) *unimem.Block {
	t.Helper()
	b, err := unimem.Open(size)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// scale returns the command y = factor*x + offset on n elements of fp16.
func scale(k *gpu.Kernel, x, y gpu.Range, factor, offset float32) gpu.Dispatch {
	push := binary.NativeEndian.AppendUint32(nil, uint32(x.Length/4))
	push = binary.NativeEndian.AppendUint32(push, math.Float32bits(factor))
	push = binary.NativeEndian.AppendUint32(push, math.Float32bits(offset))
	return gpu.Dispatch{Kernel: k, Buffers: []gpu.Range{x, y}, Push: push, Groups: gpu.Scale().Groups(x.Length/4, 1, 1)}
}
