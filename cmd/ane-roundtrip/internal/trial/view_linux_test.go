//go:build !macrules

package trial

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Where the system shows no bytes of the engine's process, mappings are compared: of the same bytes of one memory, that
// writes reach.
func TestSealedViews(t *testing.T) {
	page := os.Getpagesize()
	file := func() int {
		fd, err := unix.MemfdCreate("tensor", unix.MFD_CLOEXEC)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, unix.Close(fd)) })
		require.NoError(t, unix.Ftruncate(fd, int64(4*page)))
		return fd
	}
	mapped := func(fd, offset, flags int) *view {
		b, err := unix.Mmap(fd, int64(offset*page), 2*page, unix.PROT_READ|unix.PROT_WRITE, flags)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, unix.Munmap(b)) })
		return local(b)
	}
	fd := file()
	own := mapped(fd, 1, unix.MAP_SHARED)
	for what, c := range map[string]struct {
		engine *view
		apart  int
	}{
		"in place":       {mapped(fd, 1, unix.MAP_SHARED), 0},
		"another part":   {mapped(fd, 0, unix.MAP_SHARED), 2 * page},
		"a private one":  {mapped(fd, 1, unix.MAP_PRIVATE), 2 * page},
		"another memory": {mapped(file(), 1, unix.MAP_SHARED), 2 * page},
		"no file":        {local(make([]byte, 2*page)), 2 * page},
		"nothing":        {&view{size: 2 * page, pid: os.Getpid()}, 2 * page},
		"gone":           {&view{size: 2 * page, pid: 1 << 30, address: own.address}, 2 * page},
	} {
		c.engine.sealed = true
		require.Equal(t, c.apart, apart(own, c.engine), what)
		require.Equal(t, c.apart, apart(c.engine, own), what)
	}
}
