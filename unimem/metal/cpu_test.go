//go:build linux && cgo && (amd64 || arm64)

package metal

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/leaktest"
)

// onCPU makes the fake run kernels: it compiles their texts as C++, with testdata/cpu in the place of Metal's library.
func onCPU(t *testing.T, f *fake) {
	leaktest.SkipEmulated(t)
	compiler := ""
	for _, name := range []string{"clang-14", "clang++", "g++"} {
		if path, err := exec.LookPath(name); err == nil {
			compiler = path
			break
		}
	}
	if compiler == "" {
		t.Skip("no compiler clang-14, clang++ or g++ to run the kernels' texts on the CPU: apt-get install clang-14")
	}
	headers, err := filepath.Abs(filepath.Join("testdata", "cpu"))
	require.NoError(t, err)
	f.compile = func(text, function string) (run, uint32, string) {
		dir := t.TempDir()
		source, library := filepath.Join(dir, "k.cpp"), filepath.Join(dir, "k.so")
		text = fmt.Sprintf("%[1]s\n#include \"each.h\"\nextern \"C\" void run_kernel(void ** p, const uint * groups, "+
			"const uint * group) { run(%[2]s, p, groups, group); }\n"+
			"extern \"C\" uint reads_of_kernel(void) { return reads(%[2]s); }\n", text, function)
		require.NoError(t, os.WriteFile(source, []byte(text), 0o600))
		out, err := exec.Command(compiler, "-x", "c++", "-std=c++17", "-O1", "-fPIC", "-shared", "-w", "-I", headers,
			source, "-o", library, "-lm").CombinedOutput()
		if err != nil {
			return nil, 0, string(out)
		}
		handle, err := purego.Dlopen(library, purego.RTLD_NOW)
		require.NoError(t, err)
		var call func(arguments *uintptr, groups, group *uint32)
		var reads func() uint32
		purego.RegisterLibFunc(&call, handle, "run_kernel")
		purego.RegisterLibFunc(&reads, handle, "reads_of_kernel")
		return func(arguments []uintptr, groups, group [3]int) {
			small := func(n [3]int) *uint32 { return &[]uint32{uint32(n[0]), uint32(n[1]), uint32(n[2])}[0] }
			call(&arguments[0], small(groups), small(group))
		}, reads(), ""
	}
}
