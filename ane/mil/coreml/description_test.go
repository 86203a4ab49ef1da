package coreml_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/coreml"
)

// described is a description with features of every kind.
func described() []proto {
	size := func(n, lo, hi int) proto {
		return msg(31, msg(1, num(1, lo), num(2, hi)), msg(2, num(1, n), num(2, n)))
	}
	return []proto{
		msg(1, str(1, "x"), str(2, "what it is"), msg(3, array([]int{1, 4, 1, 32}), num(1000, 1))),
		feature(1, "picture", msg(4, num(1, 640), num(2, 480), num(3, 30))),
		feature(1, "grey", msg(4, num(3, 10), size(20, 8, open))),
		feature(1, "sizes", msg(4, num(3, 20), msg(21, msg(1, num(1, 4), num(2, 2)), msg(1, num(1, 8), num(2, 6))))),
		feature(1, "number", msg(2)),
		feature(1, "half", msg(5, msg(1, packed(2)), num(2, 65552), msg(31, msg(1, num(1, 1), num(2, open))))),
		feature(10, "y", array([]int{1, 4, 1, 32})), feature(10, "label", msg(3)), feature(10, "all", msg(6, msg(2))),
		feature(13, "memory", msg(8, msg(1, msg(1, packed(1, 8)), num(2, 65552)))),
		str(11, "label"), str(12, "all"),
		msg(100, str(1, "summary"), str(2, "v2"), str(3, "author"), str(4, "MIT"), msg(100, str(1, "k"), str(2,
			"v"))),
	}
}

func TestDescription(t *testing.T) {
	m, err := coreml.Read(relu(8, described()...))
	require.NoError(t, err)
	require.Empty(t, m.Remarks())
	picture := func(w, h int, colour string) *coreml.Image {
		return &coreml.Image{Width: w, Height: h,
			Colour: colour}
	}
	require.Equal(t, coreml.Description{
		Specification: 8, Default: "main", Summary: "summary", Version: "v2", Author: "author", License: "MIT",
		Metadata: map[string]string{"k": "v"},
		Functions: []coreml.Function{{
			Name: "main", Predicted: "label", Probabilities: "all",
			Inputs: []coreml.Feature{
				{Name: "x", Summary: "what it is", Kind: "multiArrayType", DType: mil.FP32, Optional: true,
					Shape: []int{1, 4, 1, 32}},
				{Name: "picture", Kind: "imageType", Shape: []int{1, 3, 480, 640}, Image: picture(640, 480,
					coreml.BGR)},
				{Name: "grey", Kind: "imageType", Shape: []int{1, 1, 20, 8}, Image: picture(8, 20, coreml.Gray),
					Ranges: [][2]int{{1, 1}, {1, 1}, {20, 20}, {8, -1}}},
				{Name: "sizes", Kind: "imageType", Shape: []int{1, 3, 2, 4}, Image: picture(4, 2, coreml.RGB),
					Shapes: [][]int{{1, 3, 2, 4}, {1, 3, 6, 8}}},
				{Name: "number", Kind: "doubleType"},
				{Name: "half", Kind: "multiArrayType", DType: mil.FP16, Shape: []int{2}, Ranges: [][2]int{{1, -1}}},
			},
			Outputs: []coreml.Feature{{Name: "y", Kind: "multiArrayType", DType: mil.FP32, Shape: []int{1, 4, 1, 32}},
				{Name: "label", Kind: "stringType"}, {Name: "all", Kind: "dictionaryType"}},
			States: []coreml.Feature{{Name: "memory", Kind: "stateType", DType: mil.FP16, Shape: []int{1, 8}}},
		}},
	}, m.Description)
	for name, flexible := range map[string]bool{"x": false, "picture": false, "grey": true, "sizes": true,
		"half": true} {
		require.Equal(t, flexible, m.Description.Function("").Input(name).Flexible(), name)
	}
	require.Nil(t, m.Description.Function("").Input("none"))
	require.Nil(t, m.Description.Function("none"))
}

