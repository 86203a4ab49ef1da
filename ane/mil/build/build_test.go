package build_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/build"
)

// Generated names start with the operator or the argument, differ from those of the
// caller, and depend only on the calls.
func TestNames(t *testing.T) {
	text := func() string {
		b := build.New()
		f := b.Func("main")
		x := f.Input("relu_0", build.FP16, 1, 8, 1, 32)
		first := f.Relu(x)
		second := f.Relu(f.Softmax(first, 1))
		third := f.Relu(f.Softmax(second, -1))
		axes := f.Relu(f.Softmax(third, 1))
		f.Output("axis_1", axes)
		f.Output("second", f.Add(second, f.Mul(f.Scalar(2), f.Add(f.Scalar(2), f.Scalar(3)))))
		p, err := b.Program()
		require.NoError(t, err)
		requireSound(t, p)
		return string(p.Text())
	}
	_, body, _ := strings.Cut(text(), "{\n")
	require.Equal(t, `    func main<ios18>(tensor<fp16, [1, 8, 1, 32]> relu_0) {
        tensor<fp16, [1, 8, 1, 32]> relu_1 = relu(x = relu_0)[name = string("relu_1")];
        int32 axis = const()[name = string("axis"), val = int32(1)];
        tensor<fp16, [1, 8, 1, 32]> softmax_0 = softmax(axis = axis, x = relu_1)[name = string("softmax_0")];
        tensor<fp16, [1, 8, 1, 32]> relu_2 = relu(x = softmax_0)[name = string("relu_2")];
        int32 axis_2 = const()[name = string("axis_2"), val = int32(-1)];
        tensor<fp16, [1, 8, 1, 32]> softmax_1 = softmax(axis = axis_2, x = relu_2)[name = string("softmax_1")];
        tensor<fp16, [1, 8, 1, 32]> relu_3 = relu(x = softmax_1)[name = string("relu_3")];
        tensor<fp16, [1, 8, 1, 32]> softmax_2 = softmax(axis = axis, x = relu_3)[name = string("softmax_2")];
        tensor<fp16, [1, 8, 1, 32]> axis_1 = relu(x = softmax_2)[name = string("axis_1")];
        fp16 const_0 = const()[name = string("const_0"), val = fp16(0x1p+1)];
        fp16 const_1 = const()[name = string("const_1"), val = fp16(0x1.8p+1)];
        fp16 add_0 = add(x = const_0, y = const_1)[name = string("add_0")];
        fp16 mul_0 = mul(x = const_0, y = add_0)[name = string("mul_0")];
        tensor<fp16, [1, 8, 1, 32]> second = add(x = relu_2, y = mul_0)[name = string("second")];
    } -> (axis_1, second);
}
`, body[strings.Index(body, "    func"):])
	require.Equal(t, text(), text())
}

func TestLaterCallsDoNotChangeAProgram(t *testing.T) {
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 2, 1, 32)
	f.Output("y", f.Mul(x, f.Weight("w", []float32{1, 2}, 1, 2, 1, 1)))
	p, err := b.Program()
	require.NoError(t, err)
	text, weights := p.Text(), p.Weights[blob.WeightFile].Bytes()
	f.Output("z", f.Add(x, f.Weight("v", []float32{3, 4}, 1, 2, 1, 1)))
	require.Equal(t, text, p.Text())
	require.Equal(t, weights, p.Weights[blob.WeightFile].Bytes())
	q, err := b.Program()
	require.NoError(t, err)
	requireSound(t, q)
	require.Greater(t, q.Weights[blob.WeightFile].Size(), p.Weights[blob.WeightFile].Size())
}

