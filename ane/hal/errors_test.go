package hal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/hal"
)

// TestNoCommandError: a nil CommandError has a text and unwraps to nothing.
func TestNoCommandError(t *testing.T) {
	var none *hal.CommandError
	require.NotEmpty(t, none.Error())
	require.NoError(t, none.Unwrap())
}

// TestTextsOfCommandErrors: the text of a refused command is one line that names each fact once.
func TestTextsOfCommandErrors(t *testing.T) {
	d, other := newDevice(t), newDevice(t)
	b, strange := newBuffer(t, d, 64), newBuffer(t, other, 64)
	e := prepare(t, d, scaleText(2))
	c, err := d.NewCommandBuffer(hal.OneShot)
	require.NoError(t, err)
	c.Fill(b.Range(0, 6), []byte{1, 2, 3})
	c.Barrier()
	c.Copy(b.Range(0, 70), b.Range(-2, 4))
	c.Dispatch(nil, nil, nil)
	c.Dispatch(e, map[string]hal.Range{"x": b.Range(0, 99), "q": {}}, map[string]hal.Range{"y": strange.Range(0, 64)})
	require.Equal(t, []string{
		"hal: command 0: fill: pattern does not have 1, 2 or 4 bytes: 3 bytes; give 1, 2 or 4 bytes",
		"hal: command 2: copy: out of range: 70 bytes from byte 0 on of a Buffer of 64; stay inside the Buffer; " +
			"out of range: 4 bytes from byte -2 on of a Buffer of 64; stay inside the Buffer",
		"hal: command 3: dispatch: closed: nil or zero Executable; make it by Device.Prepare",
		"hal: command 4: dispatch: ane: bind on soft: input x: out of range: 99 bytes from byte 0 on of a Buffer of " +
			"64; stay inside the Buffer; ane: bind on soft: input q: no such name; the program has x; " +
			"ane: bind on soft: output y: belongs to another object: Buffer of another Device; " +
			"make it on the Device that uses it",
	}, strings.Split(c.End().Error(), "\n"))
	s := hal.NewSemaphore(5)
	require.NoError(t, d.Queue().Execute(t.Context(), nil, []hal.Point{{s, 4}}))
	require.EqualError(t, wait(t, s, 6), "hal: semaphore failed: signal: value is below that of the semaphore: "+
		"4 after 5; signal values that grow")
}