// A model with several functions describes each, and says which one runs where none is named.
func TestFunctions(t *testing.T) {
	m, err := coreml.Read(pairs["ios18 has plain scalars, states and several functions"].model)
	require.NoError(t, err)
	require.Equal(t, "b", m.Description.Default)
	require.Equal(t, "b", m.Description.Function("").Name)
	require.Equal(t, "b", m.Tree().Select("").Name, "an engine takes it too")
	require.Empty(t, m.Shapes(), "the shapes of which function?")
}

// A program may have functions that its description lacks, and the other way round.
func TestFunctionsDescribedOtherwise(t *testing.T) {
	f := func(name string) proto {
		return function(name, "CoreML8", []proto{named(1, "x", tensor(pFP16))}, op("relu", "y", tensor(pFP16),
			arg("x", "x")),
			str(2, "y"))
	}
	m, err := coreml.Read(program(9, []proto{str(21, "gone"), msg(20, str(1, "gone"))}, f("a"), f("b")))
	require.NoError(t, err)
	require.Equal(t, "a", m.Description.Default)
	for _, name := range []string{"", "a", "b"} {
		require.Len(t, m.Description.Function(name).Inputs, 1, name)
	}
	m, err = coreml.Read(program(9, []proto{str(21, "gone")}, f("only")))
	require.NoError(t, err)
	require.Equal(t, "only", m.Description.Function("").Name)
	require.Len(t, m.Description.Functions, 1)
}

// The labels of a classifier are an argument of classify.
func TestLabels(t *testing.T) {
	classes := words(tensor(pString, 2), "cat", "dog")
	for name, block := range map[string]proto{
		"constant": append(constant("c", tensor(pString, 2), classes), op("classify", "y", tensor(pString),
			arg("classes", "c"),
			arg("probabilities", "x"))...),
		"inline": op("classify", "y", tensor(pString), inline("classes", classes), arg("probabilities", "x")),
	} {
		m, err := coreml.Read(program(6, nil, function("main", "CoreML5", []proto{named(1, "x", tensor(pFP32, 2))},
			block,
			str(2, "y"))))
		require.NoError(t, err, name)
		require.Equal(t, []string{"cat", "dog"}, m.Description.Function("").Labels, name)
	}
}

// detector is a pipeline of a program, whose input is a picture, and the suppression of boxes.
func detector() proto {
	boxes := []proto{named(1, "image", tensor(pFP32, 1, 3, 8, 8))}
	net := program(6, []proto{feature(1, "image", msg(4, num(1, 8), num(2, 8), num(3, 20))), feature(10, "scores",
		array([]int{4, 2})),
		feature(10, "boxes", array([]int{4, 4}))},
		function("main", "CoreML5", boxes, op("a", "scores", tensor(pFP32, 4, 2), arg("x", "image")),
			op("b", "boxes", tensor(pFP32, 4, 4), arg("x", "image")), str(2, "scores"), str(2, "boxes")))
	suppress := append(num(1, 6), append(msg(2, feature(1, "scores", array([]int{4, 2})), feature(1, "boxes",
		array([]int{4, 4})),
		feature(10, "confidence", array(nil)), feature(10, "coordinates", array(nil))),
		msg(610, msg(1, num(1, 1)), msg(100, str(1, "cat"), str(1, "dog")), real64(110, 0.7), real64(111, 0.25),
			str(200, "scores"),
			str(201, "boxes"), str(202, "iou"), str(203, "least"), str(210, "confidence"), str(211,
				"coordinates"))...)...)
	top := append(num(1, 6), msg(2, feature(1, "image", msg(4, num(1, 8), num(2, 8), num(3, 20))),
		feature(10, "confidence", array(nil)), feature(10, "coordinates", array(nil)))...)
	return append(top, msg(202, msg(1, net), msg(1, suppress), str(2, "net"))...)
}

