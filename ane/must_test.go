package ane_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
)

func TestMust(t *testing.T) {
	require.Equal(t, 3, ane.Must(3, nil))
	boom := errors.New("boom")
	require.PanicsWithValue(t, boom, func() { ane.Must(3, boom) })
}
