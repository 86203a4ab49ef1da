package trial

import (
	"context"
	"math"
	"runtime/debug"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/internal/host"
)

// GuestGPU runs the product of Guest by a GPU. The guest fills two matrices, the GPU multiplies them in the guest's
// memory, and the guest reads the product through the same pointer. Then it does the same with copies, to compare.
func GuestGPU(ctx context.Context, d *ane.Device, gpu hal.GPU) ([]Check, error) {
	return Step{[]string{"wasm/gpu/growth", "wasm/gpu/growth-copying"}, func(t *T) {
		g := t.guest(d, wasm.GPU(gpu))
		wrong := 0
		for seed := range uint64(3) {
			g.ask("gpu_fill", seed)
			g.ask("gpu_product")
			wrong = max(wrong, int(g.ask("gpu_errors", seed)))
		}
		t.Add(Compare("wasm/gpu/values", float64(wrong), "errors", AtMost(0),
			"%d elements of the product, read by the guest through its own pointer", guestSide*guestSide))
		p, guest := uint64(uint32(g.ask("gpu_pointer", 2))), g.Memory().Address()
		if m := g.GPU(); m == nil {
			t.Add(Skipped("wasm/gpu/identity", "on this engine the GPU reaches the memory during a run only"))
		} else {
			t.Add(Compare("wasm/gpu/identity", float64(int64(m.Address()-guest)), "bytes", Within(0, 0),
				"from the guest's byte 0 to where the driver has it; %#x of the guest is %#x here and %#x of the driver", p,
				uint64(guest)+p, uint64(m.Address())+p))
		}
		t.Add(Compare("wasm/gpu/copies", float64(g.Copied()), "bytes", AtMost(0), "copied by the host for 3 products"))
		refused := Must(g.Call(t.Ctx, "gpu_beyond"))
		code := int32(uint32(refused[0]))
		t.Add(Judge("wasm/gpu/bounds", code == int32(wasm.CodeShort), float64(code), "code",
			"of a product that is larger than its ranges, which the host refuses by %d", int32(wasm.CodeShort)))

		limit, least := InPlace(), Region-InPlace()
		here := t.gpuGrowth(d, 1-limit, limit, wasm.GPU(gpu))
		copied := t.gpuGrowth(d, least, math.MaxInt64, wasm.GPU(gpu), wasm.Copying())
		if host.Mac && copied < least {
			const why = "a copy made on purpose does not show in the memory of this process"
			t.Add(Skipped("wasm/gpu/growth", why), Skipped("wasm/gpu/growth-copying", why))
			return
		}
		t.Add(Compare("wasm/gpu/growth", float64(here)/1e6, "MB", AtMost(float64(limit)/1e6),
			"more proportional memory after a kernel has changed 16 MiB of the guest in place"),
			Compare("wasm/gpu/growth-copying", float64(copied)/1e6, "MB", AtLeast(float64(least)/1e6),
				"the same with copies, which this check has to see"))
	}}.Make(ctx)
}

// gpuGrowth measures the growth of memory by the import of a guest's memory and a kernel on a tensor of a Region, each
// time in another guest, until it is from low to high. All pages of the guest exist before: drivers may pin them all.
func (t *T) gpuGrowth(d *ane.Device, low, high int64, opts ...wasm.Option) int64 {
	return Repeated(40, low, high, func() (grown int64) {
		t.Scope(func(once *T) {
			g := once.guest(d, opts...)
			g.ask("fill_large", 0, 3)
			all, kept := g.Memory().Block().Bytes(), []byte{}
			for at := 0; at < len(all); at += Page {
				kept = append(kept, all[at])
				all[at] = 1 // a write: reading maps no page of its own
			}
			for i, v := range kept {
				all[i*Page] = v
			}
			grown = Meter(OwnMemory).Growing(func() {
				g.ask("gpu_large", 0)
				debug.FreeOSMemory()
			})
		})
		return grown
	})
}
