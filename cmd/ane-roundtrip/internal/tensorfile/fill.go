package tensorfile

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/near"
)

// Fill computes values of inputs without a file, or for missing weight files.
type Fill struct {
	Kind string // "", zeros, ones, random
	seed uint64
}

// ParseFill reads the value of --fill.
func ParseFill(s string) (Fill, error) { return parseFill("--fill", s, "zeros", "ones") }

// ParseFillWeights reads the value of --fill-weights.
func ParseFillWeights(s string) (Fill, error) { return parseFill("--fill-weights", s) }

// parseFill reads random:SEED, or one of the other kinds of a flag.
func parseFill(flag, s string, others ...string) (Fill, error) {
	if s == "" || slices.Contains(others, s) {
		return Fill{Kind: s}, nil
	}
	word, seed, _ := strings.Cut(s, ":")
	n, err := strconv.ParseUint(seed, 10, 64)
	if word == "random" && err == nil {
		return Fill{word, n}, nil
	}
	if err != nil {
		seed = "SEED"
	}
	hint, choices := near.Hint(s, others), ""
	if word == "random" || near.Word(word, append(slices.Clip(others), "random")) == "random" {
		hint = "did you mean random:" + seed + "? "
	}
	if len(others) > 0 {
		choices = strings.Join(others, ", ") + " or "
	}
	return Fill{}, cli.Badf("%s %q; %sgive %srandom:SEED, where SEED is a whole number", flag, s, hint, choices)
}

// Elements returns dense elements for a tensor.
func (f Fill) Elements(l ane.Layout) []byte {
	data := make([]byte, l.PackedBytes())
	f.values(l.DType, l.Name, data)
	return data
}

// values fills data with elements of a type. Random ones depend on the seed and the
// name only: floats are multiples of 1/1024 in [-1, 1), signed integers lie in [-8, 8], unsigned
// ones in [0, 8]. Elements smaller than a byte have random bits.
func (f Fill) values(d mil.DType, name string, data []byte) {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	r := rand.New(rand.NewPCG(f.seed, h.Sum64()))
	next := func() float64 { return float64(r.IntN(2048)-1024) / 1024 }
	switch {
	case f.Kind == "zeros":
		next = func() float64 { return 0 }
	case f.Kind == "ones":
		next = func() float64 { return 1 }
	case d == mil.Bool:
		next = func() float64 { return float64(r.IntN(2)) }
	case d.Unsigned():
		next = func() float64 { return float64(r.IntN(9)) }
	case d.Integer():
		next = func() float64 { return float64(r.IntN(17) - 8) }
	}
	for at := 0; at < len(data); at += max(d.Size(), 1) {
		if d.Size() == 0 {
			data[at] = byte(r.IntN(256))
		} else {
			element.Store(d, data[at:], next())
		}
	}
}
