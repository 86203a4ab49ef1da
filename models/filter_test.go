package models_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/models"
)

func TestAverages(t *testing.T) {
	for name, want := range map[string]bool{"blur": true, "sharpen": true, "emboss": true, "edge": false,
		"sobel": false} {
		f, ok := models.FilterByName(name)
		require.True(t, ok)
		require.Equal(t, want, f.Averages(), name)
	}
}
