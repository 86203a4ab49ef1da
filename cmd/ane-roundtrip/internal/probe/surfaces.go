package probe

import (
	"github.com/anekit/anekit/internal/membench"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
)

// Figures of experiments/iosurface_probe of unimem for every size, in nanoseconds; others are of membench.
const (
	publishedTouch = 1100 // 1000 to 1200, for a page of 16 KiB
	publishedClose = 5000
)

// passes is how often a measurement is repeated. The shortest time counts: what disturbs one makes it longer.
const passes = 5

// surfaces measures the memory of Blocks up to a size: on a Mac they are IOSurfaces.
func (r *Result) surfaces(t *step.T, most int, here bool) {
	for _, p := range membench.Published() {
		if p.Bytes > most {
			break
		}
		var s membench.Size
		note := ""
		if here {
			s = step.Must(membench.MeasureSize(t.Ctx, p.Bytes))
			b := step.Must(unimem.Open(p.Bytes))
			if b.Pinned() {
				note = "with the pages, which are pinned"
			}
			step.NoError(b.Close())
		}
		r.Rows = append(r.Rows,
			Row{"open", p.Bytes, known(float64(s.Open.Time)), "ns", &p.Open, note},
			Row{"first touch", p.Bytes, known(float64(s.FirstTouch.Time)), "ns", known(publishedTouch),
				"for a page of 16 KiB"},
			Row{"write", p.Bytes, known(float64(s.Write.Rate) / 1e9), "GB/s", &p.Write, ""},
			Row{"read", p.Bytes, known(float64(s.Read.Rate) / 1e9), "GB/s", &p.Read, ""},
			Row{"close", p.Bytes, known(float64(s.Drop.Time)), "ns", known(publishedClose), ""})
	}
	var b *unimem.Block
	if here {
		b = step.Must(unimem.Open(most, unimem.Warm()))
		r.Measured = b.Backing()
	}
	locks := func(options uint32) func() (float64, error) {
		return func() (float64, error) { return lock(t.Ctx, b, options) }
	}
	r.add(t, here,
		figure{Row{"lock and unlock", most, nil, "ns", nil, "of a locked surface, for reading and writing"}, locks(0)},
		figure{Row{"lock and unlock to read", most, nil, "ns", nil, ""}, locks(1)}, // kIOSurfaceLockReadOnly
		figure{Row{"address space", most, nil, "regions", known(1), ""},
			func() (float64, error) { return regions(b.Address(), most) }})
	step.NoError(b.Close())
	r.addresses(t, finders(r.Equivalent), most, here)
}
