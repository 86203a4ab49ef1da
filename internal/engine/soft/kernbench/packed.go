package kernbench

import (
	"fmt"
	"io/fs"
	"math/rand/v2"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
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

func (c constants) bytes() (n int) {
	for _, b := range c {
		n += len(b)
	}
	return n
}

// randomConstants are integers, scales around 1/64, and offsets in the type given, if any.
func randomConstants(rows, bits int, offset mil.DType) constants {
	r := rand.New(rand.NewPCG(1, 2))
	c := constants{make([]byte, rows*packedIn/8*bits), make([]byte, rows*packedIn/group*2)}
	for i := range c[0] {
		c[0][i] = byte(r.Uint32())
	}
	for i := 0; i < len(c[1]); i += 2 {
		c[1][i], c[1][i+1] = byte(r.Uint32()), 0x24
	}
	if offset != mil.NoType {
		c = append(c, make([]byte, len(c[1])/2*offset.Size()))
		for i := 0; i < len(c[2]); i += offset.Size() {
			c[2][i], c[2][i+offset.Size()-1], c[2][i+offset.Size()-2] = byte(r.Uint32()), 0x40, byte(r.Uint32())
		}
	}
	return c
}

// packedText is linear with packed weights.
func packedText(rows, out, bits int, offset mil.DType) string {
	constant := func(name string, d string, cols, at int) string {
		t := fmt.Sprintf("tensor<%s, [%d, %d]>", d, out, cols)
		return fmt.Sprintf("%s %s = const()[val = %[1]s(BLOBFILE(path = string(\"w\"), offset = uint64(%[3]d)))];\n", t,
			name, at)
	}
	body := constant("q", fmt.Sprintf("uint%d", bits), packedIn, 0) + constant("s", "fp16", packedIn/group, 1)
	args := "data = q, scale = s"
	if offset != mil.NoType {
		body += constant("o", offset.String(), packedIn/group, 2)
		args += ", offset = o"
	}
	return text(fmt.Sprintf("tensor<fp16, [%d, %d]> x", rows, packedIn), body+fmt.Sprintf(
		"tensor<fp16, [%d, %d]> w = constexpr_blockwise_shift_scale(%s); tensor<fp16, [%d, %d]> y = linear(x = x, "+
			"weight = w);", out, packedIn, args, rows, out))
}

// Packed are a step, one vector, and a chunk of 256 with packed weights, beside a read of
// the weights and linear with fp16 weights. They take a GiB.
func Packed() (all []measure.Case) {
	for _, bits := range []int{2, 3, 4, 6, 8} {
		for _, offset := range []mil.DType{mil.NoType, mil.FP16, mil.FP32} {
			if offset != mil.NoType && bits != 4 {
				continue
			}
			what := fmt.Sprintf("%d bits", bits)
			if offset != mil.NoType {
				what += ", " + offset.String() + " offsets"
			}
			step, chunk := randomConstants(stepOut, bits, offset), randomConstants(chunkOut, bits, offset)
			for _, workers := range []int{1, 2} {
				all = append(all, kernel(fmt.Sprintf("step, %s, %d workers", what, workers), step.bytes(),
					programs(workers, step, packedText(1, stepOut, bits, offset)), reads(workers, step.bytes()), 1/0.6))
			}
			all = append(all, kernel("chunk of 256, "+what, 256*packedIn*chunkOut,
				programs(1, chunk, packedText(256, chunkOut, bits, offset)),
				one(text(fmt.Sprintf("tensor<fp16, [256, %d]> x", packedIn), linear("y", "x", packedIn, chunkOut))),
				1/0.6))
		}
	}
	return all
}

var _ ane.Constants = constants(nil)
