package vulkan

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
)

// replaced is an option that replaces a function of the driver: f gets the real one.
func replaced(name string, f func(real function, args []uintptr) result) Option {
	return func(c *config) {
		before := c.wrap
		c.wrap = func(n string, real function) function {
			if before != nil {
				real = before(n, real)
			}
			if n != name {
				return real
			}
			return func(args ...uintptr) result { return f(real, args) }
		}
	}
}

// returns is replaced by a function that returns r while on is true.
func returns(name string, r result, on *bool) Option {
	return replaced(name, func(real function, args []uintptr) result {
		if *on {
			return r
		}
		return real(args...)
	})
}

// fails asserts the kind of an error, its type, and that a failure of a driver names its function.
func fails(t *testing.T, err, kind error, call string) {
	t.Helper()
	require.ErrorIs(t, err, kind)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, call, e.Call)
	require.NotContains(t, err.Error(), "\n")
	require.NotEmpty(t, e.Hint, "%v", err)
}

// library loads another loader.
func library(path string) Option { return func(c *config) { c.library = path } }

func TestNoLoader(t *testing.T) {
	_, err := Open(t.Context(), library(filepath.Join(t.TempDir(), "none.so")))
	fails(t, err, ErrUnavailable, "")
	_, err = List(t.Context(), library(filepath.Join(t.TempDir(), "none.so")))
	fails(t, err, ErrUnavailable, "")
}

// Each failure while opening has its kind, and leaves nothing open.
func TestFailuresOfOpen(t *testing.T) {
	d := device(t)
	real := d.in
	yes := true
	for _, c := range []struct {
		call string
		r    result
		kind error
	}{
		{"vkCreateInstance", noDriver, ErrUnavailable},
		{"vkCreateInstance", noHostMemory, ErrMemory},
		{"vkEnumeratePhysicalDevices", notInitialized, ErrUnavailable},
		{"vkCreateDevice", noDeviceMemory, ErrMemory},
		{"vkCreateDevice", deviceLost, ErrLost},
		{"vkCreateDevice", tooManyObjects, ErrMemory},
		{"vkCreateSemaphore", noHostMemory, ErrMemory},
	} {
		made, err := Open(t.Context(), returns(c.call, c.r, &yes))
		require.Nil(t, made)
		fails(t, err, c.kind, c.call)
		require.ErrorContains(t, err, fmt.Sprintf("(%s: VkResult %d)", c.call, c.r))
	}
	_, err := Open(t.Context(), returns("vkCreateDevice", noExtension, &yes))
	require.ErrorIs(t, err, ErrExtension)
	require.Same(t, real, d.in)
}

// Drivers without a device, and with one that is too old.
func TestNoDevice(t *testing.T) {
	device(t)
	none := replaced("vkEnumeratePhysicalDevices", func(real function, args []uintptr) result {
		binary.NativeEndian.PutUint32(foreign(args[1], 4), 0)
		return success
	})
	_, err := Open(t.Context(), none)
	fails(t, err, ErrDevice, "")
	all, err := List(t.Context(), none)
	require.NoError(t, err)
	require.Empty(t, all)
	old := replaced("vkGetPhysicalDeviceProperties2", func(real function, args []uintptr) result {
		real(args...)
		binary.NativeEndian.PutUint32(foreign(args[1]+16, 4), 1<<22|1<<12)
		return success
	})
	_, err = Open(t.Context(), old)
	fails(t, err, ErrDevice, "")
	require.ErrorContains(t, err, "1.1.0 has no timeline semaphores")
	idle := replaced("vkGetPhysicalDeviceQueueFamilyProperties", func(real function, args []uintptr) result {
		real(args...)
		if args[2] != 0 {
			const size = 24 // of VkQueueFamilyProperties
			for i := range uintptr(binary.NativeEndian.Uint32(foreign(args[1], 4))) {
				binary.NativeEndian.PutUint32(foreign(args[2]+i*size, 4), 4) // transfers only
			}
		}
		return success
	})
	_, err = Open(t.Context(), idle)
	fails(t, err, ErrDevice, "")
	require.ErrorContains(t, err, "no queue for compute kernels")
}

