package main

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/npy"
)

// The functions below write models of Core ML, in the numbers of its format.

func field(n protowire.Number, parts ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), slices.Concat(parts...))
}

func name(n protowire.Number, s string) []byte { return field(n, []byte(s)) }

func number(n protowire.Number, x int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), uint64(x))
}

func double(n protowire.Number, x float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, n, protowire.Fixed64Type), math.Float64bits(x))
}

// fp32 is a value called s, of a shape.
func fp32(n protowire.Number, s string, shape ...int) []byte {
	parts := [][]byte{number(1, 11), number(2, len(shape))}
	for _, d := range shape {
		parts = append(parts, field(3, field(1, number(1, d))))
	}
	return field(n, name(1, s), field(2, field(1, parts...)))
}

// relu is the operation out = relu(in).
func relu(in, out string, shape ...int) []byte {
	return field(3, name(1, "relu"), field(2, name(1, "x"), field(2, field(1, name(1, in)))), fp32(3, out, shape...))
}

// function is main, with inputs and the rest of its block.
func function(inputs []byte, block ...[]byte) []byte {
	return field(502, number(1, 1), field(2, name(1, "main"), field(2, inputs, name(2, "CoreML5"),
		field(3, name(1, "CoreML5"), field(2, block...)))))
}

// feature is an input (1) or output (10) of a description, of a type.
func feature(n protowire.Number, s string, typ []byte) []byte {
	return field(n, name(1, s), field(3, typ))
}

// write writes a model in three forms and returns their paths.
func write(t *testing.T, model []byte) []string {
	t.Helper()
	dir := t.TempDir()
	inside := filepath.Join(dir, "m.mlpackage", "Data", "com.apple.CoreML")
	require.NoError(t, os.MkdirAll(inside, 0o700))
	spec, single := filepath.Join(inside, "model.mlmodel"), filepath.Join(dir, "m.mlmodel")
	require.NoError(t, os.WriteFile(spec, model, 0o600))
	require.NoError(t, os.WriteFile(single, model, 0o600))
	return []string{filepath.Join(dir, "m.mlpackage"), spec, single}
}

// typed runs the command line, and returns what it printed to both streams.
func typed(t *testing.T, status int, args ...string) (out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	require.Equal(t, status, execute(t.Context(), args, &stdout, &stderr), "%v\n%s%s", args, &stdout, &stderr)
	return stdout.String(), stderr.String()
}

// floats reads a .npy file.
func floats(t *testing.T, path string) (all []float32) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	a, err := npy.ReadOpen(f, path, func(mil.DType, []int) *npy.Error { return nil })
	require.NoError(t, err)
	for i := 0; i < len(a.Data); i += 4 {
		all = append(all, math.Float32frombits(binary.LittleEndian.Uint32(a.Data[i:])))
	}
	return all
}

// array writes a .npy file and returns its path.
func array(t *testing.T, shape []int, values ...float32) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.npy")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	data, err := binary.Append(nil, binary.LittleEndian, values)
	require.NoError(t, err)
	require.NoError(t, npy.Write(f, &npy.Array{Type: mil.FP32, Shape: shape, Data: data}))
	return path
}

// pictures is a pipeline of two programs: image, a picture of 2 x 1 pixels in a color order, then middle, then last.
func pictures(order int) []byte {
	shape := []int{1, 3, 1, 2}
	typ := field(4, number(1, 2), number(2, 1), number(3, order))
	multi := field(5, number(2, 65568))
	first := slices.Concat(number(1, 6), field(2, feature(1, "image", typ), feature(10, "middle", multi)),
		function(fp32(1, "image", shape...), name(2, "middle"), relu("image", "middle", shape...)))
	second := slices.Concat(number(1, 6), field(2, feature(1, "middle", multi), feature(10, "last", multi)),
		function(fp32(1, "middle", shape...), name(2, "last"), relu("middle", "last", shape...)))
	return slices.Concat(number(1, 6), field(2, feature(1, "image", typ), feature(10, "last", multi)),
		field(202, field(1, first), field(1, second), name(2, "front"), name(2, "back")))
}

