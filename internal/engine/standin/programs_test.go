package standin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
)

// form is the default type of the texts' tensors.
const form = "tensor<fp16, [1, 4, 1, 32]>"

// plane is the bytes of one tensor: four rows of 32 halves, without padding.
const plane = 4 * 64

// functions returns a program with these functions. T stands for form.
func functions(bodies ...string) string {
	return strings.ReplaceAll("program(1.3)\n{\n"+strings.Join(bodies, "\n")+"\n}\n", "T ", form+" ")
}

var (
	addition = functions(`func main<ios18>(T b, T a) { T y = sub(x = a, y = b)[name = string("y")]; } -> (y);`)
	pair2    = functions(
		`func first<ios18>(T a, T z) { T late = add(x = a, y = z)[name = string("late")]; } -> (late);`,
		`func second<ios18>(T z, T m) {
			T early = sub(x = z, y = m)[name = string("early")];
			T late = mul(x = z, y = m)[name = string("late")];
		} -> (late, early);`)
	weighted = functions(`func main<ios18>(T x) {
		T w = const()[name = string("w"), val = ` + form + `(BLOBFILE(path = string("@model_path/weights/w.bin"), offset = uint64(64)))];
		T y = add(x = x, y = w)[name = string("y")];
	} -> (y);`)
)

// write writes a model's directory with files by name.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	return dir
}

// weights returns a weight file with one tensor whose elements are v.
func weights(t testing.TB, v float32) string {
	t.Helper()
	payload := make([]byte, plane)
	fill(payload, v)
	var w blob.Writer
	at, err := w.Add(mil.FP16, payload, 0)
	require.NoError(t, err)
	require.EqualValues(t, 64, at)
	return string(w.Bytes())
}

// fill sets every half of mem to v.
func fill(mem []byte, v float32) {
	h := fp16.FromFloat32(v)
	for i := 0; i+1 < len(mem); i += 2 {
		mem[i], mem[i+1] = byte(h), byte(h>>8)
	}
}

// filled returns a tensor whose halves are v.
func filled(v float32) []byte {
	mem := make([]byte, plane)
	fill(mem, v)
	return mem
}
