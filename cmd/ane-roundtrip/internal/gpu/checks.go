package gpu

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime/debug"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/procmem"
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
	turns    = "gpu/turns"
)

// Names lists the checks in their order.
func Names() []string { return []string{pointer, product, cpuToGPU, gpuToCPU, growth, copied, turns} }

// Checks makes the checks of a device that wanted selects. e is an engine that takes turns with it.
func Checks(ctx context.Context, d Device, e *ane.Device, wanted func(names ...string) bool) (checks []trial.Check,
	err error) {
	for _, step := range []struct {
		names []string
		run   func() ([]trial.Check, error)
	}{
		{[]string{pointer, product}, func() ([]trial.Check, error) { return multiply(ctx, d) }},
		{[]string{cpuToGPU, gpuToCPU}, func() ([]trial.Check, error) { return seen(ctx, d) }},
		{[]string{growth, copied}, func() ([]trial.Check, error) { return grown(ctx, d) }},
		{[]string{turns}, func() ([]trial.Check, error) { return taken(ctx, d, e) }},
	} {
		if !wanted(step.names...) {
			continue
		}
		made, err := step.run()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			for _, name := range step.names {
				made = append(made, trial.Judge(name, false, 0, "", "%v", err))
			}
		}
		checks = append(checks, made...)
	}
	return checks, nil
}

// on imports a new Block for the time of f.
func on(ctx context.Context, d Device, size int, f func(*unimem.Block, Memory) error) (err error) {
	b, err := unimem.Open(size, unimem.Warm())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	m, err := d.Import(ctx, b)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	return f(b, m)
}

// side is the length of the sides of the matrices.
const side = 128

// multiply multiplies matrices of small integers, whose product is exact in float32.
func multiply(ctx context.Context, d Device) (checks []trial.Check, err error) {
	const n = side
	err = on(ctx, d, 3*4*n*n, func(b *unimem.Block, m Memory) error {
		checks = append(checks, identity(b, m))
		all := b.Bytes()
		set := func(i int, v float32) { binary.NativeEndian.PutUint32(all[4*i:], math.Float32bits(v)) }
		get := func(i int) float32 { return math.Float32frombits(binary.NativeEndian.Uint32(all[4*i:])) }
		var x, y [n * n]int
		for i := range x {
			x[i], y[i] = i%17-8, i%13-6
			set(i, float32(x[i]))
			set(n*n+i, float32(y[i]))
			set(2*n*n+i, float32(math.NaN()))
		}
		if err := d.Product(ctx, m, n); err != nil {
			return err
		}
		wrong := 0
		for r := range n {
			for c := range n {
				want := 0
				for k := range n {
					want += x[r*n+k] * y[k*n+c]
				}
				if get(2*n*n+r*n+c) != float32(want) {
					wrong++
				}
			}
		}
		checks = append(checks, trial.Judge(product, wrong == 0, float64(wrong), "elements",
			"%d x %d product: %d errors in %d elements", n, n, wrong, n*n).Against(trial.AtMost(0)))
		return nil
	})
	return checks, err
}

// mapped is a Memory whose driver may map a Block a second time, at another address.
type mapped interface{ Mapped() []byte }

// apart counts the pages of a Block that the driver does not map: none at the Block's own address, and at another one
// those in which a change is not seen on both sides.
func apart(b *unimem.Block, m Memory) (pages int) {
	if m.Address() == b.Address() {
		return 0
	}
	here, there := b.Bytes(), []byte(nil)
	if again, ok := m.(mapped); ok {
		there = again.Mapped()
	}
	const page = 4096
	for i := 0; i < len(here); i += page {
		if i >= len(there) {
			pages++
			continue
		}
		before := here[i]
		here[i] = ^there[i]
		if there[i] != here[i] {
			pages++
		}
		here[i] = before
	}
	return pages
}

// identity checks that the driver maps the Block's own pages.
func identity(b *unimem.Block, m Memory) trial.Check {
	n := apart(b, m)
	where := fmt.Sprintf("the driver maps the Block at %#x, the caller at %#x", m.Address(), b.Address())
	if n == 0 && m.Address() != b.Address() {
		where += ": two addresses of the same pages"
	}
	return trial.Judge(pointer, n == 0, float64(n), "pages", "%s", where).Against(trial.Within(0, 0))
}

// scaleNow runs Scale and waits.
func scaleNow(ctx context.Context, d Device, m Memory, offset, length int, factor, add float32) error {
	done := hal.NewSemaphore(0)
	if err := d.Scale(ctx, nil, []hal.Point{{Semaphore: done, Value: 1}}, m, offset, length, factor, add); err != nil {
		return err
	}
	return done.Wait(ctx, 1)
}

// half writes an fp16 number; halfAt reads one.
func half(b []byte, v float64) { binary.NativeEndian.PutUint16(b, uint16(fp16.FromFloat64(v))) }

func halfAt(b []byte) float64 { return float64(fp16.Bits(binary.NativeEndian.Uint16(b)).Float32()) }

