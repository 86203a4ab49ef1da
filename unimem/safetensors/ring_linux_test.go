//go:build !macrules

package safetensors

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/ringtest"
)

func TestLoadWhereRingsAreRefused(t *testing.T) { ringtest.Refuse(t, "TestRingIsRefused") }

func TestRingIsRefused(t *testing.T) {
	if !ringtest.Refused() {
		t.Skip("needs a system without io_uring: TestLoadWhereRingsAreRefused runs it")
	}
	path, data := large(t)
	f, err := Load(t.Context(), path, tape(t, 3*part), Ring())
	require.NoError(t, err)
	require.ErrorIs(t, f.Report().Ring, ErrRing)
	fmt.Println(f.Report().Ring)
	b, err := f.Tensor("b")
	require.NoError(t, err)
	require.True(t, bytes.Equal(data[1001:], b.Bytes()))
	require.NoError(t, f.Close())
}
