package probe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/anekit/anekit/internal/membench"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/dma"
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
		t.Closing(b.Close)
		r.Measured = b.Backing()
	}
	locks := func(options uint32) func() (float64, error) {
		return func() (float64, error) { return lock(t.Ctx, b, options) }
	}
	last := figure{Row{"device addresses", most, nil, "segments", nil, "by the driver extension of unimem/dma/dext"},
		func() (float64, error) { return r.segments(t.Ctx, b) }}
	if r.Equivalent {
		last = figure{Row{"physical pages", most, nil, "runs", nil, "contiguous ones, instead of device addresses"},
			func() (float64, error) { return runs(b.Address(), most) }}
	}
	r.add(t, here,
		figure{Row{"lock and unlock", most, nil, "ns", nil, "of a locked surface, for reading and writing"}, locks(0)},
		figure{Row{"lock and unlock to read", most, nil, "ns", nil, ""}, locks(1)}, // kIOSurfaceLockReadOnly
		figure{Row{"address space", most, nil, "regions", known(1), ""},
			func() (float64, error) { return regions(b.Address(), most) }},
		last)
	if r.prepared > 0 {
		r.Rows = append(r.Rows, Row{"PrepareForDMA", most, known(float64(r.prepared)), "ns", nil, ""})
	}
}

// segments counts the runs of a Block's device addresses.
func (r *Result) segments(ctx context.Context, b *unimem.Block) (n float64, remark error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	d, err := dma.Open(ctx)
	if err != nil {
		return 0, err
	}
	s, err := d.Segments(b)
	r.prepared = d.PrepareTime()
	if err = errors.Join(err, d.Close()); err != nil {
		return 0, err
	}
	return float64(len(s)), fmt.Errorf("the first at %#x", s[0].Address)
}

// runs counts the runs of page frames that follow each other.
func runs(address uintptr, size int) (n float64, err error) {
	frames, shown := procmem.Frames(0, uint64(address), size/os.Getpagesize())
	if !shown {
		return 0, errors.New("only Linux shows page frames, to processes with CAP_SYS_ADMIN")
	}
	for i, f := range frames {
		if i == 0 || f != frames[i-1]+1 {
			n++
		}
	}
	return n, nil
}