func TestPipeline(t *testing.T) {
	m, err := coreml.Read(detector())
	require.NoError(t, err)
	require.Equal(t, "pipeline", m.Kind)
	parts := m.Parts()
	require.Len(t, parts, 2)
	require.NoError(t, m.Err())
	require.Same(t, parts[0].Tree(), m.Tree(), "of the first part with a program")

	net, err := m.Part("net")
	require.NoError(t, err)
	require.Equal(t, coreml.Program, net.Kind)
	require.Empty(t, net.Description.Function("").Input("image").From)

	boxes, err := m.Part("model1")
	require.NoError(t, err)
	require.Nil(t, boxes.Tree())
	require.ErrorIs(t, boxes.Err(), coreml.ErrKind)
	require.Equal(t, "net", boxes.Description.Function("").Input("scores").From)
	require.Equal(t, &coreml.Suppression{PerClass: true, Overlap: 0.7, Confidence: 0.25, Labels: []string{"cat",
		"dog"},
		ConfidenceIn: "scores", BoxesIn: "boxes", OverlapIn: "iou", LeastIn: "least", ConfidenceOut: "confidence",
		BoxesOut: "coordinates"}, boxes.Suppression)

	first, err := m.Part("model0")
	require.NoError(t, err)
	require.Same(t, net, first)
	_, err = m.Part("model2")
	require.ErrorIs(t, err, coreml.ErrPart)
	require.ErrorContains(t, err, "its parts are net, model1")
	_, err = net.Part("net")
	require.ErrorIs(t, err, coreml.ErrPart)
}

// Fields that are not known are named, and do not keep a model from being read.
func TestUnknownFields(t *testing.T) {
	m, err := coreml.Read(append(relu(7), msg(77)...))
	require.NoError(t, err)
	require.Equal(t, []string{"field 77 of Model is not known here and was not read"}, m.Remarks())
}

// A program takes the default shapes of its open inputs, or those of the option Shape: as a package, compiled, and
// compiled without FlexibleShapeInformation, where metadata.json alone has them.
func TestShapes(t *testing.T) {
	pair := pairs["a range of lengths"]
	start, rest, _ := strings.Cut(pair.text, "[FlexibleShapeInformation")
	_, rest, _ = strings.Cut(rest, ")))]")
	for name, files := range map[string]map[string][]byte{
		"a.mlpackage": {spec: pair.model},
		"b.mlmodelc":  {"model.mil": []byte(pair.text)},
		"c.mlmodelc": {"model.mil": []byte(start + rest),
			"metadata.json": []byte(`[{"inputSchema": [{"name": "x", "shape": "[1, 8]"}]}]`)},
	} {
		root := folder(t, name, files)
		for _, c := range []struct {
			opts []coreml.Option
			want int
		}{{nil, 8}, {[]coreml.Option{coreml.Shape("x", 1, 64)}, 64}} {
			m, err := coreml.Open(root, c.opts...)
			require.NoError(t, err)
			require.Equal(t, map[string][]int{"x": {1, c.want}}, m.Shapes())
			require.Equal(t, []int{1, c.want}, m.Description.Function("").Input("x").Shape)
			tree, err := ane.Source{Program: m}.Tree()
			require.NoError(t, err)
			require.Equal(t, mil.TensorOf(mil.FP32, 1, c.want), tree.Funcs[0].Body[0].Results[0].Type, name)
		}
		_, err := coreml.Open(root, coreml.Shape("n", 1))
		require.ErrorIs(t, err, coreml.ErrShape)
	}
	_, err := coreml.Open(folder(t, "d.mlpackage", map[string][]byte{spec: pair.model}), coreml.Shape("x", 1, 513))
	require.ErrorIs(t, err, coreml.ErrShape)
	require.ErrorContains(t, err,
		"no input x can take the shape [1 513]; each axis has a least and a greatest length: [[1 1] [1 512]]")
}

