//go:build amd64 || arm64

package halves

import "github.com/anekit/anekit/ane/fp16"

// The assembly takes blocks of 16 halves, at least one.

// binaryVector takes an operation, more by their number for rounding half away by the rules of a chip, twice as much
// more for rounding to even. xstep and ystep are 1, or 0 for a block that is repeated.
//
//go:noescape
func binaryVector(kind int, dst, x, y *fp16.Bits, xstep, ystep, blocks int)

//go:noescape
func clampVector(dst, x *fp16.Bits, blocks int, low, high int16, keep fp16.Bits)

//go:noescape
func absVector(dst, x *fp16.Bits, blocks int)

//go:noescape
func sumVector(way int, sums *float64, x *fp16.Bits, blocks int)

//go:noescape
func momentsVector(m *Moments, x *fp16.Bits, blocks int, from float64)

// divideVector computes in float64 where x times low and x times high are not one half.
//
//go:noescape
func divideVector(dst *fp16.Bits, x *float32, blocks int, by, inverse float64, low, high float32)

// normalizeVector moves on by byGamma and byBeta bytes after each 4 elements, or by 0 where 4 are repeated.
//
//go:noescape
func normalizeVector(dst, x, gamma, beta *fp16.Bits, byGamma, byBeta, blocks int, s *Scaled)
