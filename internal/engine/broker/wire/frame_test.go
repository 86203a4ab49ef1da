package wire_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

func TestFrames(t *testing.T) {
	good := wire.Frame{Kind: wire.KindBind, ID: 1<<63 + 5, Payload: []byte{1, 2, 3}}
	b := good.Append(nil)
	require.Len(t, b, wire.HeaderSize+3)
	require.Equal(t, "aneb", string(b[:4]))
	got, err := wire.ParseFrame(b)
	require.NoError(t, err)
	require.Equal(t, good, got)

	for name, c := range map[string]struct {
		spoil func(b []byte) []byte
		want  error
		known bool // the header says which frame to answer
	}{
		"nothing":       {func(b []byte) []byte { return nil }, wire.ErrShort, false},
		"half a header": {func(b []byte) []byte { return b[:23] }, wire.ErrShort, false},
		"magic":         {func(b []byte) []byte { b[0]++; return b }, wire.ErrMagic, false},
		"version":       {func(b []byte) []byte { b[4]++; return b }, wire.ErrVersion, false},
		"kind 0":        {func(b []byte) []byte { b[6] = 0; return b }, wire.ErrKind, true},
		"kind beyond":   {func(b []byte) []byte { b[6] = byte(wire.KindChain) + 1; return b }, wire.ErrKind, true},
		"answer's fault": {func(b []byte) []byte { b[6], b[7] = byte(wire.KindFault), 0x80; return b }, wire.ErrKind,
			true},
		"missing bytes":  {func(b []byte) []byte { return b[:len(b)-1] }, wire.ErrShort, true},
		"more bytes":     {func(b []byte) []byte { return append(b, 0) }, wire.ErrTrailing, true},
		"flags":          {func(b []byte) []byte { b[12] = 2; return b }, wire.ErrValue, true},
		"high flags":     {func(b []byte) []byte { b[15] = 0x80; return b }, wire.ErrValue, true},
		"long and short": {func(b []byte) []byte { b[12] = wire.FlagLong; return b }, wire.ErrTrailing, true},
		"length beyond": {func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[8:], wire.MaxPayload+1)
			return append(b, make([]byte, wire.MaxPayload)...)
		}, wire.ErrLong, true},
		"length of 4 GiB": {func(b []byte) []byte { binary.LittleEndian.PutUint32(b[8:], 1<<32-1); return b },
			wire.ErrLong,
			true},
	} {
		f, err := wire.ParseFrame(c.spoil(good.Append(nil)))
		require.ErrorIs(t, err, c.want, name)
		var typed *wire.Error
		require.ErrorAs(t, err, &typed)
		require.NotEmpty(t, typed.Field)
		require.Empty(t, f.Payload)
		require.Equal(t, c.known, f.ID == good.ID, name)
	}
}