// The shapes of several inputs to choose from go together: the others take those of the choice.
func TestShapesGoTogether(t *testing.T) {
	root := folder(t, "a.mlpackage", map[string][]byte{spec: pairs["shapes to choose from, of ios18"].model})
	m, err := coreml.Open(root, coreml.Shape("x", 1, 16))
	require.NoError(t, err)
	require.Equal(t, map[string][]int{"x": {1, 16}, "z": {4}}, m.Shapes())
	require.Contains(t, string(mil.Print(m.Tree())), `("DefaultShapes", {{"x", [1, 16]}, {"z", [4]}})`)
	_, err = coreml.Open(root, coreml.Shape("x", 1, 17))
	require.ErrorContains(t, err, "no input x can take the shape [1 17]; it may be one of [[1 8] [1 16]]")
}

func TestCompiled(t *testing.T) {
	text := pairs["a range of lengths"].text
	m, err := coreml.Open(folder(t, "a.mlmodelc", map[string][]byte{"model.mil": []byte(text)}))
	require.NoError(t, err)
	require.Equal(t, map[string][]int{"x": {1, 8}}, m.Shapes())
	require.Equal(t, &coreml.Feature{Name: "x", Kind: "multiArrayType", DType: mil.FP32, Shape: []int{1, 8},
		Ranges: [][2]int{{1, 1}, {1, 512}}}, m.Description.Function("").Input("x"))

	m, err = coreml.Open(folder(t, "b.mlmodelc", map[string][]byte{"model.mil": []byte(text),
		"metadata.json": []byte(`[{
		"specificationVersion": 8, "author": "me", "license": "MIT", "version": "2", "shortDescription": "text",
		"userDefinedMetadata": {"k": "v"}, "modelType": {"name": "MLModelType_mlProgram"},
		"inputSchema": [{"name": "x", "type": "MultiArray", "dataType": "Float32", "shape": "[1, 8]",
			"isOptional": "1",
			"shapeRange": "[[1, 1], [1, 64]]", "shortDescription": "sound"}, {"name": "n", "type": "MultiArray",
				"shape": "[]"}],
		"outputSchema": [{"name": "y", "type": "MultiArray", "dataType": "Float16", "shape": "[]"}]}]`)}))
	require.NoError(t, err)
	require.Equal(t, coreml.Description{Specification: 8, Author: "me", License: "MIT", Version: "2", Summary: "text",
		Metadata: map[string]string{"k": "v"}, Default: "main", Functions: []coreml.Function{{Name: "main",
			Inputs: []coreml.Feature{{Name: "x", Kind: "multiArrayType", DType: mil.FP32, Shape: []int{1, 8},
				Optional: true,
				Ranges:   [][2]int{{1, 1}, {1, 64}}, Summary: "sound"},
				{Name: "n", Kind: "multiArrayType", DType: mil.Int32, Shape: []int{1}}},
			Outputs: []coreml.Feature{{Name: "y", Kind: "multiArrayType", DType: mil.FP16}}}}}, m.Description)

	m, err = coreml.Open(folder(t, "c.mlmodelc", map[string][]byte{"model.mil": []byte(text),
		"metadata.json": []byte(`{`)}))
	require.NoError(t, err)
	require.Equal(t, []string{"metadata.json is malformed and was not read"}, m.Remarks())
	require.Len(t, m.Description.Function("").Inputs, 2)
}

