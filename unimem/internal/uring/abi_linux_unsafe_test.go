//go:build linux && !macrules

package uring

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// The sizes and offsets of linux/io_uring.h.
func TestStructures(t *testing.T) {
	require.EqualValues(t, 120, unsafe.Sizeof(params{}))
	require.EqualValues(t, 40, unsafe.Offsetof(params{}.sq))
	require.EqualValues(t, 80, unsafe.Offsetof(params{}.cq))
	require.EqualValues(t, 64, unsafe.Sizeof(sqe{}))
	require.EqualValues(t, 16, unsafe.Offsetof(sqe{}.addr))
	require.EqualValues(t, 32, unsafe.Offsetof(sqe{}.userData))
	require.EqualValues(t, 40, unsafe.Offsetof(sqe{}.bufIndex))
	require.EqualValues(t, 16, unsafe.Sizeof(cqe{}))
}
