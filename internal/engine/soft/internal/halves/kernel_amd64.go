package halves

import "github.com/anekit/anekit/ane/fp16"

// A kernel whose name ends in 512 has AVX-512. The others choose between that and AVX2, or have AVX2 and serve both.

//go:noescape
func decodeVector(dst *float32, src *fp16.Bits, blocks int)

//go:noescape
func encodeVector(dst *fp16.Bits, src *float32, blocks int, away bool)

// addToVector takes at most 8 rows, as all kernels with rows; stride is the bytes between them.
//
//go:noescape
func addToVector(way int, sums *float64, x *fp16.Bits, blocks, rows, stride int)

//go:noescape
func spanVector(x *fp16.Bits, blocks int) (low, high int)

// spansVector takes the greatest halves unless least is set.
//
//go:noescape
func spansVector(keys, nans *int16, x *fp16.Bits, blocks, rows, stride int, least bool)

// tileVector transposes 32 x 32 halves by way of room, and fetches 2 KiB. to and from are the bytes between rows.
// With past, lines of dst go past the caches where they are whole.
//
//go:noescape
func tileVector(dst, src, room, fetch *uint16, to, from int, past bool)

// fence ends what went past the caches before the writes that follow.
//
//go:noescape
func fence()

//go:noescape
func expVector(dst *float32, sums *float64, x *fp16.Bits, blocks int, top float64, e *expConstants)

// quickNormalize is normalizeVector for the blocks before one that float32 cannot decide.
//
//go:noescape
func quickNormalize(dst, x, gamma, beta *fp16.Bits, byGamma, byBeta, blocks int, s *Scaled) (done int)

// normalize512 fetches what is ahead bytes after x.
//
//go:noescape
func normalize512(dst, x, gamma, beta *fp16.Bits, blocks, ahead int, s *Scaled)

//go:noescape
func stretch512(dst, x, gamma *fp16.Bits, blocks int, s *Scaled)

//go:noescape
func mulRowsVector(sums, vector *float32, x *fp16.Bits, blocks, rows, stride int)

// mulFourVector takes blocks of fewCols columns; bySums and byVectors are the bytes between the sums and the vectors.
//
//go:noescape
func mulFourVector(sums, vectors *float32, x *fp16.Bits, blocks, rows, stride, bySums, byVectors int)

// dotsVector takes dotRows rows and blocks of 32 columns. fetch is what is read after them, or nil: run bytes of each
// row, or without gaps where run is stride, as with AVX-512.
//
//go:noescape
func dotsVector(sums *[dotRows]float32, vector *float32, x, room, fetch *fp16.Bits, blocks, stride, run int)

// copyRows takes rows of 4 bytes or more.
//
//go:noescape
func copyRows(dst, src *byte, rows, size, to, from int)
