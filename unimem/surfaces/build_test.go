//go:build linux && cgo

package surfaces_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var build struct {
	sync.Once
	folder string
	output []byte
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(build.folder)
	os.Exit(code)
}

// libraries is the folder with the stand-in's library.
func libraries(t testing.TB) string {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler: apt-get install gcc, then run this test again")
	}
	build.Do(func() {
		build.folder, build.err = os.MkdirTemp("", "surfaces")
		sources, _ := filepath.Glob("../../objcbridge/standin/surface_*.c")
		args := append([]string{"-shared", "-fPIC", "-o", filepath.Join(build.folder, "libstandinsurface.so")}, sources...)
		if build.err == nil {
			build.output, build.err = exec.Command(cc, append(args, "-lpthread")...).CombinedOutput()
		}
	})
	require.NoError(t, build.err, string(build.output))
	return build.folder
}
