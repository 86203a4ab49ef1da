package main

import (
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/element"
)

// fill makes up the values of inputs that no file was given for.
type fill struct {
	kind string // "", zeros, ones, random
	seed uint64
}

// parseFill reads the value of --fill.
func parseFill(s string) (fill, error) {
	seed, random := strings.CutPrefix(s, "random:")
	switch {
	case s == "" || s == "zeros" || s == "ones":
		return fill{kind: s}, nil
	case random:
		if n, err := strconv.ParseUint(seed, 10, 64); err == nil {
			return fill{"random", n}, nil
		}
	}
	return fill{}, badf("--fill %q; give zeros, ones or random:SEED with a whole number", s)
}

// elements returns dense elements for a tensor. Random ones depend on the seed
// and the tensor's name alone: floats are multiples of 1/1024 within [-1, 1),
// integers lie within [-8, 8] or, unsigned, [0, 8].
func (f fill) elements(l ane.Layout) []byte {
	h := fnv.New64a()
	h.Write([]byte(l.Name)) // never fails
	r := rand.New(rand.NewPCG(f.seed, h.Sum64()))
	next := func() float64 { return float64(r.IntN(2048)-1024) / 1024 }
	switch {
	case f.kind == "zeros":
		next = func() float64 { return 0 }
	case f.kind == "ones":
		next = func() float64 { return 1 }
	case l.DType == mil.Bool:
		next = func() float64 { return float64(r.IntN(2)) }
	case l.DType.Unsigned():
		next = func() float64 { return float64(r.IntN(9)) }
	case l.DType.Integer():
		next = func() float64 { return float64(r.IntN(17) - 8) }
	}
	size := l.DType.Size()
	data := make([]byte, l.PackedBytes())
	for at := 0; at < len(data); at += size {
		element.Store(l.DType, data[at:], next())
	}
	return data
}
