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

// exact is the tolerance of programs that only move values or round once.
var exact = Tolerance{Reason: "every result is a value that fp16 holds exactly"}

// half is the relative size of one rounding to fp16: 11 significant bits, half
// a unit in the last place.
const half = 1.0 / 2048

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

// steps generates multiples of 1/64 within [-limit, limit): exact in fp16 up to
// a limit of 16. Inputs of different names differ.
func steps(limit float64) func(name string, n int, seed uint64) []float64 {
	return func(name string, n int, seed uint64) []float64 {
		h := fnv.New64a()
		h.Write([]byte(name)) // never fails
		r := rand.New(rand.NewPCG(seed, h.Sum64()))
		out := make([]float64, n)
		for i := range out {
			out[i] = float64(r.IntN(int(limit*128))-int(limit*64)) / 64
		}
		return out
	}
}

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
