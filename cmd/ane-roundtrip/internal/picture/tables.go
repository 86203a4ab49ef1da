package picture

import (
	"math"
	"sync"

	"github.com/anekit/anekit/ane/fp16"
)

// tables convert between samples and fp16 values. A Picture owns them and shares them with the pictures
// that Like makes from it, so that the package has no global state. Values of pictures use only the
// first 15 KiB of samples, which fit into a cache.
type tables struct {
	values    [1 << 8]fp16.Bits // by sample
	samples   [1 << 16]uint8    // by fp16.Bits
	parts     [1 << 8]float32   // by opacity: from 0 to 1
	opacities [1 << 8]fp16.Bits // the same, rounded

	once sync.Once
	over *[1 << 16]fp16.Bits // by 256 times opacity plus sample: their product; for pictures with opacity
}

func newTables() *tables {
	t := new(tables)
	for s := range t.values {
		t.values[s] = fp16.FromFloat32(float32(s) / 256)
		t.parts[s] = float32(s) / 255
		t.opacities[s] = fp16.FromFloat32(t.parts[s])
	}
	for b := range t.samples {
		t.samples[b] = sampleOf(fp16.Bits(b))
	}
	return t
}

// overOpacity returns the table over, which the first call makes.
func (t *tables) overOpacity() *[1 << 16]fp16.Bits {
	t.once.Do(func() {
		t.over = new([1 << 16]fp16.Bits)
		for i := range t.over {
			t.over[i] = fp16.FromFloat32(float32(i&0xff) * t.parts[i>>8] * (1. / (1 << 8)))
		}
	})
	return t.over
}

// sampleOf is the rule of SetRow. The sum is exact: an fp16 value times 256 is a multiple of 2^-16.
func sampleOf(v fp16.Bits) uint8 {
	if v.IsNaN() {
		return 0
	}
	return uint8(min(max(math.Floor(float64(v.Float32())*256+0.5), 0), 255))
}
