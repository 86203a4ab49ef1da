package kernbench

import (
	"fmt"
	"io/fs"
	"math/rand/v2"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/measure"
)

// Sizes of the packed weights: those of a step are more than a cache holds.
const (
	stepOut, packedIn = 1 << 16, 1 << 11
	chunkOut          = 1 << 13
	group             = 64
)

// constants are packed weights in memory: the offset of a constant is its number.
type constants [][]byte

var _ ane.Constants = constants(nil)

// ReadFile implements ane.Weights.
func (c constants) ReadFile(path string) ([]byte, error) {
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

// Constant implements ane.Constants.
func (c constants) Constant(_ string, offset uint64, _ mil.Type) ([]byte, error) {
	return c[offset], nil
}

// Hold implements ane.Constants.
func (c constants) Hold() (func(), error) { return func() {}, nil }

// packed are random weights, and the text of linear with them: integers, scales around 1/64, and offsets in the type
// given, if any.
func packed(rows, out, bits int, offset mil.DType) (c constants, program string) {
	r := rand.NewChaCha8([32]byte{1})
	var body string
	add := func(name, d string, bits, columns int, high byte) {
		b := make([]byte, out*columns*bits/8)
		_, _ = r.Read(b) // it does not fail
		for i := bits/8 - 1; bits >= 16 && i < len(b); i += bits / 8 {
			b[i] = high
		}
		body += fmt.Sprintf("tensor<%s, [%d, %d]> %s = const()[val = tensor<%[1]s, [%[2]d, %[3]d]>(BLOBFILE("+
			"path = string(\"w\"), offset = uint64(%[5]d)))]; ", d, out, columns, name, len(c))
		c = append(c, b)
	}
	args := "data = q, scale = s"
	add("q", fmt.Sprintf("uint%d", bits), bits, packedIn, 0)
	add("s", "fp16", 16, packedIn/group, 0x24)
	if offset != mil.NoType {
		add("o", offset.String(), 8*offset.Size(), packedIn/group, 0x40)
		args += ", offset = o"
	}
	return c, text(fmt.Sprintf("h[%d,%d] x", rows, packedIn), body+fmt.Sprintf("h[%d,%d] w = "+
		"constexpr_blockwise_shift_scale(%s); h[%d,%d] y = linear(x = x, weight = w);", out, packedIn, args, rows, out))
}

// Packed are a step, one vector, and a chunk of 256 with packed weights, beside a read of
// the weights and linear with fp16 weights. They take a GiB.
func Packed() (all []measure.Case) {
	for _, kind := range []struct {
		bits   int
		offset mil.DType
	}{{2, mil.NoType}, {3, mil.NoType}, {4, mil.NoType}, {4, mil.FP16}, {4, mil.FP32}, {6, mil.NoType}, {8, mil.NoType}} {
		what := fmt.Sprintf("%d bits", kind.bits)
		if kind.offset != mil.NoType {
			what += ", " + kind.offset.String() + " offsets"
		}
		weights, step := packed(1, stepOut, kind.bits, kind.offset)
		size := 0
		for _, w := range weights {
			size += len(w)
		}
		for _, workers := range []int{1, 2} {
			all = append(all, kernel(fmt.Sprintf("step, %s, %d workers", what, workers), size,
				programs(weights, []soft.Option{soft.Workers(workers)}, step), reads(workers, size), 1/0.6))
		}
		weights, chunk := packed(256, chunkOut, kind.bits, kind.offset)
		all = append(all, kernel("chunk of 256, "+what, 256*packedIn*chunkOut,
			programs(weights, []soft.Option{soft.Workers(1)}, chunk),
			one(text(fmt.Sprintf("h[256,%d] x", packedIn), fmt.Sprintf("h[256,%d] y = dense[%d](x);", chunkOut, packedIn))),
			1/0.6))
	}
	return all
}
