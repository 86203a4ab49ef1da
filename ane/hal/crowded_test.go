package hal_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/hal"
)

// crowded is an engine that refuses its next compiles for lack of a program slot, and records which calls would wait.
type crowded struct {
	ane.Engine
	refusals int
	waits    []bool
}

func (c *crowded) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	c.waits = append(c.waits, !ane.FailsFast(ctx))
	if c.refusals > 0 {
		c.refusals--
		return nil, &ane.Error{Op: "compile", Engine: "crowded", Err: ane.ErrExhausted}
	}
	return c.Engine.Compile(ctx, src)
}

// A Device closes its idle programs before the engine waits for the slots of other processes.
func TestIdleProgramsCloseBeforeWaits(t *testing.T) {
	ctx := context.Background()
	c := &crowded{}
	e, err := engine.Open(ctx, engine.Soft, engine.Wrap(func(e ane.Engine) ane.Engine {
		c.Engine = e
		return c
	}))
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	d, err := hal.NewDevice(e)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close(ctx)) }()
	require.NoError(t, prepare(t, d, scaleText(1)).Close(ctx))
	require.Equal(t, []bool{true}, c.waits, "nothing is idle")

	c.refusals, c.waits = 1, nil
	second := prepare(t, d, scaleText(2))
	require.Equal(t, []bool{false, true}, c.waits)
	require.NoError(t, prepare(t, d, scaleText(1)).Close(ctx))
	require.EqualValues(t, 3, d.Stats().Compiles, "the idle program was closed")
	require.NoError(t, second.Close(ctx))
}
