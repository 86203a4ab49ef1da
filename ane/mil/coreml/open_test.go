package coreml_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/coreml"
)

func replaceOnce(t *testing.T, s, from, to string) string {
	t.Helper()
	require.Equal(t, 1, strings.Count(s, from), "%s", from)
	return strings.Replace(s, from, to, 1)
}

// folder writes files below a new folder, and returns its path.
func folder(t *testing.T, name string, files map[string][]byte) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), name)
	for file, content := range files {
		path := filepath.Join(root, filepath.FromSlash(file))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, content, 0o666))
	}
	return root
}

// relu is a model whose program computes y = relu(x).
func relu(version int, description ...proto) proto {
	return program(version, description, function("main", "CoreML6", []proto{named(1, "x", tensor(pFP16, 1, 4, 1,
		32))},
		op("relu", "y", tensor(pFP16, 1, 4, 1, 32), arg("x", "x")), str(2, "y")))
}

const (
	spec    = "Data/com.apple.CoreML/model.mlmodel"
	reluMIL = `program(1.0) { func main<ios16>(tensor<fp16, [1, 4, 1, 32]> x) {
		tensor<fp16, [1, 4, 1, 32]> y = relu(x = x); } -> (y); }`
)

// manifest is a Manifest.json whose model lies at path in Data.
func manifest(path string) []byte {
	return []byte(`{"fileFormatVersion": "1.0.0", "itemInfoEntries": {"A": {"author": "com.apple.CoreML",
		"path": "` + path +
		`"}, "B": {"path": "com.apple.CoreML/weights"}}, "rootModelIdentifier": "A"}`)
}

