package gpu

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"runtime/debug"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
)

// Names of the checks.
const (
	pointer  = "gpu/pointer"
	product  = "gpu/product"
	cpuToGPU = "gpu/cpu-to-gpu"
	gpuToCPU = "gpu/gpu-to-cpu"
	growth   = "gpu/growth"
	copied   = "gpu/growth-copy"
	weights  = "gpu/weights"
	mapping  = "gpu/growth-weights"
	turns    = "gpu/turns"
)

// checks makes the checks of a device. engine takes turns with it.
type checks struct {
	device Device
	engine *ane.Device
}

func (c *checks) steps() []trial.Step {
	return []trial.Step{
		{Names: []string{pointer, product}, Run: c.multiply},
		{Names: []string{cpuToGPU, gpuToCPU}, Run: c.see},
		{Names: []string{growth, copied}, Run: c.grow},
		{Names: []string{weights, mapping}, Run: c.weights},
		{Names: []string{turns}, Run: c.turns},
	}
}

// Names lists the checks in their order.
func Names() []string { return trial.NamesOf(new(checks).steps()) }

// Checks makes the checks of a device that wanted selects. e is an engine that takes turns with it.
func Checks(ctx context.Context, d Device, e *ane.Device, wanted func(names ...string) bool) ([]trial.Check, error) {
	return trial.Make(ctx, (&checks{d, e}).steps(), wanted, func(s trial.Step, err error) (failed []trial.Check) {
		for _, name := range s.Names {
			failed = append(failed, trial.Judge(name, false, 0, "", "%v", err))
		}
		return failed
	})
}

// place is a Block with its Memory of the GPU, from an offset on.
type place struct {
	*unimem.Block
	memory Memory
	offset int
}

// open opens a Block and imports it.
func (c *checks) open(t *trial.T, size int) place {
	b := trial.Must(unimem.Open(size, unimem.Warm()))
	t.Closing(b.Close)
	m := trial.Must(c.device.Import(t.Ctx, b))
	t.Closing(m.Close)
	return place{b, m, 0}
}

// own makes memory of the driver. That of a discrete GPU is no memory of this process, so that its growth could not be
// seen: there it is a Block that the caller does not have.
func (c *checks) own(t *trial.T, size int) Memory {
	if c.device.Report().Kind == "discrete" {
		return c.open(t, size).memory
	}
	m := trial.Must(c.device.Own(t.Ctx, size))
	t.Closing(m.Close)
	return m
}

// apart counts the pages of the Block that the driver does not map. At the Block's own address it maps all. At another
// one it does not map those in which a change is not seen on both sides.
func (p place) apart() (pages int) {
	if p.memory.Address() == p.Address() {
		return 0
	}
	var there []byte
	if again, ok := p.memory.(interface{ Mapped() []byte }); ok { // a driver may map a Block a second time
		there = again.Mapped()
	}
	return trial.Apart(p.Bytes(), there) / trial.Page
}

// multiply multiplies matrices of small integers, whose product is exact in float32.
func (c *checks) multiply(t *trial.T) {
	const n = 128
	b := c.open(t, 3*4*n*n)
	pages := b.apart()
	where := fmt.Sprintf("the driver maps the Block at %#x, the caller at %#x", b.memory.Address(), b.Address())
	if pages == 0 && b.memory.Address() != b.Address() {
		where += ": two addresses of the same pages"
	}
	t.Add(trial.Compare(pointer, float64(pages), "pages", trial.Within(0, 0), "%s", where))
	all := trial.Must(unimem.View[float32](b.Bytes()))
	x, y := func(i int) int { return i%17 - 8 }, func(i int) int { return i%13 - 6 }
	for i := range n * n {
		all[i], all[n*n+i], all[2*n*n+i] = float32(x(i)), float32(y(i)), float32(math.NaN())
	}
	trial.NoError(run(t.Ctx, c.device, Work{Memory: b.memory, Side: n}))
	wrong := trial.WrongProducts(n, x, y, func(i int) float32 { return all[2*n*n+i] })
	t.Add(trial.Compare(product, float64(wrong), "elements", trial.AtMost(0),
		"%d x %d product: %d errors in %d elements", n, n, wrong, n*n))
}