// seen changes bytes on one side after the import, several times, and looks for them on the other.
func seen(ctx context.Context, d Device) (checks []trial.Check, err error) {
	const times, at = 4, 4096
	toGPU, toCPU := 0, 0
	err = on(ctx, d, unimem.PageSize, func(b *unimem.Block, m Memory) (err error) {
		other, err := unimem.Map(b) // as an engine or another process maps it
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, other.Close()) }()
		for i := range times {
			v := float64(3 + i)
			half(b.Bytes()[at:], v)
			if err := scaleNow(ctx, d, m, at, 64, 2, 1); err != nil {
				return err
			}
			if halfAt(b.Bytes()[at:]) == 2*v+1 {
				toGPU++
			}
			if halfAt(other.Bytes()[at:]) == 2*v+1 && halfAt(b.Bytes()[at-2:]) == 0 {
				toCPU++
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []trial.Check{
		trial.Judge(cpuToGPU, toGPU == times, float64(toGPU), "changes",
			"the GPU has to read what the CPU wrote after the import").Against(trial.AtLeast(times)),
		trial.Judge(gpuToCPU, toCPU == times, float64(toCPU), "changes",
			"the CPU has to see what the GPU wrote, through another mapping too").Against(trial.AtLeast(times)),
	}, nil
}

// Limits of growth, in bytes, for a Block of region.
const (
	region      = 16 << 20
	minCopied   = 16_000_000 // 16 MB
	maxAttempts = 40
	maxKept     = 8 // attempts of the copying path, whose memory adds up
	maxLarge    = 4 // attempts that grow by a copy, and then it is one
)

// maxGrowth is 0.05 MB, and on a Mac half of a copy: there the footprint counts what the driver maps for the process too.
func maxGrowth() int64 {
	if host.Mac {
		return region / 2
	}
	return 50_000
}

// grown measures the memory of this process while a kernel reads and writes a Block in place, and the same on the
// copying path. Free memory of Go goes back to the system before each reading. The driver and the runtime disturb
// single measurements, so several count; a copy shows in each. Memory of the copying path stays open until the last
// measurement: the driver's allocator may keep the pages of closed memory for the next, which then shows no growth.
func grown(ctx context.Context, d Device) (checks []trial.Check, err error) {
	var kept []Memory
	defer func() {
		for _, m := range kept {
			err = errors.Join(err, m.Close())
		}
	}()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var bytes [2]int64
	for i, use := range []func(b *unimem.Block) (Memory, error){
		func(b *unimem.Block) (Memory, error) { return d.Import(ctx, b) },
		func(b *unimem.Block) (Memory, error) {
			m, err := d.Own(ctx, b.Size())
			if err == nil {
				kept = append(kept, m)
				copy(m.Bytes(), b.Bytes())
			}
			return m, err
		},
	} {
		large := 0
		for range [...]int{maxAttempts, maxKept}[i] {
			var err error
			bytes[i], err = measure(ctx, d, use, i == 1)
			if err != nil && errors.Is(err, errUnread) {
				return []trial.Check{trial.Skipped(growth, "%v", err), trial.Skipped(copied, "%v", err)}, nil
			}
			if err != nil {
				return nil, err
			}
			if bytes[i] >= region/2 {
				large++
			}
			if i == 0 && (large == maxLarge || bytes[i] < maxGrowth() && bytes[i] > -maxGrowth()) ||
				i == 1 && bytes[i] >= minCopied {
				break
			}
		}
	}
	if host.Mac && bytes[1] < minCopied {
		const why = "memory of this GPU does not count for the process, so a copy would not show"
		return []trial.Check{trial.Skipped(growth, why), trial.Skipped(copied, why)}, nil
	}
	mega := func(n int64) string { return fmt.Sprintf("%.2f MB", float64(n)/1e6) }
	return []trial.Check{
		trial.Judge(growth, bytes[0] < maxGrowth(), float64(bytes[0]), "bytes",
			"memory of this process changed by %s while a kernel changed a Block of %s in place", mega(bytes[0]),
			mega(region)).Against(trial.AtMost(float64(maxGrowth() - 1))),
		trial.Judge(copied, bytes[1] >= minCopied, float64(bytes[1]), "bytes",
			"the same on the copying path: %s, so the measurement sees a copy",
			mega(bytes[1])).Against(trial.AtLeast(minCopied)),
	}, nil
}

// errUnread marks the error of a system that does not report the memory of a process.
var errUnread = errors.New("memory cannot be measured")

// measure returns how much the memory of this process grows by use and one kernel. With keep the caller closes what
// use returns.
func measure(ctx context.Context, d Device, use func(b *unimem.Block) (Memory, error), keep bool) (n int64,
	err error) {
	b, err := unimem.Open(region, unimem.Warm())
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	read := func() (int64, error) {
		debug.FreeOSMemory()
		n, err := procmem.Proportional()
		if err != nil {
			err = fmt.Errorf("%w: %w", errUnread, err)
		}
		return n, err
	}
	before, err := read()
	if err != nil {
		return 0, err
	}
	m, err := use(b)
	if err != nil {
		return 0, err
	}
	if !keep {
		defer func() { err = errors.Join(err, m.Close()) }()
	}
	if err := scaleNow(ctx, d, m, 0, region, 2, 1); err != nil {
		return 0, err
	}
	after, err := read()
	if err != nil {
		return 0, err
	}
	if got := halfAt(m.Bytes()[region-2:]); got != 1 {
		return 0, fmt.Errorf("the last element is %g after 2*0 + 1", got)
	}
	return after - before, nil
}
