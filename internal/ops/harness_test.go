package ops_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/ops"
)

// params are the inputs that statements of these tests use.
const params = `tensor<fp16, [2, 3]> x, tensor<fp16, [2]> q, fp16 s, tensor<fp32, [3]> f, tensor<int32, [4]> i, tensor<bool, [5]> b,
tensor<fp16, [4, 3]> w, tensor<fp16, [2, 2, 2]> n, tensor<fp16, [3, 2, 2]> p, tensor<fp16, [1, 1, 1, 1, 3]> r5,
tensor<fp16, [1, 2, 3, 3]> img, tensor<fp16, [4, 2, 1, 1]> k, tensor<fp16, [4, 2, 4, 4]> big, tensor<int32, [1]> ix, tensor<fp16, [3]> f16row, state<tensor<fp16, [2]>> st, tensor_buffer<fp16, shape=[2, 3], strides=[32, 1], interleave_factors=[1, 1]> tb`

// around puts a statement on line 6 of a program that returns r.
func around(statement, r string) string {
	return "program(1.3)\n{\nfunc main<ios18>(" + params + ") {\n" + statement + "\n} -> (" + r + ");\n}\n"
}

// files are weights in memory.
type files map[string][]byte

func (f files) ReadFile(path string) ([]byte, error) {
	if data, ok := f[path]; ok {
		return data, nil
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

// weights returns a valid file and two damaged ones.
func weights(t testing.TB) files {
	var w blob.Writer
	at, err := w.Add(mil.FP16, []byte{0, 0x3c, 0, 0x40}, 0)
	require.NoError(t, err)
	require.EqualValues(t, 64, at)
	return files{"w.bin": w.Bytes(), "short.bin": w.Bytes()[:130],
		"text.bin": []byte(strings.Repeat("no weights ", 20))}
}

// analyze parses and resolves text. It returns any faults as ErrorList.
func analyze(t testing.TB, text string, w blob.Source) (*ops.Graph, mil.ErrorList) {
	p, err := mil.Parse("e.mil", []byte(text))
	var g *ops.Graph
	if err == nil {
		g, err = ops.Analyze("e.mil", p, "", w)
	}
	var list mil.ErrorList
	if err != nil && !errors.As(err, &list) {
		t.Fatalf("%T is no mil.ErrorList: %v", err, err)
	}
	return g, list
}
