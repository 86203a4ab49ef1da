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

// fill writes the picture into a tensor [1, channels, height+2, width+2].
func (w way) fill(x *ane.Tensor, p *picture.Picture) error {
	for ch := range w.channels(p) {
		for row := range p.Height + 2 {
			half, err := halves(x, ch*(p.Height+2)+row)
			if err != nil {
				return err
			}
			switch {
			case ch == p.Channels:
				p.FillOpacity(half, row-1)
			case w == opaque:
				p.FillRow(half, ch, row-1)
			default:
				p.FillOver(half, ch, row-1)
			}
		}
	}
	return nil
}

// take reads the result from a tensor [1, channels, height, width].
func (w way) take(y *ane.Tensor, p *picture.Picture) (*picture.Picture, error) {
	q := p.Like()
	if w == through {
		q.OwnOpacity()
	}
	for row := range p.Height {
		var opacity []fp16.Bits
		var err error
		if w == through {
			if opacity, err = halves(y, p.Channels*p.Height+row); err != nil {
				return nil, err
			}
			q.SetOpacity(row, opacity)
		}
		for ch := range p.Channels {
			half, err := halves(y, ch*p.Height+row)
			if err != nil {
				return nil, err
			}
			if w == through {
				q.SetOver(ch, row, half, opacity)
			} else {
				q.SetRow(ch, row, half)
			}
		}
	}
	return q, nil
}

// halves is a row of a tensor in place.
func halves(t *ane.Tensor, row int) ([]fp16.Bits, error) {
	b, err := t.Row(row)
	if err != nil {
		return nil, err
	}
	return unimem.View[fp16.Bits](b)
}
