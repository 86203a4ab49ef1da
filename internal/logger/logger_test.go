package logger_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/logger"
)

// A *slog.Logger is a Logger: With logs what its method With logs, at each level.
func TestWithIsThatOfSlog(t *testing.T) {
	lines := func(log func(l *slog.Logger)) string {
		var b strings.Builder
		log(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug,
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey {
					return slog.Attr{}
				}
				return a
			}})))
		return b.String()
	}
	each := func(l logger.Logger) {
		l.Debug("read", "n", 1)
		l.Info("sent")
		l.Warn("lost", "n", 2, "why", "it broke")
		l.Error("gone", "error", errors.ErrUnsupported)
	}
	own := lines(func(l *slog.Logger) { each(l.With("pid", 7).With("session", 8)) })
	require.Contains(t, own, "level=WARN msg=lost pid=7 session=8 n=2 why=\"it broke\"\n")
	require.Equal(t, own, lines(func(l *slog.Logger) { each(logger.With(logger.With(l, "pid", 7), "session", 8)) }))
	require.Equal(t, lines(func(l *slog.Logger) { each(l) }), lines(func(l *slog.Logger) { each(logger.With(l)) }))
	var none *slog.Logger
	each(logger.With(nil))
	each(logger.With(none))
	each(logger.With(logger.With(none), "pid", 7))
}
