package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/dma"
)

// published has the figures of experiments/iosurface_probe of unimem, for each size: "Measured performance".
var published = []struct {
	bytes       int
	open        float64 // ns
	write, read float64 // GB/s, one thread, 8 bytes at a time, without SIMD
}{
	{4 << 10, 18e3, 22.8, 22.8},
	{1 << 20, 15e3, 23.6, 23.5},
	{16 << 20, 17e3, 23.6, 18.9},
	{256 << 20, 20e3, 23.1, 19.5},
}

// Figures of the same experiment for every size, in nanoseconds.
const (
	publishedTouch = 1100 // 1000 to 1200, for a page of 16 KiB
	publishedClose = 5000
)

// surfaceRows lists what is measured for sizes up to most, without values.
func surfaceRows(most int, equivalent bool) (rows []Row) {
	for _, p := range published {
		if p.bytes > most {
			break
		}
		rows = append(rows,
			Row{"open", p.bytes, nil, "ns", &p.open, ""},
			Row{"first touch", p.bytes, nil, "ns", known(publishedTouch), "for a page of 16 KiB"},
			Row{"write", p.bytes, nil, "GB/s", &p.write, ""},
			Row{"read", p.bytes, nil, "GB/s", &p.read, ""},
			Row{"close", p.bytes, nil, "ns", known(publishedClose), ""})
	}
	rows = append(rows,
		Row{"lock and unlock", most, nil, "ns", nil, "of a locked surface, for reading and writing"},
		Row{"lock and unlock to read", most, nil, "ns", nil, ""},
		Row{"address space", most, nil, "regions", known(1), ""})
	if equivalent {
		return append(rows,
			Row{"physical pages", most, nil, "runs", nil, "contiguous ones, instead of device addresses"})
	}
	return append(rows,
		Row{"device addresses", most, nil, "segments", nil, "by the driver extension of unimem/dma/dext"})
}

// surfaces measures the memory of Blocks: on a Mac they are IOSurfaces.
func (r *Result) surfaces(ctx context.Context, most int) error {
	for _, p := range published {
		if p.bytes > most {
			break
		}
		if err := r.surface(ctx, p.bytes); err != nil {
			return err
		}
	}
	return r.largest(ctx, most)
}

// passes is how often a measurement is repeated. The shortest time counts: what disturbs one makes it longer.
const passes = 5

// surface measures one size.
func (r *Result) surface(ctx context.Context, size int) (err error) {
	rounds := 20
	if size > 16<<20 {
		rounds = passes
	}
	t, err := measure.Turns(ctx, rounds, func(lap func()) error {
		b, err := unimem.Open(size)
		if err != nil {
			return err
		}
		lap()
		if b.Pinned() {
			r.find("open", size).Note = "with the pages, which are pinned"
		}
		mem := b.Bytes()
		for at := 0; at < len(mem); at += unimem.PageSize {
			mem[at] = 1
		}
		lap()
		err = b.Close()
		lap()
		return err
	})
	if err != nil {
		return err
	}
	pages := (size + unimem.PageSize - 1) / unimem.PageSize
	r.set("open", size, t[0].Best(0), nil)
	r.set("first touch", size, t[0].Best(1)/float64(pages), nil)
	r.set("close", size, t[0].Best(2), nil)
	b, err := unimem.Open(size, unimem.Warm())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	r.Measured = b.Backing()
	words, err := unimem.View[uint64](b.Bytes()[:size])
	if err != nil {
		return err
	}
	repeats := max(1, 64<<20/size) // a pass takes milliseconds
	for name, pass := range map[string]func([]uint64){"write": fill, "read": total} {
		best, err := measure.Best(ctx, passes, func() error {
			for range repeats {
				pass(words)
			}
			return nil
		})
		if err != nil {
			return err
		}
		r.set(name, size, float64(size*repeats)/float64(best), nil)
	}
	return nil
}

func fill(words []uint64) {
	for i := range words {
		words[i] = 1
	}
}

func total(words []uint64) {
	sum := uint64(0)
	for _, w := range words {
		sum += w
	}
	use(sum)
}

// The compiler keeps what computes the argument of a call that it cannot inline.
//
//go:noinline
func use(uint64) {}

// largest measures what is not of each size.
func (r *Result) largest(ctx context.Context, size int) (err error) {
	b, err := unimem.Open(size, unimem.Warm())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for options, name := range []string{"lock and unlock", "lock and unlock to read"} { // 1 is kIOSurfaceLockReadOnly
		ns, err := lock(ctx, b, uint32(options))
		r.set(name, size, ns, err)
	}
	n, unknown := regions(b.Address(), size)
	r.set("address space", size, float64(n), unknown)
	if !host.Mac {
		n, unknown = runs(b.Address(), size)
		r.set("physical pages", size, float64(n), unknown)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	d, err := dma.Open(ctx)
	if err != nil {
		r.set("device addresses", size, 0, err)
		return nil
	}
	s, unknown := d.Segments(b)
	r.set("device addresses", size, float64(len(s)), unknown)
	if unknown == nil {
		r.find("device addresses", size).Note = fmt.Sprintf("the first at %#x", s[0].Address)
		prepared := float64(d.PrepareTime().Nanoseconds())
		r.Rows = append(r.Rows, Row{Name: "PrepareForDMA", Bytes: size, Value: &prepared, Unit: "ns"})
	}
	return d.Close()
}
