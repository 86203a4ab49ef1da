package unimem_test

import (
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/unimem"
)

func TestLoggerRecordsForgottenBlocks(t *testing.T) {
	var log, other lines
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&other, nil)))
	defer slog.SetDefault(before)
	free, err := unimem.Forget(1, unimem.Logger(slog.New(slog.NewTextHandler(&log, nil))))
	require.NoError(t, err)
	await.Until(t, "the report", func() bool {
		runtime.GC()
		return strings.Contains(log.String(), "forgotten")
	})
	require.Empty(t, other.String())
	require.NoError(t, free())
	b, err := unimem.Open(1, unimem.Logger(nil))
	require.NoError(t, err)
	require.NoError(t, b.Close())
}