// A driver without the extension imports nothing, and the copying path works.
func TestUnsupportedExtension(t *testing.T) {
	d := device(t, replaced("vkEnumerateDeviceExtensionProperties", func(real function, args []uintptr) result {
		binary.NativeEndian.PutUint32(foreign(args[2], 4), 0)
		return success
	}))
	require.False(t, d.Info().HostMemory)
	b := block(t, unimem.PageSize)
	_, err := d.Import(t.Context(), b)
	fails(t, err, ErrExtension, "")
	buf, err := d.NewBuffer(t.Context(), 64)
	require.NoError(t, err)
	run(t, d, Fill{buf.Range(0, 64), 7})
	require.EqualValues(t, 7, buf.Bytes()[60])
	require.NoError(t, buf.Close())
}

// Blocks that a GPU cannot import, each with its reason; none stays retained.
func TestBlocksThatAreRefused(t *testing.T) {
	d := device(t)
	whole := block(t, 2*unimem.PageSize)
	adopt := func(mem []byte, opts ...unimem.Option) *unimem.Block {
		b, err := unimem.AdoptMemory(mem, nil, opts...)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, b.Close()) })
		return b
	}
	closedBlock, err := unimem.Open(1)
	require.NoError(t, err)
	require.NoError(t, closedBlock.Close())
	for name, c := range map[string]struct {
		b    *unimem.Block
		kind error
		word string
	}{
		"heap":    {block(t, unimem.PageSize, unimem.OnHeap()), ErrBlock, "without OnHeap"},
		"address": {adopt(whole.Bytes()[64 : 64+unimem.PageSize]), ErrAlignment, "not both multiples of"},
		"size":    {adopt(whole.Bytes()[:100]), ErrAlignment, "size 100"},
		"closed":  {closedBlock, unimem.ErrClosed, "open a Block first"},
		"nil":     {nil, unimem.ErrClosed, "open a Block first"},
	} {
		_, err := d.Import(t.Context(), c.b)
		fails(t, err, c.kind, "")
		require.ErrorContains(t, err, c.word, name)
	}
	d.MaxMemory = unimem.PageSize
	_, err = d.Import(t.Context(), whole)
	fails(t, err, ErrBlock, "")
	_, err = d.NewBuffer(t.Context(), 2*unimem.PageSize)
	fails(t, err, ErrRange, "")
	_, err = d.NewBuffer(t.Context(), 0)
	fails(t, err, ErrRange, "")
}

// Memory that runs out at any step of an import or of NewBuffer leaves nothing behind: the layer would show it, and so
// would the Block.
func TestOutOfMemory(t *testing.T) {
	on := false
	for _, call := range []string{"vkGetMemoryHostPointerPropertiesEXT", "vkCreateBuffer", "vkAllocateMemory",
		"vkBindBufferMemory"} {
		d := device(t, returns(call, noDeviceMemory, &on))
		b, err := unimem.Open(1)
		require.NoError(t, err)
		on = true
		_, err = d.Import(t.Context(), b)
		fails(t, err, ErrMemory, call)
		require.NoError(t, b.Close())
		if call != "vkGetMemoryHostPointerPropertiesEXT" {
			_, err = d.NewBuffer(t.Context(), 64)
			fails(t, err, ErrMemory, call)
		}
		on = false
		buf, err := d.NewBuffer(t.Context(), 64)
		require.NoError(t, err, "the device works on")
		require.NoError(t, buf.Close())
	}
	for _, call := range []string{"vkCreateShaderModule", "vkCreateDescriptorSetLayout", "vkCreatePipelineLayout",
		"vkCreateComputePipelines"} {
		d := device(t, returns(call, noHostMemory, &on))
		on = true
		_, err := d.NewKernel(t.Context(), Product())
		fails(t, err, ErrMemory, call)
		on = false
	}
	for _, call := range []string{"vkCreateCommandPool", "vkAllocateCommandBuffers", "vkCreateDescriptorPool",
		"vkBeginCommandBuffer", "vkAllocateDescriptorSets", "vkEndCommandBuffer", "vkQueueSubmit"} {
		d := device(t, returns(call, noDeviceMemory, &on))
		buf, err := d.NewBuffer(t.Context(), 64)
		require.NoError(t, err)
		k := kernel(t, d, Scale())
		done, err := d.NewTimeline(0)
		require.NoError(t, err)
		work := Dispatch{Kernel: k, Buffers: []Range{buf.Range(0, 64), buf.Range(0, 64)},
			Push: push(16, float32(1), float32(0)), Groups: [3]int{1, 1, 1}}
		on = true
		fails(t, d.Submit(t.Context(), nil, []Point{{done, 5}}, work), ErrMemory, call)
		on = false
		require.NoError(t, d.Submit(t.Context(), nil, []Point{{done, 1}}, work), "the promise of 5 is taken back")
		require.NoError(t, done.Wait(t.Context(), 1))
		require.NoError(t, done.Close())
		require.NoError(t, buf.Close())
	}
}

