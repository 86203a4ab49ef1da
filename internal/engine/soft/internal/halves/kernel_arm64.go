package halves

import "github.com/anekit/anekit/ane/fp16"

// neon has the operations on elements, sums of runs, and what layer_norm and softmax do but the exponential.
const neon = "neon"

// detect requires nothing: every arm64 has these instructions.
func detect() string { return neon }

// These are as their namesakes of amd64.

//go:noescape
func binaryVector(op int, dst, x, y *fp16.Bits, xstep, ystep, blocks int)

//go:noescape
func clampVector(dst, x *fp16.Bits, blocks int, low, high int16, keep fp16.Bits)

//go:noescape
func absVector(dst, x *fp16.Bits, blocks int)

//go:noescape
func sumVector(way int, sums *float64, x *fp16.Bits, blocks int)

//go:noescape
func momentsVector(m *Moments, x *fp16.Bits, blocks int, from float64)

//go:noescape
func normalizeVector(dst, x, gamma, beta *fp16.Bits, byGamma, byBeta, blocks int, s *Scaled)

//go:noescape
func divideVector(dst *fp16.Bits, x *float32, blocks int, by, inverse float64)
