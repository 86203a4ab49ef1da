package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

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

// Other figures of the same experiment.
const (
	publishedTouch   = 1100 // ns, 1000 to 1200, for a page of 16 KiB
	publishedClose   = 5000 // ns
	publishedRegions = 1
)

// surfaces measures the memory of Blocks: on a Mac they are IOSurfaces.
func (r *Result) surfaces(ctx context.Context, o Options) error {
	switch {
	case mac:
		r.Measured = "IOSurface"
	case !o.Equivalent:
		r.surfacePlan()
		return unavailable("only macOS has IOSurface",
			"run it on a Mac; --equivalent measures the shared memory of this "+
				"system")
	default:
		r.Equivalent = true
	}
	for _, p := range published {
		if p.bytes > max(o.Most, published[0].bytes) {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.surface(p.bytes, known(p.open), known(p.write), known(p.read)); err != nil {
			return err
		}
	}
	return r.one(ctx, max(min(o.Most, published[len(published)-1].bytes), unimem.PageSize))
}

// surfacePlan adds the rows without values.
func (r *Result) surfacePlan() {
	for _, p := range published {
		r.missing("open", p.bytes, "ns", known(p.open), "")
		r.missing("first touch", p.bytes, "ns", known(publishedTouch), "for a page of 16 KiB")
		r.missing("write", p.bytes, "GB/s", known(p.write), "")
		r.missing("read", p.bytes, "GB/s", known(p.read), "")
		r.missing("close", p.bytes, "ns", known(publishedClose), "")
	}
	last := published[len(published)-1].bytes
	r.missing("lock and unlock", last, "ns", nil, "of a locked surface, for reading and writing")
	r.missing("lock and unlock to read", last, "ns", nil, "")
	r.missing("address space", last, "regions", known(publishedRegions), "")
	r.missing("device addresses", last, "segments", nil, "by the driver extension of unimem/dma/dext")
}

// Times of repetition: what is measured in microseconds is measured often.
const (
	often  = 20
	passes = 5
)

// surface measures one size.
func (r *Result) surface(size int, open, write, read *float64) error {
	opened, closed, touched := time.Duration(1<<63-1), time.Duration(1<<63-1), time.Duration(1<<63-1)
	rounds := often
	if size > 16<<20 {
		rounds = passes
	}
	var note string
	for range rounds {
		begin := time.Now()
		b, err := unimem.Open(size)
		if err != nil {
			return err
		}
		opened = min(opened, time.Since(begin))
		r.Measured = b.Backing()
		if b.Pinned() {
			note = "with the pages, which are pinned"
		}
		mem := b.Bytes()
		begin = time.Now()
		for at := 0; at < len(mem); at += unimem.PageSize {
			mem[at] = 1
		}
		touched = min(touched, time.Since(begin))
		begin = time.Now()
		if err := b.Close(); err != nil {
			return err
		}
		closed = min(closed, time.Since(begin))
	}
	r.row("open", size, float64(opened.Nanoseconds()), "ns", open, note)
	pages := (size + unimem.PageSize - 1) / unimem.PageSize
	r.row("first touch", size, float64(touched.Nanoseconds())/float64(pages), "ns", known(publishedTouch),
		"for a page of 16 KiB")
	b, err := unimem.Open(size, unimem.Warm())
	if err != nil {
		return err
	}
	words, err := unimem.View[uint64](b.Bytes()[:size])
	if err != nil {
		return errors.Join(err, b.Close())
	}
	repeats := max(1, 64<<20/size) // a pass takes milliseconds
	moved := float64(size) * float64(repeats)
	r.row("write", size, moved/least(passes, func() {
		for n := range repeats {
			fill(words, uint64(n))
		}
	}), "GB/s", write, "")
	r.row("read", size, moved/least(passes, func() {
		for range repeats {
			total(words)
		}
	}), "GB/s", read, "")
	r.row("close", size, float64(closed.Nanoseconds()), "ns", known(publishedClose), "")
	return b.Close()
}

// The compiler keeps a call whose result nothing uses, if it cannot inline it.
//
//go:noinline
func fill(words []uint64, v uint64) {
	for i := range words {
		words[i] = v
	}
}

//go:noinline
func total(words []uint64) (sum uint64) {
	for _, w := range words {
		sum += w
	}
	return sum
}

// one measures what is not of each size, on one Block.
func (r *Result) one(ctx context.Context, size int) (err error) {
	b, err := unimem.Open(size, unimem.Warm())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for _, x := range []struct {
		name    string
		options uint32
		note    string
	}{{"lock and unlock", 0, "of a locked surface, for reading and writing"}, {"lock and unlock to read", 1, ""}} {
		if ns, why := lock(b, x.options); why == "" {
			r.row(x.name, size, ns, "ns", nil, x.note)
		} else {
			r.missing(x.name, size, "ns", nil, why)
		}
	}
	if n, why := regions(b.Address(), size); why == "" {
		r.row("address space", size, float64(n), "regions", known(publishedRegions), "")
	} else {
		r.missing("address space", size, "regions", known(publishedRegions), why)
	}
	if r.Equivalent {
		if n, why := runs(b.Address(), size); why == "" {
			r.row("physical pages", size, float64(n), "runs", nil, "contiguous ones, instead of device addresses")
		} else {
			r.missing("physical pages", size, "runs", nil, why)
		}
		return nil
	}
	return r.segments(ctx, b, size)
}

// segments asks the driver extension for the device's addresses.
func (r *Result) segments(ctx context.Context, b *unimem.Block, size int) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	d, err := dma.Open(ctx)
	if err != nil {
		r.missing("device addresses", size, "segments", nil, err.Error())
		return nil
	}
	s, err := d.Segments(b)
	if err != nil {
		r.missing("device addresses", size, "segments", nil, err.Error())
		return d.Close()
	}
	r.row("device addresses", size, float64(len(s)), "segments", nil, fmt.Sprintf("the first at %#x", s[0].Address))
	r.row("PrepareForDMA", size, float64(d.PrepareTime().Nanoseconds()), "ns", nil, "")
	return d.Close()
}
