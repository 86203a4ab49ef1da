package wasm_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/wasm"
)

// starting is a binary with a start function of a body.
func starting(body string) []byte {
	sized := func(s string) string { return string(rune(len(s))) + s }
	return []byte("\x00asm\x01\x00\x00\x00" + "\x01" + sized("\x01\x60\x00\x00") + "\x03" + sized("\x01\x00") +
		"\x08" + sized("\x00") + "\x0a" + sized("\x01"+sized("\x00"+body+"\x0b")))
}

// Errors of a start function are those of Call, on one line: a trap is no fault of the binary.
func TestAStartFunctionThatTraps(t *testing.T) {
	r := newRig(t, path{engine: engine.Soft, align: 16384})
	for name, body := range map[string]string{"unreachable": "\x00", "endless recursion": "\x10\x00"} {
		code, err := r.host.Compile(context.Background(), starting(body))
		require.NoError(t, err, name)
		_, err = code.Start(context.Background(), wasm.Limits{})
		require.ErrorIs(t, err, wasm.ErrTrap, name)
		require.NotErrorIs(t, err, wasm.ErrCode, name)
		require.NotContains(t, err.Error(), "\n", name)
		require.NoError(t, code.Close(context.Background()))
	}
}

// wazero takes memory for the 4,294,967,295 segments of which a binary of 15 bytes says that it has them.
func TestABinaryTakesNoMemoryForItsNumbers(t *testing.T) {
	r := newRig(t, path{engine: engine.Soft, align: 16384})
	for _, section := range []string{"\x02", "\x03", "\x04", "\x06", "\x07", "\x09", "\x0a", "\x0b"} {
		text := "\x00asm\x01\x00\x00\x00" + section + "\x05\xff\xff\xff\xff\x0f"
		_, err := r.host.Compile(context.Background(), []byte(text))
		require.ErrorIs(t, err, wasm.ErrCode)
		require.ErrorContains(t, err, "cut off or malformed")
	}
}

// wazero panics for a call of a function whose type does not exist.
func TestABinaryThatIsNotValid(t *testing.T) {
	r := newRig(t, path{engine: engine.Soft, align: 16384})
	_, err := r.host.Compile(context.Background(), []byte(""+
		"\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x03\x02\x00\x09"+
		"\x0a\x09\x02\x04\x00\x10\x01\x0b\x02\x00\x0b"))
	require.ErrorIs(t, err, wasm.ErrCode)
	require.ErrorContains(t, err, "wazero does not validate it")
}
