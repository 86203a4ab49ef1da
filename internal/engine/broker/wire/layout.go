package wire

import (
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// layouts is a list of tensors as the program declares them.
func layouts(c *coder, name string, list *[]ane.Layout) {
	for i := range items(c, name, list, MaxTensors) {
		layout(c, &(*list)[i])
	}
}

func layout(c *coder, l *ane.Layout) {
	c.text("name", &l.Name, MaxName)
	dtype := uint32(l.DType)
	c.below("dtype", &dtype, uint32(mil.UInt64)+1)
	l.DType = mil.DType(dtype)
	for i := range items(c, "shape", &l.Shape, ane.MaxRank) {
		length(c, "axis", &l.Shape[i])
	}
	for _, p := range []*int{
		&l.Batches, &l.Channels, &l.Depth, &l.Height, &l.Width,
		&l.BatchStride, &l.PlaneStride, &l.DepthStride, &l.RowStride,
	} {
		length(c, "axis or stride", p)
	}
}

// length is an int from 0 to MaxBytes.
func length(c *coder, field string, p *int) {
	v := uint64(*p)
	if *p < 0 {
		c.fail(field, ErrValue, fmt.Sprintf("%d is negative", *p))
	}
	c.size(field, &v)
	if c.reading {
		*p = int(v)
	}
}
