package await_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/await"
)

// failing is a testing.TB that records its failure.
type failing struct {
	testing.TB
	text []string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, _ ...any) {
	f.text = append(f.text, format)
	panic(f)
}

// fails reports whether wait fails its test.
func fails(wait func(testing.TB)) (failed bool) {
	f := &failing{}
	defer func() { failed = recover() == any(f) }()
	wait(f)
	return false
}

func TestConditions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		await.Until(t, "a second", func() bool { return time.Since(begin) >= time.Second })
		require.True(t, fails(func(tb testing.TB) { await.Until(tb, "never", func() bool { return false }) }))

		from := make(chan int)
		go func() { time.Sleep(await.Patience / 2); from <- 7 }()
		require.Equal(t, 7, await.Value(t, from))
		require.True(t, fails(func(tb testing.TB) { await.Value(tb, from) }))
		require.Equal(t, 8, await.Done(t, func() int { return 8 }))

		left := []string{"a", "b"}
		require.Empty(t, await.Left(func() []string { left = left[1:]; return slices.Clone(left) }))
		require.Equal(t, []string{"c"}, await.Left(func() []string { return []string{"c"} }))
	})
}

func TestDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, expire := await.Deadline(t.Context())
		at, ok := ctx.Deadline()
		require.True(t, ok)
		require.True(t, at.After(time.Now()))
		require.NoError(t, ctx.Err())
		below, cancel := context.WithCancel(ctx)
		defer cancel()
		expire()
		expire()
		<-below.Done()
		require.Equal(t, context.DeadlineExceeded, ctx.Err())
		require.Equal(t, context.DeadlineExceeded, context.Cause(below))

		parent, cancel := context.WithCancel(t.Context())
		ctx, expire = await.Deadline(parent)
		cancel()
		<-ctx.Done()
		expire()
		require.Equal(t, context.Canceled, ctx.Err())

		begin := time.Now()
		ctx = await.DeadlineWhen(t, t.Context(), func() bool { return time.Since(begin) > time.Hour/100 })
		<-ctx.Done()
		require.Equal(t, context.DeadlineExceeded, ctx.Err())
		await.DeadlineWhen(t, t.Context(), func() bool { return false })
	})
}
