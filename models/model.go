package models

import (
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/element"
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
	for _, build := range []func() (Model, error){
		identity, add, scaleBias, castEdges, packedMatmul, convPointwise, conv3x3, softmax, layerNorm, split, attention,
	} {
		m, err := build()
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// finish sets the text of m to the program of b.
func (m Model) finish(b *mil.Builder) (Model, error) {
	p, err := b.Program()
	if err != nil {
		return Model{}, err
	}
	m.Program, m.Text = p, mil.Print(p)
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

// weights collects the tensors of a weight file.
type weights struct{ w blob.Writer }

// add appends values as fp16 and returns their offset.
func (w *weights) add(values []float64) (uint64, error) {
	data := make([]byte, 2*len(values))
	for i, v := range values {
		element.Store(mil.FP16, data[2*i:], v)
	}
	return w.w.Add(mil.FP16, data, 0)
}

func (w *weights) files() blob.Files { return blob.Files{blob.WeightFile: w.w.Bytes()} }