// A device that is lost while the GPU works: every waiting and later call says so, and everything can be closed.
func TestLostDevice(t *testing.T) {
	on := false
	d := device(t, returns("vkGetSemaphoreCounterValue", deviceLost, &on))
	b := block(t, unimem.PageSize)
	buf := imported(t, d, b)
	never, err := d.NewTimeline(0)
	require.NoError(t, err)
	waiting := make(chan error)
	go func() { waiting <- never.Wait(context.Background(), 1) }()
	run(t, d, Fill{buf.Range(0, 4), 1})
	await.Until(t, "the call waits", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return never.uses == 1
	})
	on = true
	_, err = never.Value()
	fails(t, err, ErrLost, "vkGetSemaphoreCounterValue")
	require.ErrorIs(t, <-waiting, ErrLost)
	on = false // a lost device stays lost
	require.ErrorIs(t, d.Submit(t.Context(), nil, nil, Fill{buf.Range(0, 4), 2}), ErrLost)
	require.ErrorIs(t, never.Signal(1), ErrLost)
	_, err = d.Import(t.Context(), b)
	require.ErrorIs(t, err, ErrLost)
	_, err = d.NewBuffer(t.Context(), 64)
	require.ErrorIs(t, err, ErrLost)
	_, err = d.NewKernel(t.Context(), Scale())
	require.ErrorIs(t, err, ErrLost)
	_, err = d.NewTimeline(0)
	require.ErrorIs(t, err, ErrLost)
	require.NoError(t, never.Close())
}

// Losing the device in a submission, and in a wait.
func TestLostInSubmitAndWait(t *testing.T) {
	for _, call := range []string{"vkQueueSubmit", "vkWaitSemaphores"} {
		on := false
		d := device(t, returns(call, deviceLost, &on))
		buf, err := d.NewBuffer(t.Context(), 64)
		require.NoError(t, err)
		done, err := d.NewTimeline(0)
		require.NoError(t, err)
		gate, err := d.NewTimeline(0)
		require.NoError(t, err)
		if call == "vkWaitSemaphores" {
			require.NoError(t, d.Submit(t.Context(), []Point{{gate, 1}}, []Point{{done, 1}}, Fill{buf.Range(0, 64), 1}))
			require.NoError(t, gate.Signal(1))
			require.NoError(t, done.Wait(t.Context(), 1))
			require.NoError(t, d.Submit(t.Context(), []Point{{gate, 2}}, []Point{{done, 2}}, Fill{buf.Range(0, 64), 2}))
			on = true
			fails(t, done.Wait(t.Context(), 2), ErrLost, call)
			require.EqualValues(t, success, d.in.call("vkSignalSemaphore", d.handle, signalOf(t, gate, 2)), "the real GPU goes on")
			on = false
			for _, s := range []*Timeline{done, d.done} {
				await.Until(t, "the GPU's work has ended", func() bool {
					reached, err := s.waitSlice(2, longWait)
					require.NoError(t, err)
					return reached
				})
			}
		} else {
			on = true
			fails(t, d.Submit(t.Context(), nil, []Point{{done, 1}}, Fill{buf.Range(0, 64), 1}), ErrLost, call)
		}
		on = false
		require.NoError(t, buf.Close(), "nothing of a lost device runs")
		require.NoError(t, done.Close())
		require.NoError(t, gate.Close())
	}
}

