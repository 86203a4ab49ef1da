package soft_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
)

// instancer is what this engine's executables implement besides ane.Executable.
type instancer interface {
	NewInstance(ctx context.Context, weights ane.Weights) (ane.Executable, error)
}

// weightPath is the file of weight i. Each weight has its own file.
func weightPath(i int) string { return "@model_path/w" + strconv.Itoa(i) + ".bin" }

// weightDecl returns the declaration of a constant that is read from a file.
func weightDecl(name, path string, offset uint64, d mil.DType, shape []int) string {
	kind := tensorType(d, shape)
	if len(shape) == 0 {
		kind = d.String()
	}
	return fmt.Sprintf("%s %s = const()[name = string(%q), val = %s(BLOBFILE(path = string(%q), offset = uint64(%d)))];",
		kind, name, name, kind, path, offset)
}

// weightFile returns a weight file with one entry.
func weightFile(t testing.TB, x nd) []byte {
	var w blob.Writer
	_, err := w.Add(x.d, encode(x), 0)
	require.NoError(t, err)
	return w.Bytes()
}

// weightedProgram is a program whose constants w0, w1, .. come from files.
type weightedProgram struct {
	text  string
	files files
}

// withWeights puts the declarations of weights in front of a body.
func withWeights(t testing.TB, params string, weights []nd, body, results string) weightedProgram {
	p := weightedProgram{files: files{}}
	var lines []string
	for i, w := range weights {
		lines = append(lines, weightDecl("w"+strconv.Itoa(i), weightPath(i), 64, w.d, w.shape))
		p.files[weightPath(i)] = weightFile(t, w)
	}
	p.text = program(params, strings.Join(append(lines, body), "\n"), results)
	return p
}

// refill returns files for some weights, with other numbers in the same entries.
func refill(t testing.TB, r *rand.Rand, weights []nd, which ...int) files {
	own := files{}
	for _, i := range which {
		own[weightPath(i)] = weightFile(t, weight(r, weights[i].d, weights[i].shape...))
	}
	return own
}

// over returns the files of base, replaced by those of an adapter.
func (f files) over(base files) files {
	all := maps.Clone(base)
	maps.Copy(all, f)
	return all
}

func compileOn(t testing.TB, e ane.Engine, text string, w files) ane.Executable {
	t.Helper()
	x, err := e.Compile(context.Background(), ane.Source{File: "test.mil", Text: []byte(text), Weights: w})
	require.NoError(t, err, clip(text))
	return x
}

func instanceOf(t testing.TB, x ane.Executable, w ane.Weights) ane.Executable {
	t.Helper()
	own, err := x.(instancer).NewInstance(context.Background(), w)
	require.NoError(t, err)
	return own
}

// runOn loads x, runs it once on inputs generated from seed, and unloads it. It
// returns the outputs by name; unwritten bytes are 0xA5.
func runOn(t testing.TB, x ane.Executable, seed uint64) map[string][]byte {
	t.Helper()
	ctx := context.Background()
	require.NoError(t, x.Load(ctx))
	mem := memory{t: t, kind: 1}
	defer mem.close()
	r := rand.New(rand.NewPCG(seed, 5))
	var in, out []*ane.Tensor
	for _, l := range x.Inputs() {
		in = append(in, mem.tensor(l))
		_, err := in[len(in)-1].Write(encode(fill(r, l.DType, l.Shape...)))
		require.NoError(t, err)
	}
	for _, l := range x.Outputs() {
		o := mem.tensor(l)
		for i, b := 0, o.Bytes(); i < len(b); i++ {
			b[i] = 0xA5
		}
		out = append(out, o)
	}
	v, err := x.Prepare(in, out)
	require.NoError(t, err)
	require.NoError(t, v.Evaluate(ctx))
	require.NoError(t, v.Close())
	require.NoError(t, x.Unload(ctx))
	got := map[string][]byte{}
	for _, o := range out {
		got[o.Layout().Name] = slices.Clone(o.Bytes()[:o.Layout().Bytes()])
	}
	return got
}

// requireSame compares everything observable of an instance and of a program
// compiled with the same weights.
func requireSame(t testing.TB, text string, fresh, own ane.Executable, seed uint64) {
	t.Helper()
	require.Equal(t, fresh.Inputs(), own.Inputs())
	require.Equal(t, fresh.Outputs(), own.Outputs())
	require.ElementsMatch(t, fresh.Notes(), own.Notes())
	want, got := runOn(t, fresh, seed), runOn(t, own, seed)
	for name := range want {
		if string(want[name]) != string(got[name]) {
			t.Fatalf("%s differs from the compiled program's\ngot  %x\nwant %x\n%s", name, clip(string(got[name])),
				clip(string(want[name])), clip(text))
		}
	}
}

// weight is fill without floats that make results NaN or infinite, which would
// hide a difference.
func weight(r *rand.Rand, d mil.DType, shape ...int) nd {
	if !d.Float() {
		return fill(r, d, shape...)
	}
	x := zeros(d, shape...)
	for i := range x.v {
		x.v[i] = load(mil.FP16, store(mil.FP16, 0.25+math.Abs(r.NormFloat64())/2))
	}
	return x
}
