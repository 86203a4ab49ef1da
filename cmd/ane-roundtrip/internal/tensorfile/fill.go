package tensorfile

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/element"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/near"
)

// Fill computes values of inputs without a file, or for missing weight files.
type Fill struct {
	Kind string // "", zeros, ones, random
	seed uint64
}

// ParseFill reads the value of --fill.
func ParseFill(s string) (Fill, error) {
	seed, random := strings.CutPrefix(s, "random:")
	switch {
	case s == "" || s == "zeros" || s == "ones":
		return Fill{Kind: s}, nil
	case random:
		if n, err := strconv.ParseUint(seed, 10, 64); err == nil {
			return Fill{"random", n}, nil
		}
	}
	return Fill{}, cli.Badf("--fill %q; %sgive zeros, ones or random:SEED, where SEED is a whole number", s,
		nearFill(s, "zeros", "ones"))
}

// nearFill returns "did you mean X? " for a misspelled value of --fill, or "". It looks for the kinds, and for
// random with the seed that s has.
func nearFill(s string, kinds ...string) string {
	word, seed, _ := strings.Cut(s, ":")
	if _, err := strconv.ParseUint(seed, 10, 64); err != nil {
		seed = "SEED"
	}
	if word == "random" || near.Word(word, append(kinds, "random")) == "random" {
		return "did you mean random:" + seed + "? "
	}
	return near.Hint(s, kinds)
}

// ParseFillWeights reads the value of --fill-weights.
func ParseFillWeights(s string) (Fill, error) {
	f, err := ParseFill(s)
	if err != nil || s != "" && f.Kind != "random" {
		return Fill{}, cli.Badf("--fill-weights %q; %sgive random:SEED, where SEED is a whole number", s, nearFill(s))
	}
	return f, nil
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
	size := d.Size()
	for at := 0; at < len(data); at += max(size, 1) {
		switch {
		case size == 0:
			data[at] = byte(r.IntN(256))
		case d == mil.BF16: // the upper half of a float32
			binary.LittleEndian.PutUint16(data[at:], uint16(math.Float32bits(float32(next()))>>16))
		default:
			element.Store(d, data[at:], next())
		}
	}
}