// signalOf returns the address of a VkSemaphoreSignalInfo that lives until the end of the test.
func signalOf(t *testing.T, to *Timeline, v uint64) uintptr {
	a := new(arena)
	t.Cleanup(a.free)
	return put(a, &semaphoreSignal{sType: typeSemaphoreSignal, semaphore: to.semaphore, value: v})
}

// A driver that hangs: the caller leaves when its context ends, Close waits for the driver, and what the driver makes
// later is freed.
func TestHangingDriver(t *testing.T) {
	for _, c := range []struct {
		call string
		f    func(ctx context.Context, d *Device, b *unimem.Block) error
	}{
		{"vkCreateComputePipelines", func(ctx context.Context, d *Device, _ *unimem.Block) error {
			_, err := d.NewKernel(ctx, Scale())
			return err
		}},
		{"vkAllocateMemory", func(ctx context.Context, d *Device, b *unimem.Block) error {
			_, err := d.Import(ctx, b)
			return err
		}},
		{"vkAllocateMemory", func(ctx context.Context, d *Device, _ *unimem.Block) error {
			_, err := d.NewBuffer(ctx, 64)
			return err
		}},
		{"vkQueueSubmit", func(ctx context.Context, d *Device, _ *unimem.Block) error {
			return d.Submit(ctx, nil, nil)
		}},
	} {
		entered, release := make(chan struct{}, 1), make(chan struct{})
		d := device(t, replaced(c.call, func(real function, args []uintptr) result {
			entered <- struct{}{}
			<-release
			return real(args...)
		}))
		b, err := unimem.Open(1)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() { failed <- c.f(ctx, d, b) }()
		<-entered
		cancel()
		require.ErrorIs(t, <-failed, context.Canceled, c.call)
		require.ErrorIs(t, d.Close(ctx), context.Canceled, "the driver still hangs")
		close(release)
		require.NoError(t, d.Close(t.Context()))
		require.NoError(t, b.Close(), "%s: the Block is released", c.call)
	}
	leaktest.SkipEmulated(t)
	release := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	entered := make(chan struct{}, 1)
	ended := make(chan struct{})
	go func() {
		<-entered
		cancel()
	}()
	_, err := Open(ctx, replaced("vkCreateDevice", func(real function, args []uintptr) result {
		entered <- struct{}{}
		<-release
		return real(args...)
	}), replaced("vkDestroyInstance", func(real function, args []uintptr) result {
		defer close(ended)
		return real(args...)
	}))
	require.ErrorIs(t, err, context.Canceled)
	close(release)
	<-ended
	_, err = Open(ctx)
	require.ErrorIs(t, err, context.Canceled, "a context that has ended calls no driver")
}

// The validation layer reports to the receiver, so tests without messages mean something.
func TestValidationReports(t *testing.T) {
	device(t)
	var all []string
	d, err := Open(t.Context(), Validate(func(m string) { all = append(all, m) }),
		replaced("vkCreateCommandPool", func(real function, args []uintptr) result {
			binary.NativeEndian.PutUint32(foreign(args[1]+16, 4), 1<<30) // a flag that does not exist
			return real(args...)
		}))
	if errors.Is(err, ErrExtension) {
		t.Skipf("%v", err)
	}
	require.NoError(t, err)
	buf, err := d.NewBuffer(t.Context(), 64)
	require.NoError(t, err)
	require.Empty(t, all)
	run(t, d, Fill{buf.Range(0, 64), 1})
	require.NotEmpty(t, all)
	require.True(t, strings.HasPrefix(all[0], "error VUID-VkCommandPoolCreateInfo-flags"), all[0])
	require.NoError(t, d.Close(t.Context()))
	_, err = Open(t.Context(), Validate(func(string) {}), replaced("vkEnumerateInstanceLayerProperties",
		func(real function, args []uintptr) result {
			binary.NativeEndian.PutUint32(foreign(args[0], 4), 0)
			return success
		}))
	fails(t, err, ErrExtension, "")
	require.ErrorContains(t, err, "vulkan-validationlayers")
}

// waitNot is how long tests wait for what must not happen within a context.
const waitNot = 20 * time.Millisecond
