package main

import (
	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/picture"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// way says how opacity takes part in a filter.
type way int

const (
	opaque   way = iota // it does not
	covering            // colours are taken times opacity, which is passed on
	through             // so they are, and opacity goes through the filter as a last channel
)

// wayOf decides for a picture and a filter.
func wayOf(p *picture.Picture, f models.Filter) way {
	switch {
	case !p.Translucent():
		return opaque
	case f.Averages():
		return through
	}
	return covering
}

// String is the way in the report.
func (w way) String() string {
	return [...]string{"none", "kept", "filtered"}[w]
}

// channels is how many the model filters.
func (w way) channels(p *picture.Picture) int {
	if w == through {
		return p.Channels + 1
	}
	return p.Channels
}

// bandBytes is about how much memory the input of one evaluation has.
const bandBytes = 8 << 20

// bandRows is how many rows one evaluation filters: a picture goes through the engine in
// bands, so that its tensors do not take several times its own memory.
func (w way) bandRows(p *picture.Picture) int {
	const half, least = 2, 16 // bytes of a sample, rows
	return min(max(bandBytes/(half*w.channels(p)*(p.Width+2)), least), p.Height)
}

// fill writes the rows from top on into a tensor [1, channels, rows+2, width+2]: one above
// them, and one below. Rows outside of the picture are its first or last one.
func (w way) fill(x *ane.Tensor, p *picture.Picture, top, rows int) error {
	for ch := range w.channels(p) {
		for i := range rows + 2 {
			half, err := halves(x, ch*(rows+2)+i)
			if err != nil {
				return err
			}
			switch row := top + i - 1; {
			case ch == p.Channels:
				p.FillOpacity(half, row)
			case w == opaque:
				p.FillRow(half, ch, row)
			default:
				p.FillOver(half, ch, row)
			}
		}
	}
	return nil
}

// take writes the result, a tensor [1, channels, rows, width], over the rows from top on,
// and keeps the last of them as it was for the band below.
func (w way) take(y *ane.Tensor, p *picture.Picture, top, rows int) error {
	end := min(top+rows, p.Height)
	p.Keep(end - 1)
	for row := top; row < end; row++ {
		var opacity []fp16.Bits
		var err error
		if w == through {
			if opacity, err = halves(y, p.Channels*rows+row-top); err != nil {
				return err
			}
			p.SetOpacity(row, opacity)
		}
		for ch := range p.Channels {
			half, err := halves(y, ch*rows+row-top)
			if err != nil {
				return err
			}
			if w == through {
				p.SetOver(ch, row, half, opacity)
			} else {
				p.SetRow(ch, row, half)
			}
		}
	}
	return nil
}

// halves is a row of a tensor in place.
func halves(t *ane.Tensor, row int) ([]fp16.Bits, error) {
	b, err := t.Row(row)
	if err != nil {
		return nil, err
	}
	return unimem.View[fp16.Bits](b)
}
