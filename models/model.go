package models

import (
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/element"
)

// Model is one ready program.
type Model struct {
	Name    string
	About   string     // what it tests, in a few words
	Text    []byte     // MIL
	Weights blob.Files // files that the text names
	// Input generates the values of the input called name, n of them in
	// row-major order: the same for the same seed, and exact in fp16.
	Input func(name string, n int, seed uint64) []float64
	// Reference computes every output from the inputs, both row-major, in
	// float64 and without regard to how an engine would go about it.
	Reference func(in map[string][]float64) map[string][]float64
	Tolerance Tolerance
}

// Tolerance bounds the difference from the reference: |got - want| is at most
// Abs + Rel*|want|.
type Tolerance struct {
	Abs, Rel float64
	Reason   string
}

// Allows reports whether got is close enough to want. NaN is close to nothing.
func (t Tolerance) Allows(got, want float64) bool {
	return math.Abs(got-want) <= t.Abs+t.Rel*math.Abs(want)
}

// exactly is the tolerance of programs whose inputs leave nothing to round, with
// the reason for it.
func exactly(reason string) Tolerance { return Tolerance{Reason: reason} }

// All builds every model, in the order of what they need from an engine.
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

// finish turns a built program into the text of m.
func (m Model) finish(b *mil.Builder) (Model, error) {
	p, err := b.Program()
	if err != nil {
		return Model{}, err
	}
	m.Text = mil.Print(p)
	return m, nil
}

// input generates values as Model.Input does.
type input = func(name string, n int, seed uint64) []float64

// multiples generates unit times the whole numbers lo to hi. Inputs of different
// names differ. fp16 holds the values exactly when unit is a power of two and no
// number is beyond 2048.
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

// factors generates what the models multiply and sum: quarters within 5/4, 11
// values. Products are whole sixteenths, 25 at most, and sums of 80 products are
// 2000 sixteenths at most: fp16 holds every partial sum, in any order and any
// grouping. No sum comes near 32768, from which on the engine gives infinity.
func factors() input { return multiples(1./4, -5, 5) }

// weightFile is where every model keeps its weights.
const weightFile = blob.ModelPath + "weights/weight.bin"

// weights collects the tensors of a weight file.
type weights struct{ w blob.Writer }

// add appends values as fp16 and returns the offset that names them.
func (w *weights) add(values []float64) (uint64, error) {
	data := make([]byte, 2*len(values))
	for i, v := range values {
		element.Store(mil.FP16, data[2*i:], v)
	}
	return w.w.Add(mil.FP16, data, 0)
}

func (w *weights) files() blob.Files { return blob.Files{weightFile: w.w.Bytes()} }
