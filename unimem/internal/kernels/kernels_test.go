package kernels_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem/internal/kernels"
)

// all lists the kernels.
var all = []kernels.Kernel{kernels.Product(), kernels.Scale(), kernels.Linear()}

func TestMain(m *testing.M) { leaktest.Main(m) }

// tool skips the test without a program of a Debian package.
func tool(t *testing.T, name, pkg string) {
	t.Helper()
	leaktest.SkipEmulated(t)
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("no %s here: install the package %s", name, pkg)
	}
}

// run runs a program and returns what it prints.
func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(t, err, "%s: %s", name, out)
	return out
}

// words reads SPIR-V without the word of the program that made it.
func words(t *testing.T, code []byte) []uint32 {
	t.Helper()
	require.Zero(t, len(code)%4)
	w := make([]uint32, len(code)/4)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(code[4*i:])
	}
	require.Greater(t, len(w), 5)
	require.EqualValues(t, 0x07230203, w[0], "the magic number of SPIR-V")
	w[2] = 0 // tool and version
	return w
}

// write writes the text and the code of a kernel to files.
func write(t *testing.T, k kernels.Kernel) (text, code string) {
	t.Helper()
	text, code = filepath.Join(t.TempDir(), k.Name+".comp"), filepath.Join(t.TempDir(), k.Name+".spv")
	require.NoError(t, os.WriteFile(text, []byte(k.Text), 0o600))
	require.NoError(t, os.WriteFile(code, k.Code, 0o600))
	return text, code
}

// The embedded code is what the embedded text compiles to.
func TestCodeIsCompiledFromText(t *testing.T) {
	tool(t, "glslangValidator", "glslang-tools")
	for _, k := range all {
		text, _ := write(t, k)
		again := filepath.Join(t.TempDir(), "again.spv")
		run(t, "glslangValidator", "-V", "-g0", "--target-env", "vulkan1.1", "-o", again, text)
		made, err := os.ReadFile(again)
		require.NoError(t, err)
		require.Equal(t, words(t, made), words(t, k.Code), "%s.spv is not %s.comp: compile it again", k.Name, k.Name)
	}
}

// Another text gives other code: the comparison above can fail.
func TestOtherTextIsOtherCode(t *testing.T) {
	tool(t, "glslangValidator", "glslang-tools")
	k := kernels.Scale()
	text, _ := write(t, k)
	again := filepath.Join(t.TempDir(), "again.spv")
	changed := []byte(k.Text)
	at := len(k.Text) - len(" + offset);\n\t}\n}\n")
	require.Equal(t, byte('+'), changed[at+1])
	changed[at+1] = '-'
	require.NoError(t, os.WriteFile(text, changed, 0o600))
	run(t, "glslangValidator", "-V", "-g0", "--target-env", "vulkan1.1", "-o", again, text)
	made, err := os.ReadFile(again)
	require.NoError(t, err)
	require.NotEqual(t, words(t, made), words(t, k.Code))
}

// The code is valid, and the assembler makes it again from what the disassembler prints.
func TestCodeIsValidAndReassembles(t *testing.T) {
	tool(t, "spirv-val", "spirv-tools")
	for _, k := range all {
		_, code := write(t, k)
		run(t, "spirv-val", "--target-env", "vulkan1.1", code)
		text, again := filepath.Join(t.TempDir(), "k.spvasm"), filepath.Join(t.TempDir(), "k.spv")
		run(t, "spirv-dis", "--raw-id", "-o", text, code)
		run(t, "spirv-as", "--preserve-numeric-ids", "--target-env", "spv1.3", "-o", again, text)
		made, err := os.ReadFile(again)
		require.NoError(t, err)
		require.Equal(t, words(t, made), words(t, k.Code), k.Name)
	}
}

// The interface of the Go description is the one of the text.
func TestDescriptions(t *testing.T) {
	for _, k := range all {
		for b := range k.Buffers {
			require.Contains(t, k.Text, "binding = "+string(rune('0'+b)))
		}
		require.NotContains(t, k.Text, "binding = "+string(rune('0'+k.Buffers)))
		require.Contains(t, k.Text, "local_size_x = "+map[string]string{"product": "8", "scale": "64", "linear": "64"}[k.Name])
	}
}