func TestOpenEveryForm(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string][]byte
		open  string // below the folder
		dir   string // that @model_path means
	}{
		"a.mlpackage": {map[string][]byte{"Manifest.json": manifest("com.apple.CoreML/net.mlmodel"),
			"Data/com.apple.CoreML/net.mlmodel": relu(7)}, "", "Data/com.apple.CoreML"},
		"bare.mlpackage":  {map[string][]byte{spec: relu(7)}, "", "Data/com.apple.CoreML"},
		"inner.mlpackage": {map[string][]byte{spec: relu(7)}, "Data/com.apple.CoreML", "Data/com.apple.CoreML"},
		"data.mlpackage":  {map[string][]byte{spec: relu(7)}, "Data", "Data/com.apple.CoreML"},
		"file.mlpackage":  {map[string][]byte{spec: relu(7)}, spec, "Data/com.apple.CoreML"},
		"unnamed":         {map[string][]byte{spec: relu(7)}, "", "Data/com.apple.CoreML"},
		"a.mlmodelc":      {map[string][]byte{"model.mil": []byte(reluMIL)}, "", "."},
		"text.mlmodelc":   {map[string][]byte{"model.mil": []byte(reluMIL)}, "model.mil", "."},
		"folder":          {map[string][]byte{"x.mlmodel": relu(7)}, "x.mlmodel", "."},
		"other extension": {map[string][]byte{"x.pb": relu(7)}, "x.pb", "."},
	} {
		t.Run(name, func(t *testing.T) {
			root := folder(t, name, c.files)
			m, err := coreml.Open(filepath.Join(root, filepath.FromSlash(c.open)))
			require.NoError(t, err)
			want, err := mil.Parse("want.mil", []byte(reluMIL))
			require.NoError(t, err)
			want.Attrs = m.Tree().Attrs
			require.NoError(t, same(m.Tree(), want))
			require.Equal(t, filepath.Join(root, filepath.FromSlash(c.dir)), m.Dir())
			require.Equal(t, coreml.Program, m.Kind)
			require.NoError(t, m.Err())
			require.Empty(t, m.Parts())

			weights := filepath.Join(m.Dir(), "weights", "weight.bin")
			require.NoError(t, os.MkdirAll(filepath.Dir(weights), 0o777))
			require.NoError(t, os.WriteFile(weights, []byte("weights"), 0o666))
			data, err := m.ReadFile(blob.WeightFile)
			require.NoError(t, err)
			require.Equal(t, "weights", string(data))

			f := m.Description.Function("")
			require.NotNil(t, f)
			require.Equal(t, "main", f.Name)
			require.Equal(t, []coreml.Feature{{Name: "x", Kind: "multiArrayType", DType: mil.FP16, Shape: []int{1,
				4, 1, 32}}},
				f.Inputs)
			require.Equal(t, "y", f.Outputs[0].Name)
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"
	text := []byte("program(1.0)")
	for name, c := range map[string]struct {
		files map[string][]byte
		open  string
		is    error
		want  string
	}{
		"no model": {map[string][]byte{"a.txt": text}, "nothing.mlmodel", fs.ErrNotExist, "no such model"},
		"a.mlpackage": {map[string][]byte{"Manifest.json": manifest("com.apple.CoreML/model.mlmodel")}, "",
			fs.ErrNotExist, "a file of the model is missing; copy the model with all its files"},
		"b.mlpackage": {map[string][]byte{"Manifest.json": manifest("../../out")}, "", coreml.ErrFormat,
			"its model lies outside"},
		"c.mlpackage": {map[string][]byte{"Manifest.json": []byte("{")}, "", coreml.ErrFormat, "malformed"},
		"d.mlpackage": {map[string][]byte{"Data/x": nil}, "", coreml.ErrFormat,
			"no Manifest.json and 0 models"},
		"e.mlpackage": {map[string][]byte{spec: []byte(pointer)}, "", coreml.ErrFormat, "git lfs pull"},
		"g.mlpackage": {map[string][]byte{"Manifest.json": []byte(pointer), spec: relu(7)}, "", coreml.ErrFormat,
			"git lfs pull"},
		"onnx.mlmodel": {map[string][]byte{spec: append([]byte("\x08\x07\x12\x07pytorch"), 0x3a, 0x00)}, spec,
			coreml.ErrFormat, ""},
		"lfs.mlmodelc": {map[string][]byte{"model.mil": []byte(pointer)}, "", coreml.ErrFormat, "git lfs pull"},
		"f.mlpackage":  {map[string][]byte{spec: relu(7)[:100]}, "", coreml.ErrFormat, "byte "},
		"a picture": {map[string][]byte{"a.png": []byte("\x89PNG\r\n\x1a\n0000000000")}, "a.png",
			coreml.ErrFormat, "a picture"},
		"a.mlmodelc": {map[string][]byte{"metadata.json": []byte("[{}]")}, "", coreml.ErrFormat,
			"no model.mil"},
		"net.mlmodelc": {map[string][]byte{"model.espresso.net": []byte(`{"storage": "x"}`),
			"coremldata.bin": {1}}, "", coreml.ErrKind, "neural network"},
		"hidden.mlmodelc": {map[string][]byte{"model.espresso.net": {0xff, 0x80, 0}, "coremldata.bin": {1}}, "",
			coreml.ErrEncrypted, "--encrypt"},
		"secret.mlmodelc": {map[string][]byte{"model.mil": {0xff, 0x80, 0}, "coremldata.bin": {1}}, "",
			coreml.ErrEncrypted, "--encrypt"},
		"locked.mlmodelc": {map[string][]byte{"model.mil": []byte(reluMIL), "encryptionInfo/coremldata.bin": {1}},
			"", coreml.ErrEncrypted, "--encrypt"},
		"trees.mlmodelc": {map[string][]byte{"coremldata.bin": {1},
			"metadata.json": []byte(`[{"modelType": {"name": "MLModelType_treeEnsembleClassifier"}}]`)}, "",
			coreml.ErrKind, "a tree ensemble classifier (treeEnsembleClassifier)"},
		"untold.mlmodelc": {map[string][]byte{"coremldata.bin": {1}}, "", coreml.ErrKind, "without model.mil"},
		"glm.mlmodel": {map[string][]byte{"a.mlmodel": slices.Concat(num(1, 1), msg(2), msg(300))},
			"a.mlmodel", coreml.ErrKind, "a linear regressor (glmRegressor), not an ML program"},
		"nn.mlmodel": {map[string][]byte{"a.mlmodel": slices.Concat(num(1, 4), msg(2), msg(403, num(1, 2)))},
			"a.mlmodel", coreml.ErrKind, `coremltools.convert(.., convert_to="mlprogram")`},
		"pipeline of trees": {map[string][]byte{"a.mlmodel": slices.Concat(num(1, 4), msg(2), msg(200, msg(1, msg(1,
			num(1, 1), msg(402)))))}, "a.mlmodel", coreml.ErrKind, "no part of the pipeline has a program"},
		"no content": {map[string][]byte{"a.mlmodel": slices.Concat(num(1, 4), msg(2))}, "a.mlmodel",
			coreml.ErrFormat, "the model has no content"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := coreml.Open(filepath.Join(folder(t, name, c.files), filepath.FromSlash(c.open)))
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, c.want)
			fault, ok := errors.AsType[*coreml.Error](err)
			require.True(t, ok)
			require.NotEmpty(t, fault.Hint)
			require.NotEmpty(t, fault.File)
		})
	}
}

// A text with faults has the error of mil.Parse.
func TestOpenMalformedText(t *testing.T) {
	_, err := coreml.Open(folder(t, "a.mlmodelc", map[string][]byte{"model.mil": []byte("program(1.0)\n{ func }")}))
	list, ok := errors.AsType[mil.ErrorList](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, 2, list[0].Pos.Line)
}
