package hal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/unimem"
)

// A mapped file is a Buffer that commands read in place. Each command that writes to it is refused when it is recorded,
// since the CPU that runs it would fault.
func TestMappedFile(t *testing.T) {
	d := newDevice(t)
	path := filepath.Join(t.TempDir(), "weights")
	data := bytes.Repeat(halves(3), 4)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	block, err := unimem.MapFile(f)
	require.NoError(t, f.Close())
	require.NoError(t, err)
	defer func() { require.NoError(t, block.Close()) }()
	mapped, err := d.Import(block)
	require.NoError(t, err)
	defer func() { require.NoError(t, mapped.Close()) }()
	add, own := prepare(t, d, addText), newBuffer(t, d, 1024)
	in := map[string]hal.Range{"x": mapped.Range(0, 64), "y": mapped.Range(128, 64)}
	c := record(t, d, hal.OneShot, func(c *hal.CommandBuffer) {
		c.Dispatch(add, in, map[string]hal.Range{"z": own.Range(0, 512)})
		c.Copy(own.Range(512, 64), mapped.Range(64, 64))
	})
	require.NoError(t, run(t, d, c))
	require.Equal(t, halves(6), own.Bytes()[:64])
	require.Equal(t, halves(3), own.Bytes()[512:576])

	for name, write := range map[string]func(c *hal.CommandBuffer){
		"fill":   func(c *hal.CommandBuffer) { c.Fill(mapped.Range(0, 4), []byte{1}) },
		"copy":   func(c *hal.CommandBuffer) { c.Copy(mapped.Range(0, 4), own.Range(0, 4)) },
		"update": func(c *hal.CommandBuffer) { c.Update(mapped.Range(0, 4), make([]byte, 4)) },
		"output": func(c *hal.CommandBuffer) {
			c.Dispatch(add, in, map[string]hal.Range{"z": mapped.Range(0, 64)})
		},
	} {
		c, err := d.NewCommandBuffer(hal.OneShot)
		require.NoError(t, err)
		write(c)
		err = c.End()
		require.ErrorIs(t, err, ane.ErrReadOnly, name)
		var command *hal.CommandError
		require.ErrorAs(t, err, &command)
	}
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, data, again)
}