// long is a number of 8 bytes.
func long(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

// The default function of a compiled model comes first too, unless there is a main.
func TestCompiledFunctions(t *testing.T) {
	f := func(name string) string { return "func " + name + "<ios18>(fp16 x) { fp16 y = relu(x = x); } -> (y);" }
	info := []byte(`[{"defaultFunctionName": "b", "functions": [{"name": "a"}, {"name": "b",
		"inputSchema": [{"name": "x", "shortDescription": "of b"}]}]}]`)
	m, err := coreml.Open(folder(t, "a.mlmodelc", map[string][]byte{"metadata.json": info,
		"model.mil": []byte("program(1.3) {" + f("a") + f("b") + "}")}))
	require.NoError(t, err)
	require.Equal(t, "b", m.Tree().Select("").Name)
	require.Equal(t, "of b", m.Description.Function("").Input("x").Summary)
	require.Empty(t, m.Remarks())

	m, err = coreml.Open(folder(t, "b.mlmodelc", map[string][]byte{"metadata.json": info,
		"model.mil": []byte("program(1.3) {" + f("main") + f("b") + "}")}))
	require.NoError(t, err)
	require.Equal(t, "main", m.Tree().Select("").Name)
	require.Equal(t, []string{"the default function is b; main runs where none is named"}, m.Remarks())
}

func TestCompiledPipeline(t *testing.T) {
	picture := `[{"inputSchema": [{"name": "x", "type": "Image", "width": "32", "height": "1",
		"colorspace": "RGB"}]}]`
	root := folder(t, "p.mlmodelc", map[string][]byte{
		"coremldata.bin": {1}, "model0/model.mil": []byte(reluMIL), "model0/metadata.json": []byte(picture),
		"modelNames/coremldata.bin":   fmt.Appendf(nil, "%s%snet%s%slast", long(3), long(3), long(0), long(4)),
		"model0/weights/0-weight.bin": []byte("w"), "model1/coremldata.bin": {1}, "model2/model.mil": []byte(reluMIL),
		"metadata.json": []byte(`[{"modelType": {"name": "MLModelType_pipeline",
			"structure": [{"name": "MLModelType_mlProgram"},
			{"name": "MLModelType_nonMaximumSuppression"}, {"name": "MLModelType_mlProgram"}]}}]`)})
	m, err := coreml.Open(root)
	require.NoError(t, err)
	require.Equal(t, "pipeline", m.Kind)
	var kinds []string
	for _, p := range m.Parts() {
		kinds = append(kinds, p.Name+" "+p.Kind)
	}
	require.Equal(t, []string{"net mlProgram", "model1 nonMaximumSuppression", "last mlProgram"}, kinds)
	require.Equal(t, filepath.Join(root, "model0"), m.Dir())
	data, err := m.ReadFile("@model_path/weights/0-weight.bin")
	require.NoError(t, err)
	require.Equal(t, "w", string(data))
	require.Equal(t, &coreml.Image{Width: 32, Height: 1, Colour: coreml.RGB},
		m.Parts()[0].Description.Function("").Input("x").Image)

	_, err = coreml.Open(folder(t, "q.mlmodelc", map[string][]byte{"model0/coremldata.bin": {1}}))
	require.ErrorIs(t, err, coreml.ErrKind)
	_, err = coreml.Open(folder(t, "r.mlmodelc", map[string][]byte{"model0/model.mil": {0xff, 0}}))
	require.ErrorIs(t, err, coreml.ErrEncrypted)
}

// A program that is no valid MIL has the faults of mil.Validate.
func TestInvalidProgram(t *testing.T) {
	_, err := coreml.Read(program(7, nil, function("main", "CoreML6", nil, str(2, "x"))))
	require.ErrorIs(t, err, coreml.ErrFormat)
	require.EqualError(t, err,
		`model.mlmodel: its program is no valid MIL: function main: "x" is not defined; convert the model again`)
	list, ok := errors.AsType[mil.ErrorList](err)
	require.True(t, ok)
	require.Len(t, list, 1)
}

func TestErrorNamesThePlace(t *testing.T) {
	bad := function("main", "CoreML6", []proto{named(1, "x", tensor(pFP16, 1))},
		op("relu", "y", tensor(pFP16, 1), arg("x", "x"), inline("n", raw(tensor(pFP16, 2), 1, 2))), str(2, "y"))
	_, err := coreml.Read(program(7, nil, bad))
	e, ok := errors.AsType[*coreml.Error](err)
	require.True(t, ok)
	require.Contains(t, e.Error(), "operation y (relu): 1 elements in a value of type tensor<fp16, [2]>")
	require.Positive(t, e.Offset)
}