func TestEveryCommandTakesEveryFormOfAModel(t *testing.T) {
	for _, path := range write(t, pictures(20)) {
		for _, args := range [][]string{{"inspect"}, {"lint", "--chip", "m4"}, {"cost"}, {"fmt"}} {
			_, notes := typed(t, 0, append(args, path)...)
			require.Contains(t, notes, "is a pipeline of front (mlProgram), back")
			out, notes := typed(t, 0, append(args, path, "--part", "back")...)
			require.Empty(t, notes)
			if args[0] == "fmt" {
				require.Contains(t, out, "last = relu(x = middle)")
			}
		}
		out, notes := typed(t, 0, "run", "--engine", "soft", "--fill", "ones", path)
		require.Contains(t, notes, "run evaluates front (mlProgram), then back (mlProgram)")
		require.Regexp(t, `middle +output[^\n]*\n`+`last +output`, out)
		_, errs := typed(t, 2, "run", "--engine", "soft", "--fill", "ones", "--out", "last="+path, path)
		require.NotEmpty(t, errs)
		_, errs = typed(t, 2, "inspect", "--part", "side", path)
		require.Contains(t, errs, "its parts are front, back")
	}
}

func TestPicturesAreInputs(t *testing.T) {
	dir := t.TempDir()
	save := func(file string, img image.Image) string {
		path := filepath.Join(dir, file)
		f, err := os.Create(path)
		require.NoError(t, err)
		defer f.Close()
		require.NoError(t, png.Encode(f, img))
		return path
	}
	two := image.NewRGBA(image.Rect(0, 0, 2, 1))
	two.Set(0, 0, color.RGBA{10, 20, 30, 255})
	two.Set(1, 0, color.RGBA{255, 0, 1, 255})
	gray := image.NewGray(image.Rect(0, 0, 2, 1))
	gray.Set(0, 0, color.Gray{7})
	out := filepath.Join(dir, "y.npy")
	for order, want := range map[int][]float32{20: {10, 255, 20, 0, 30, 1}, 30: {30, 1, 20, 0, 10, 255}} {
		model := write(t, pictures(order))[0]
		typed(t, 0, "run", "--engine", "soft", model, "--in", "image="+save("two.png", two), "--out", "last="+out)
		require.Equal(t, want, floats(t, out))
		typed(t, 0, "run", "--engine", "soft", model, "--in", "image="+save("gray.png", gray), "--out", "last="+out)
		require.Equal(t, []float32{7, 0, 7, 0, 7, 0}, floats(t, out), "gray gives each color")
		_, errs := typed(t, 2, "run", "--engine", "soft", model, "--in", "image="+save("big.png",
			image.NewRGBA(image.Rect(0, 0, 3, 2))))
		require.Contains(t, errs, "has 3 x 2 pixels, input image takes 2 x 1; scale it first, as with: magick")
	}
	_, errs := typed(t, 2, "run", "--engine", "soft", write(t, pictures(20))[0], "--part", "back", "--in", "middle="+
		save("two.png", two))
	require.Contains(t, errs, "the model does not say that middle takes pictures; save it as an array of shape [1 3 1 2]")
}

func TestImageTakesAModelOfPictures(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.png"), filepath.Join(dir, "out.png")
	img := image.NewRGBA(image.Rect(0, 0, 2, 1))
	img.Set(0, 0, color.RGBA{10, 20, 30, 255})
	img.Set(1, 0, color.RGBA{255, 0, 1, 255})
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	require.NoError(t, os.WriteFile(in, b.Bytes(), 0o600))
	picture := func(order int) []byte { return field(4, number(1, 2), number(2, 1), number(3, order)) }
	model := func(to []byte) []byte {
		shape := []int{1, 3, 1, 2}
		return slices.Concat(number(1, 6), field(2, feature(1, "x", picture(20)), feature(10, "y", to)),
			function(fp32(1, "x", shape...), name(2, "y"), relu("x", "y", shape...)))
	}
	for order, want := range map[int]color.Color{20: color.RGBA{10, 20, 30, 255}, 30: color.RGBA{30, 20, 10, 255}} {
		for _, path := range write(t, model(picture(order))) {
			typed(t, 0, "image", "--engine", "soft", path, in, out)
			data, err := os.ReadFile(out)
			require.NoError(t, err)
			got, err := png.Decode(bytes.NewReader(data))
			require.NoError(t, err)
			require.Equal(t, want, color.RGBAModel.Convert(got.At(0, 0)))
		}
	}
	_, errs := typed(t, 2, "image", "--engine", "soft", write(t, model(field(5, number(2, 65568))))[0], in, out)
	require.Contains(t, errs, "is no picture (multiArrayType): give it to run, with --in and --out")
}