func TestFunctions(t *testing.T) {
	for name, c := range map[string]struct {
		options []build.Option
		files   []string
	}{
		"one file":        {nil, []string{"weights/weight.bin"}},
		"a file for each": {[]build.Option{build.FilePerWeight(), nil}, []string{"weights/W_0.bin", "weights/w.bin"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := build.New(c.options...)
			f, g := b.Func("prefill"), b.Func("decode")
			x, z := f.Input("x", build.FP16, 1, 4, 1, 64), g.Input("z", build.FP16, 1, 4, 1, 32)
			w := f.Weight("w", []float32{1, 2, 3, 4}, 1, 4, 1, 1)
			f.Output("y", f.Mul(x, w))
			v := g.Share(w)
			require.Equal(t, v, g.Share(v), "it belongs to g already")
			g.Output("u", g.Add(g.Mul(z, v), g.Weight("W", []float32{5, 6, 7, 8}, 1, 4, 1, 1)))
			p, err := b.Program()
			require.NoError(t, err)
			requireSound(t, p)
			require.Len(t, p.Blobs(), 3)
			dir := t.TempDir()
			require.NoError(t, p.WriteDir(dir))
			text, err := os.ReadFile(filepath.Join(dir, "model.mil"))
			require.NoError(t, err)
			require.Equal(t, p.Text(), text)
			for _, file := range c.files {
				want, err := p.Weights.ReadFile(blob.ModelPath + file)
				require.NoError(t, err)
				got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
				require.NoError(t, err)
				require.Equal(t, want, got)
			}
			require.Len(t, p.Weights, len(c.files))
			require.Error(t, p.WriteDir(filepath.Join(dir, "model.mil")), "a file is in the way")
		})
	}
}

func TestValuesOfOthers(t *testing.T) {
	b, other := build.New(), build.New()
	f, g, h := b.Func("f"), b.Func("g"), other.Func("h")
	x := f.Input("x", build.FP16, 1, 2, 1, 32)
	f.Output("y", f.Relu(x))
	g.Output("z", g.Relu(x))
	h.Output("z", h.Relu(x))
	h.Share(x)
	_, err := b.Program()
	require.ErrorContains(t, err, `relu: x: the value belongs to function "f"`)
	_, err = other.Program()
	require.ErrorContains(t, err, `relu: x: the value belongs to another program`)
	require.ErrorContains(t, err, `share: the value belongs to another program`)
}

func TestInvalidPrograms(t *testing.T) {
	var empty build.Builder
	_, err := empty.Program()
	require.ErrorContains(t, err, "the program has no function")
	b := build.New(build.Opset("ios 18"))
	b.Func("main")
	b.Func("main")
	b.Func("a-b")
	_, err = b.Program()
	for _, want := range []string{`opset "ios 18" is not a name`, `function "main" is defined twice; the first is at `,
		`function "a-b" is not a name`, `function "main" has no output`} {
		require.ErrorContains(t, err, want)
	}
	_, again := b.Program()
	require.EqualError(t, again, err.Error(), "faults are not collected twice")
}

// A fault does not cause others, and the number of faults is limited.
func TestFaultsAreReportedOnce(t *testing.T) {
	b := build.New()
	f := b.Func("main")
	bad := f.Input("1", build.FP16, 1)
	parts := f.Split(bad, 0, 3)
	require.Len(t, parts, 3)
	y := f.Conv(parts[2], f.Scalar(1), build.Strides{1})
	require.Zero(t, y.Type())
	require.Empty(t, y.Shape())
	require.Zero(t, y.Dim(-1))
	require.Zero(t, build.Value{}.Dim(0))
	f.Output("y", f.SliceByIndex(f.Reshape(f.Squeeze(f.ReduceMax(y, nil)), 1, y.Dim(0)), nil, nil))
	f.Share(y)
	_, err := b.Program()
	var list mil.ErrorList
	require.ErrorAs(t, err, &list)
	require.Len(t, list, 1)

	for range 3 * mil.MaxFaults {
		f.Relu(build.Value{})
	}
	_, err = b.Program()
	require.ErrorAs(t, err, &list)
	require.Len(t, list, mil.MaxFaults+1)
	require.ErrorContains(t, err, "too many faults")
}

