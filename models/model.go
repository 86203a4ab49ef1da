package models

import (
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/build"
)

// Model is one ready program.
type Model struct {
	Name    string
	About   string       // short description of what it tests
	Program *mil.Program // for ane.Source: an engine prints it in the dialect that it reads
	Text    []byte       // Program as MIL text in the new dialect
	Weights blob.Files   // files that the text names
	// Input generates the values of the input called name, n of them in
	// row-major order: the same for the same seed, and exact in fp16.
	Input func(name string, n int, seed uint64) []float64
	// Reference computes every output from the inputs, both row-major, in float64,
	// independent of any engine.
	Reference func(in map[string][]float64) map[string][]float64
	Tolerance Tolerance
}

// Tolerance bounds the difference from the reference: |got - want| is at most
// Abs + Rel*|want|.
type Tolerance struct {
	Abs, Rel float64
	Reason   string
}

// Allows reports whether got is close enough to want. It refuses NaN.
func (t Tolerance) Allows(got, want float64) bool {
	return math.Abs(got-want) <= t.Abs+t.Rel*math.Abs(want)
}

// exactly is the tolerance of programs without any rounding; reason says why.
func exactly(reason string) Tolerance { return Tolerance{Reason: reason} }

// All builds every model. Later ones need more of an engine. An error is a fault of this package: a mil.ErrorList of
// its program.
func All() ([]Model, error) {
	var all []Model
	for _, one := range []func() (Model, error){
		identity, add, scaleBias, castEdges, packedMatmul, convPointwise, conv3x3, softmax, layerNorm, split, attention,
	} {
		m, err := one()
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// built sets the program of m to the function that write makes, with its text and weights.
func (m Model) built(write func(f *build.Func)) (Model, error) {
	b := build.New()
	write(b.Func("main"))
	p, err := b.Program()
	if err != nil {
		return Model{}, err
	}
	m.Program, m.Text, m.Weights = p.Program, p.Text(), blob.Files{}
	for path := range p.Weights {
		if m.Weights[path], err = p.ReadFile(path); err != nil {
			return Model{}, err
		}
	}
	return m, nil
}

// input generates values as Model.Input does.
type input = func(name string, n int, seed uint64) []float64

// multiples generates products of unit and whole numbers from lo to hi. Inputs of
// different names differ. fp16 holds the values exactly if unit is a power of two and
// no number exceeds 2048.
func multiples(unit float64, lo, hi int) input {
	return func(name string, n int, seed uint64) []float64 {
		h := fnv.New64a()
		h.Write([]byte(name)) // never fails
		r := rand.New(rand.NewPCG(seed, h.Sum64()))
		out := make([]float64, n)
		for i := range out {
			out[i] = unit * float64(lo+r.IntN(hi-lo+1))
		}
		return out
	}
}

// steps generates multiples of 1/64 within [-limit, limit), for limits up to 32.
func steps(limit int) input { return multiples(1./64, -64*limit, 64*limit-1) }

// factors generates operands of products: the 11 quarters within 5/4. Products are at
// most 25 sixteenths and sums of 80 products at most 2000 sixteenths: fp16 holds every
// partial sum, in any order and any grouping. All sums are far below 32768, above which
// the engine gives infinity.
func factors() input { return multiples(1./4, -5, 5) }

// singles are values as weights have them.
func singles(values []float64) []float32 {
	out := make([]float32, len(values))
	for i, v := range values {
		out[i] = float32(v)
	}
	return out
}
