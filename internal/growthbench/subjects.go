package growthbench

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/decoderbench"
	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/models/decoder"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Subjects are measured on d. Their files are in folders of their own below dir.
func Subjects(d *ane.Device, dir string) []Subject {
	return []Subject{
		{"matmul", "rows and columns", 3, []int{128, 256, 512, 1024, 2048, 4096}, false,
			evaluation(d, func(f *build.Func, n int) {
				f.Output("y", f.Matmul(f.Input("x", build.FP16, n, n), f.Input("w", build.FP16, n, n)))
			})},
		{"attention", "tokens", 2, []int{256, 512, 1024, 2048, 4096, 8192}, false, evaluation(d, func(f *build.Func, n int) {
			in := func(name string) build.Value { return f.Input(name, build.FP16, 1, 2, n, 64) }
			f.Output("y", f.ScaledDotProductAttention(in("q"), in("k"), in("v")))
		})},
		{"decode", "tokens held, in equal room", 1, []int{128, 512, 1024, 2048, 4096}, false,
			func(t *step.T, n int) (func() error, int) { return decode(t, d, dir, n) }},
		{"broker", "clients", 0, clients(), true, evaluations},
		{"eventfds", "pairs of processes", 0, clients(), true, signals},
		{"weights", "tensors of a file", 1, []int{10, 100, 1000, 10_000, 100_000}, false,
			func(t *step.T, n int) (func() error, int) { return open(t, dir, n) }},
		{"builder", "operators", 1, operators(), false, func(_ *step.T, n int) (func() error, int) {
			return func() error { _, err := chain(n); return err }, 1
		}},
		{"compile", "operators", 1, operators(), false, func(t *step.T, n int) (func() error, int) {
			p := step.Must(chain(n))
			return func() error {
				m, err := d.Compile(t.Ctx, ane.Source{Program: p})
				if err != nil {
					return err
				}
				return m.Close(t.Ctx)
			}, 1
		}},
	}
}

func clients() []int   { return []int{1, 2, 4, 8, 16, 32} }
func operators() []int { return []int{1000, 4000, 10_000, 40_000} }

// evaluation evaluates a program that body builds, on numbers from -1 to 1.
func evaluation(d *ane.Device, body func(f *build.Func, n int)) func(*step.T, int) (func() error, int) {
	return func(t *step.T, n int) (func() error, int) {
		b := build.New()
		body(b.Func("main"), n)
		r := measure.Program(t, d, ane.Source{Program: step.Must(b.Program())}, func(x *ane.Tensor) error {
			list := make([]float32, x.Layout().Elements())
			for i := range list {
				list[i] = float32(i*7919%2001-1000) / 1000
			}
			_, err := x.WriteFloat32(list)
			return err
		})
		return func() error { _, err := r.Evaluate(t.Ctx); return err }, 1
	}
}

// chain is a program of n operators, two thirds of them add with a weight.
func chain(n int) (*build.Program, error) {
	b := build.New()
	f := b.Func("main")
	x, w := f.Input("x", build.FP16, 1, 64), make([]float32, 64)
	for i := range n {
		if i%3 == 2 {
			x = f.Softmax(x, -1)
		} else {
			x = f.Add(x, f.Weight(fmt.Sprintf("w%d", i), w, 1, 64))
		}
	}
	f.Output("y", x)
	return b.Program()
}

// shape is a small language model, whose steps are attention to a large part.
func shape() decoderbench.Shape {
	return decoderbench.Shape{Name: "growth", Spec: decodertest.Spec{Family: decodertest.TinyLlama, Hidden: 256,
		Intermediate: 512, Layers: 2, Heads: 8, KVHeads: 4, HeadDim: 64, Vocabulary: 256, Positions: 8192, Tied: true,
		Bits: 4, Group: 64, Config: map[string]any{"eos_token_id": nil}}}
}

// decode has a step after n tokens.
func decode(t *step.T, d *ane.Device, dir string, n int) (func() error, int) {
	const room = 4352 // for the longest conversation and its chunk
	dir = filepath.Join(dir, "decode")
	if _, err := os.Stat(dir); err != nil {
		step.NoError(os.Mkdir(dir, 0o700))
		step.NoError(decoderbench.Make(dir, shape()))
	}
	f := step.Must(decoder.Open(dir))
	t.Closing(f.Close)
	m := step.Must(decoder.Load(t.Ctx, d, f, decoder.WithForm(decoder.Compact), decoder.Context(room)))
	t.Later(m.Close)
	s := step.Must(m.NewSession())
	t.Closing(s.Close)
	tokens := make([]int, n)
	for i := range tokens {
		tokens[i] = i % 250
	}
	step.NoError(s.Prefill(t.Ctx, tokens))
	return func() error {
		if err := s.Step(t.Ctx, 7); err != nil {
			return err
		}
		return s.Truncate(n)
	}, 1
}

// open opens a file of n tensors.
func open(t *step.T, dir string, n int) (func() error, int) {
	path := filepath.Join(dir, "weights.safetensors")
	w := step.Must(safetensors.Create(path, nil, safetensors.NoSync()))
	defer w.Abort()
	t.Closing(func() error { return os.Remove(path) })
	data := make([]byte, 64)
	for i := range n {
		step.NoError(w.Add(fmt.Sprintf("model.layers.%d.weight", i), safetensors.F32, []int{4, 4}, data))
	}
	step.NoError(w.Close())
	return func() error {
		f, err := safetensors.Open(path)
		if err != nil {
			return err
		}
		return f.Close()
	}, 1
}
