package picture

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
)

// tables convert between samples and fp16 values. A Picture owns them and shares them with the pictures
// that Like makes from it, so that the package has no global state. Values of pictures use only the
// first 15 KiB of samples, which fit into a cache.
type tables struct {
	values  [1 << 8]fp16.Bits // by sample
	samples [1 << 16]uint8    // by fp16.Bits
}

func newTables() *tables {
	t := new(tables)
	for s := range t.values {
		t.values[s] = fp16.FromFloat32(float32(s) / 256)
	}
	for b := range t.samples {
		t.samples[b] = sampleOf(fp16.Bits(b))
	}
	return t
}

// sampleOf is the rule of SetRow. The sum is exact: an fp16 value times 256 is a multiple of 2^-16.
func sampleOf(v fp16.Bits) uint8 {
	if v.IsNaN() {
		return 0
	}
	return uint8(min(max(math.Floor(float64(v.Float32())*256+0.5), 0), 255))
}