// half writes an fp16 number; halfAt reads one.
func half(b []byte, v float64) { binary.NativeEndian.PutUint16(b, uint16(fp16.FromFloat64(v))) }

func halfAt(b []byte) float64 { return float64(fp16.Bits(binary.NativeEndian.Uint16(b)).Float32()) }

// see changes bytes on one side after the import, several times, and looks for them on the other.
func (c *checks) see(t *trial.T) {
	const times, at = 4, 4096
	toGPU, toCPU := 0, 0
	b := c.open(t, unimem.PageSize)
	other := trial.Must(unimem.Map(b.Block)) // as an engine or another process maps it
	t.Closing(other.Close)
	for i := range times {
		v := float64(3 + i)
		half(b.Bytes()[at:], v)
		trial.NoError(run(t.Ctx, c.device, Work{Memory: b.memory, Offset: at, Length: 64, Factor: 2, Add: 1}))
		if halfAt(b.Bytes()[at:]) == 2*v+1 {
			toGPU++
		}
		if halfAt(other.Bytes()[at:]) == 2*v+1 && halfAt(b.Bytes()[at-2:]) == 0 {
			toCPU++
		}
	}
	t.Add(trial.Compare(cpuToGPU, float64(toGPU), "changes", trial.AtLeast(times),
		"the GPU has to read what the CPU wrote after the import"),
		trial.Compare(gpuToCPU, float64(toCPU), "changes", trial.AtLeast(times),
			"the CPU has to see what the GPU wrote, through another mapping too"))
}

// grow measures the memory of this process while a kernel reads and writes a Block in place, and the same on the
// copying path. Memory of the copying path stays open until the last measurement. The driver's allocator may keep the
// pages of closed memory for the next, which then shows no growth.
func (c *checks) grow(t *trial.T) {
	const least, maxKept = 16_000_000, 8 // 16 MB; attempts of the copying path, whose memory adds up
	limit := trial.InPlace()
	here := trial.Repeated(40, 1-limit, limit-1, func() int64 { return c.grown(t, false) })
	copies := trial.Repeated(maxKept, least, math.MaxInt64, func() int64 { return c.grown(t, true) })
	if host.Mac && copies < least {
		const why = "memory of this GPU does not count for the process, so a copy would not show"
		t.Add(trial.Skipped(growth, why), trial.Skipped(copied, why))
		return
	}
	mega := func(n int64) string { return fmt.Sprintf("%.2f MB", float64(n)/1e6) }
	t.Add(trial.Compare(growth, float64(here), "bytes", trial.AtMost(float64(limit-1)),
		"memory of this process changed by %s while a kernel changed a Block of %s in place", mega(here),
		mega(trial.Region)),
		trial.Compare(copied, float64(copies), "bytes", trial.AtLeast(least),
			"the same on the copying path: %s, so the measurement sees a copy", mega(copies)))
}

// grown returns how much the memory of this process grows by a kernel on a Region, in place or on a copy.
func (c *checks) grown(t *trial.T, copying bool) (bytes int64) {
	t.Scope(func(once *trial.T) {
		b := trial.Must(unimem.Open(trial.Region, unimem.Warm()))
		once.Closing(b.Close)
		var m Memory
		bytes = trial.Meter(trial.OwnMemory).Growing(func() {
			if copying {
				m = c.own(t, b.Size())
				copy(m.Bytes(), b.Bytes())
			} else {
				m = trial.Must(c.device.Import(t.Ctx, b))
				once.Closing(m.Close)
			}
			trial.NoError(run(t.Ctx, c.device, Work{Memory: m, Length: trial.Region, Factor: 2, Add: 1}))
			debug.FreeOSMemory()
		})
		if got := halfAt(m.Bytes()[trial.Region-2:]); got != 1 {
			trial.NoError(fmt.Errorf("the last element is %g after 2*0 + 1", got))
		}
	})
	return bytes
}
