//go:build !macrules

package main

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/leaktest"
)

// The command takes at most 1.5 times the memory of the input and output pixels, in addition to its
// memory for a picture of one pixel.
func TestImageTakesLittleMemory(t *testing.T) {
	leaktest.SkipEmulated(t)
	effort.NeedsFull(t, "the memory of a large picture")
	dir := t.TempDir()
	const side = 8192
	in := photograph(t, dir, side, opaque)
	tiny := filepath.Join(dir, "tiny.png")
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))))
	require.NoError(t, os.WriteFile(tiny, b.Bytes(), 0o600))
	b = bytes.Buffer{}
	debug.FreeOSMemory() // the memory peak of a new process includes the pages of its parent
	peak := func(file string) int64 {
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Args = []string{"ane-roundtrip", "image", "--engine", engine.Soft, "--filter", "blur", file,
			filepath.Join(dir, "out.png")}
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	}
	pixels := int64(2 * 3 * side * side)
	base := peak(tiny)
	got := peak(in)
	t.Logf("%d pixels a side: peak %d MiB, of which %d MiB without a picture; pixels in and out %d MiB",
		side, got>>20, base>>20, pixels>>20)
	const tensors = 40 << 20 // of a band, including memory that the collector has not freed
	require.Less(t, got-base, pixels*3/2+tensors)
}
