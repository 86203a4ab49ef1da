package picture

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
)

// tables convert between samples and halves. They belong to a Picture, and to
// those made by Like from it, so that the package keeps no state. Halves of
// pictures take up the first 15 KiB of samples, which caches hold.
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

// sampleOf states the rule of SetRow. The sum is exact: a half times 256 has no
// digit below 2^-16.
func sampleOf(v fp16.Bits) uint8 {
	if v.IsNaN() {
		return 0
	}
	return uint8(min(max(math.Floor(float64(v.Float32())*256+0.5), 0), 255))
}