func TestNotes(t *testing.T) {
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 2, 1, 32)
	w := f.Weight("w", []float32{7e4, float32(math.Inf(-1)), 65519, -65520, float32(math.NaN()), 1e-9}, 1, 2, 1, 3)
	_ = w
	f.Output("y", f.Mul(f.Rsqrt(x, 1e-12), f.Scalar(1e6)))
	p, err := b.Program()
	require.NoError(t, err)
	require.Len(t, p.Notes, 5)
	for i, want := range []string{`weight "w": 1 of 6 values are too small for fp16 and become zero`,
		`weight "w": 2 of 6 values are beyond the range of fp16 and become infinite`, `weight "w": 1 of 6 values are NaN`,
		"rsqrt: epsilon: fp16(1e-12) is too small", "scalar: fp16(1e+06) is beyond the range"} {
		require.Contains(t, p.Notes[i], "build_test.go:")
		require.Contains(t, p.Notes[i], want)
	}
}

// One program has weights from memory, from streams and from existing files.
func TestWeightsOfAllKinds(t *testing.T) {
	var w blob.Writer
	offset, err := w.AddFloat32As16([]float32{1, 2})
	require.NoError(t, err)
	tree := fstest.MapFS{"old/w.bin": {Data: w.Bytes()}}
	t4 := mil.TensorOf(mil.FP16, 1, 2, 1, 1)
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 2, 1, 32)
	x = f.Mul(x, f.Weight("memory", []float32{1, 2}, 1, 2, 1, 1))
	x = f.Mul(x, f.Blob("file", t4, blob.ModelPath+"old/w.bin", offset))
	x = f.Mul(x, f.WeightFrom("stream", t4, func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader([]byte{0, 0x3c, 0, 0x40})), nil
	}))
	x = f.Mul(x, f.Const("text", mil.Floats(t4, []float64{1, 2})))
	f.Output("y", x)
	p, err := b.Program()
	require.NoError(t, err)
	require.Len(t, p.Program.Weights(), 3)
	for i, v := range p.Program.Weights() {
		path, offset, err := v.Blob().Entry()
		require.NoError(t, err)
		data, err := blob.Sources{p.Weights, blob.FS(tree)}.ReadFile(path)
		require.NoError(t, err)
		file, err := blob.NewReader(bytes.NewReader(data), int64(len(data)), path)
		require.NoError(t, err)
		got, err := file.Tensor(offset, v.Type)
		require.NoError(t, err)
		require.Equal(t, []byte{0, 0x3c, 0, 0x40}, got, "%d", i)
	}

	broken := errors.New("the disk is gone")
	f.Output("z", f.Mul(x, f.WeightFrom("bad", t4, func() (io.ReadCloser, error) { return nil, broken })))
	p, err = b.Program()
	require.NoError(t, err)
	_, err = p.Weights.ReadFile(blob.WeightFile)
	require.ErrorIs(t, err, broken)
	require.ErrorIs(t, p.WriteDir(t.TempDir()), broken)
}

// Op writes an operator without a method as given.
func TestOperatorsWithoutMethod(t *testing.T) {
	b := build.New(build.OldDialect(), build.Opset("ios17"))
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 2, 1, 32)
	f.Output("y", f.Op("crimp", x.Type(), build.A("x", f.Op("swirl", x.Type(), build.A("x", x))),
		build.A("alpha", mil.FP16Scalar(0)), build.A("beta", mil.FP16Scalar(1))))
	p, err := b.Program()
	require.NoError(t, err)
	require.Len(t, p.Notes, 2)
	require.Contains(t, p.Notes[0], "swirl: the software engine does not have this operator")
	require.Contains(t, p.Notes[1], "build_test.go:")
	q, err := mil.Parse("p", p.Text())
	require.NoError(t, err)
	require.True(t, mil.Equal(p.Program, q))
	require.Contains(t, string(p.Text()), `func main<ios17>`)
	require.Contains(t, string(p.Text()),
		`tensor<fp16, []> alpha = const()[name = tensor<string, []>("alpha"), val = tensor<fp16, []>(0x0p+0)];`)
	require.Contains(t, string(p.Text()), `y = crimp(alpha = alpha, beta = beta, x = swirl_0)`)
}