func TestASuppressionOfBoxesEndsAPipeline(t *testing.T) {
	multi := field(5, number(2, 65568))
	net := slices.Concat(number(1, 6), field(2, feature(1, "s", multi), feature(1, "b", multi), feature(10, "scores", multi),
		feature(10, "boxes", multi)), function(slices.Concat(fp32(1, "s", 3, 2), fp32(1, "b", 3, 4)), name(2, "scores"),
		name(2, "boxes"), relu("s", "scores", 3, 2), relu("b", "boxes", 3, 4)))
	suppression := field(610, field(1, number(1, 1)), double(110, 0.5), double(111, 0.25), name(200, "scores"),
		name(201, "boxes"), name(210, "confidence"), name(211, "coordinates"))
	last := slices.Concat(number(1, 6), field(2, feature(1, "scores", multi), feature(1, "boxes", multi),
		feature(10, "confidence", multi), feature(10, "coordinates", multi)), suppression)
	model := slices.Concat(number(1, 6), field(2, feature(1, "s", multi), feature(1, "b", multi),
		feature(10, "confidence", multi)), field(202, field(1, net), field(1, last)))
	path, dir := write(t, model)[0], t.TempDir()
	confidence, coordinates := filepath.Join(dir, "c.npy"), filepath.Join(dir, "b.npy")
	// The second box is the first one moved by a tenth of its width, the third one stands apart with a low score.
	_, notes := typed(t, 0, "run", "--engine", "soft", path,
		"--in", "s="+array(t, []int{3, 2}, 0.5, 0.1, 0.9, 0, 0.2, 0.1),
		"--in", "b="+array(t, []int{3, 4}, 5, 5, 10, 10, 6, 5, 10, 10, 50, 50, 4, 4),
		"--out", "confidence="+confidence, "--out", "coordinates="+coordinates)
	require.Contains(t, notes, "model1 (nonMaximumSuppression), by the software engine")
	require.Equal(t, []float32{0.9, 0}, floats(t, confidence)[:2])
	require.Equal(t, []float32{6, 5, 10, 10}, floats(t, coordinates)[:4])
}

// A program that is no valid MIL is refused in the words of Open, which name the file, the function and the cause.
func TestAModelWithAFaultyProgramIsRefused(t *testing.T) {
	model := slices.Concat(number(1, 6),
		function(fp32(1, "x", 1, 4), name(2, "y"), relu("y", "y", 1, 4)))
	for _, path := range write(t, model) {
		for _, command := range []string{"inspect", "lint", "cost", "fmt"} {
			_, errs := typed(t, 2, command, path)
			require.Contains(t, errs, "no valid MIL: function main: \"y\" is used before its definition")
			require.Contains(t, errs, ".mlmodel: ")
		}
	}
	dir := filepath.Join(t.TempDir(), "m.mlmodelc")
	for _, part := range []string{"model0", "model1"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, part), 0o700))
		text := "program(1.0) {}"
		if part == "model1" {
			text = "program(1.0)\n{\nfunc main<ios15>(tensor<fp32, [1, 4]> x) { } -> (z);\n}\n"
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, part, "model.mil"), []byte(text), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "coremldata.bin"), []byte("\x00"), 0o600))
	_, errs := typed(t, 2, "inspect", dir)
	require.Contains(t, errs, filepath.Join("model1", "model.mil")+":3:")
	require.Contains(t, errs, `"z" is`)
}

func TestInspectRefusesAShapeThatNoInputTakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.mil")
	require.NoError(t, os.WriteFile(path, []byte(`program(1.3)
{
    func main<ios18>(tensor<fp16, [1, ?]> x) {
            tensor<fp16, [1, ?]> y = relu(x = x)[name = string("y")];
        } -> (y);
}
`), 0o600))
	_, notes := typed(t, 0, "inspect", path)
	require.Contains(t, notes, "no default length")
	typed(t, 0, "inspect", path, "--shape", "x=1,4")
	for shape, want := range map[string]string{"x=1,4,4": "input x cannot take the shape [1, 4, 4]",
		"x=2,4": "input x cannot take the shape [2, 4]", "q=1,4": "function main has no input q"} {
		_, errs := typed(t, 2, "inspect", path, "--shape", shape)
		require.Contains(t, errs, want)
	}
}
