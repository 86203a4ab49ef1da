//go:build cgo && (amd64 || arm64)

package gates

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/bridgetest"
)

const (
	drivers = "../../standin/testdata" // programs without the bridge, and files shared with those of testdata
	objc    = ".m"
)

// variant is a way of compiling libraries and programs.
type variant int

const (
	plain variant = iota
	address
)

// libraries returns the folder of the bridge and the stand-ins. It skips the test if it cannot be
// built.
func (v variant) libraries(t *testing.T) string {
	if v == address {
		return bridgetest.BuildSanitized(t)
	}
	return bridgetest.Build(t)
}

// compile returns the compiled program of a source file. It compiles it at the first call.
func (v variant) compile(t *testing.T, source string) string {
	t.Helper()
	dir := v.libraries(t)
	tools(t)
	seen(t, source)
	process.Lock()
	defer process.Unlock()
	key := filepath.Join([]string{"plain", "address"}[v], filepath.Base(source))
	if file := process.programs[key]; file != "" {
		return file
	}
	if process.dir == "" {
		var err error
		process.dir, err = os.MkdirTemp("", "gates")
		require.NoError(t, err)
	}
	file := filepath.Join(process.dir, key+".out")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	output(t, "clang-14", v.arguments(t, dir, source, file)...)
	process.programs[key] = file
	return file
}

// tools skips the test if the libraries exist but the compilers for programs do not.
func tools(t *testing.T) {
	missing := strings.Fields(string(output(t, "sh", "../../needs.sh", "--list", "bridge")))
	if len(missing) > 0 {
		t.Skipf("no compilers for C programs; on Debian: apt-get install --no-install-recommends %s",
			strings.Join(missing, " "))
	}
}

// arguments returns the compiler's arguments, as given in testdata/driver.h of the stand-in.
func (v variant) arguments(t *testing.T, dir, source, file string) []string {
	args := []string{"-std=gnu11", "-O1", "-gdwarf-4", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
		"-pthread",
		"-I../../standin", "-I" + drivers, "-I../../src"}
	libraries := []string{"-L" + dir, "-Wl,-rpath," + dir}
	if v == address {
		runtime, _ := bridgetest.Sanitizer()
		args = append(args, "-fsanitize=address", "-shared-libasan", "-Wl,-rpath,"+filepath.Dir(runtime))
	}
	if filepath.Ext(source) == objc {
		for _, flag := range words(t, "gnustep-config", "--objc-flags") {
			if flag != "-MMD" && flag != "-MP" && flag != "-g" { // these flags write files or select DWARF 5
				args = append(args, flag)
			}
		}
		args = append(args, "-fobjc-runtime=gcc", "-fblocks", "-I"+headers(t), "-idirafter", gcc(t, "include"))
		libraries = append(libraries, "-lanebridge", "-lAppleNeuralEngine", "-lBlocksRuntime")
		libraries = append(libraries, words(t, "gnustep-config", "--base-libs")...)
		libraries = append(libraries, "-ldl", "-L"+filepath.Dir(gcc(t, "libobjc.so")))
	}
	return append(append(args, source, "-o", file), append(libraries, "-lstandinsurface")...)
}

// headers makes a folder with gcc's Objective-C headers and a file that one of them includes.
func headers(t *testing.T) string {
	dir := filepath.Join(process.dir, "include")
	to := filepath.Join(dir, "objc")
	if _, err := os.Stat(to); err == nil {
		return dir
	}
	require.NoError(t, os.CopyFS(to, os.DirFS(filepath.Join(gcc(t, "include"), "objc"))))
	require.NoError(t, os.WriteFile(filepath.Join(to, "blocks_runtime.h"), []byte("#include <Block.h>\n"), 0o600))
	return dir
}

func gcc(t *testing.T, name string) string { return words(t, "gcc", "-print-file-name="+name)[0] }

func words(t *testing.T, name string, args ...string) []string {
	return strings.Fields(output(t, name, args...))
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	require.NoError(t, err, "%s %q\n%s", name, args, &errors)
	return string(out)
}

// seen reads a source and the headers, so that go test knows that its result depends on them.
func seen(t *testing.T, source string) {
	files := []string{source, "../../src/bridge.h", "../../standin/standin.h", "../../standin/cf.h",
		"../../standin/libsystem.h"}
	for _, dir := range []string{"testdata", drivers} {
		found, err := filepath.Glob(filepath.Join(dir, "*.h"))
		require.NoError(t, err)
		files = append(files, found...)
	}
	for _, file := range files {
		_, err := os.ReadFile(file)
		require.NoError(t, err)
	}
}
