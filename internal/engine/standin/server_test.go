package standin

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// compiled returns a server with count surfaces and the handle of a program.
func compiled(t testing.TB, count int, text string) (*server, *fake, uint64) {
	t.Helper()
	m := newFake(t, count)
	s := newServer(m, nil)
	h, err := s.compile(write(t, map[string]string{"model.mil": text}))
	require.NoError(t, err)
	t.Cleanup(func() { s.DropProgram(h) })
	return s, m, h
}

func TestCompileReadsBothTextFiles(t *testing.T) {
	const broken = "program(1.3) { func main<ios18>() { } -> (y); }"
	for name, c := range map[string]struct {
		files   map[string]string
		message string // empty if the program compiles
	}{
		"model.mil":                  {map[string]string{"model.mil": addition}, ""},
		"net.plist alone":            {map[string]string{"net.plist": addition}, ""},
		"model.mil takes precedence": {map[string]string{"model.mil": addition, "net.plist": "nonsense"}, ""},
		"neither":                    {map[string]string{"other.mil": addition}, "model.mil"},
		"model.mil is a folder": {map[string]string{"model.mil/x": addition, "net.plist": addition},
			"not a regular file"},
		"no MIL":                  {map[string]string{"model.mil": "\x00\xff"}, "model.mil:1:1"},
		"empty":                   {map[string]string{"model.mil": ""}, "model.mil:1:1"},
		"no function":             {map[string]string{"model.mil": "program(1.3)\n{\n}\n"}, "function"},
		"nothing computes":        {map[string]string{"model.mil": broken}, "model.mil:1:"},
		"weights":                 {map[string]string{"model.mil": weighted, "weights/w.bin": weights(t, 1)}, ""},
		"weights that are absent": {map[string]string{"model.mil": weighted}, "no such file"},
		"invalid weights":         {map[string]string{"model.mil": weighted, "weights/w.bin": "short"}, "w.bin"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(newFake(t, 0), nil)
			h, err := s.compile(write(t, c.files))
			if c.message == "" {
				require.NoError(t, err)
				require.NotZero(t, h)
				s.DropProgram(h)
				return
			}
			require.ErrorContains(t, err, c.message)
			require.Zero(t, h)
			require.Empty(t, s.programs)
		})
	}
}

func TestCompileReportsEveryFault(t *testing.T) {
	s := newServer(newFake(t, 0), nil)
	_, err := s.compile(write(t, map[string]string{"model.mil": functions(
		`func main<ios18>(T x) { T y = nosuch(x = x)[name = string("y")]; } -> (y);`,
		`func other<ios18>(T x) { T y = add(x = x, y = missing)[name = string("y")]; } -> (y);`)}))
	require.ErrorIs(t, err, ane.ErrCompile)
	var list mil.ErrorList
	require.ErrorAs(t, err, &list)
	require.Len(t, list, 2, "the faults of all functions: %v", err)
}

func TestWeightsDoNotLeaveTheDirectory(t *testing.T) {
	for path, message := range map[string]string{
		"@model_path/../secret.bin":      "inside the model's directory",
		"@model_path/a/../../secret.bin": "inside the model's directory",
		"@model_path//etc/passwd":        "inside the model's directory",
		"@model_path/":                   "inside the model's directory",
		"@model_path/weights":            "not a regular file",
		"/etc/passwd":                    "does not start with @model_path/",
		"secret.bin":                     "does not start with @model_path/",
	} {
		t.Run(path, func(t *testing.T) {
			text := functions(`func main<ios18>(T x) {
				T w = const()[name = string("w"), val = ` + form + `(BLOBFILE(path = string("` + path + `"), offset = uint64(64)))];
				T y = add(x = x, y = w)[name = string("y")];
			} -> (y);`)
			dir := write(t, map[string]string{"inner/model.mil": text, "secret.bin": weights(t, 1),
				"inner/weights/w.bin": "x"})
			_, err := newServer(newFake(t, 0), nil).compile(filepath.Join(dir, "inner"))
			require.ErrorIs(t, err, ane.ErrCompile)
			require.ErrorContains(t, err, message)
		})
	}
}

func TestWeightsAreBakedIn(t *testing.T) {
	m := newFake(t, 2)
	s := newServer(m, nil)
	dir := write(t, map[string]string{"model.mil": weighted, "weights/w.bin": weights(t, 3)})
	h, err := s.compile(dir)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(dir))
	fill(m.bytes(1), 4)
	require.Equal(t, done, s.evaluate(h, 0, 1, []uint32{1}, []uint32{2}))
	require.Equal(t, filled(7), m.bytes(2))
	s.DropProgram(h)
}

func TestTooManyFunctions(t *testing.T) {
	body := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, `func f`+string(rune('a'+i/26))+string(rune('a'+i%26))+
				`<ios18>(T x) { T y = add(x = x, y = x)[name = string("y")]; } -> (y);`)
		}
		return functions(all...)
	}
	s := newServer(newFake(t, 0), nil)
	_, err := s.compile(write(t, map[string]string{"model.mil": body(maxProcedures + 1)}))
	var fault *mil.Error
	require.True(t, errors.As(err, &fault), "%v", err)
	require.Equal(t, maxProcedures+3, fault.Pos.Line, "the first function beyond the limit")
	h, err := s.compile(write(t, map[string]string{"model.mil": body(maxProcedures)}))
	require.NoError(t, err)
	s.DropProgram(h)
}
