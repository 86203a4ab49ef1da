//go:build (amd64 || arm64) && !macrules

package driverabi

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Sizes that have the right low 32 bits. The memory is reserved and never touched.
func TestSizesBeyond32Bits(t *testing.T) {
	const beyond = math.MaxUint32 + 1
	b, err := unix.Mmap(-1, 0, beyond+InputsReadySize, unix.PROT_NONE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		t.Skipf("4 GiB of address space cannot be reserved (%v); raise the limit of address space (ulimit -v)", err)
	}
	defer func() { require.NoError(t, unix.Munmap(b)) }()
	for client, methods := range tables() {
		d := NewDispatcher(methods(), handlersOf(methods(), func(any, *Args) error { return nil }))
		for _, m := range methods() {
			a := exact(m)
			a.StructIn = b[:beyond+int(m.StructIn)]
			require.Equal(t, BadArgument, d.Call(nil, m.Selector, a), "%s %s, in", client, m.Handler)
			a = exact(m)
			a.StructOut = b[:beyond+int(m.StructOut)]
			require.Equal(t, BadArgument, d.Call(nil, m.Selector, a), "%s %s, out", client, m.Handler)
		}
	}
}
