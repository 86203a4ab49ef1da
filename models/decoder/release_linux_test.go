//go:build !macrules

package decoder

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/decodertest"
	"github.com/anekit/anekit/internal/leaktest"
)

// resident is the KiB of a mapped file that this process has resident.
func resident(t *testing.T, path string) (n int) {
	b, err := os.ReadFile("/proc/self/smaps")
	require.NoError(t, err)
	in := false
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) > 4 && strings.Contains(f[0], "-") {
			in = f[len(f)-1] == path
		}
		if in && f[0] == "Rss:" {
			kib, err := strconv.Atoi(f[1])
			require.NoError(t, err)
			n += kib
		}
	}
	return n
}

// A fingerprint reads all weights, and leaves none of them resident but the pages at the ends of tensors.
func TestFingerprintReleasesWhatItReads(t *testing.T) {
	leaktest.SkipEmulated(t) // which does not say what is resident
	dir := t.TempDir()
	_, err := decodertest.Write(dir, decodertest.Spec{Family: decodertest.Llama3, Vocabulary: 20000})
	require.NoError(t, err)
	f, err := Open(dir)
	require.NoError(t, err)
	defer f.Close()
	path, err := filepath.EvalSymlinks(f.File().Path())
	require.NoError(t, err)
	_, err = f.Fingerprint(t.Context())
	require.NoError(t, err)
	require.Less(t, int64(resident(t, path))<<10, f.Bytes()/2)
}
