package wire_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// fuzzPayload feeds bytes to the payloads of one type. What is accepted is canonical and
// within the limits; what is refused says why. Seeds are the samples of the type.
func fuzzPayload(f *testing.F, example wire.Payload) {
	for _, p := range samples() {
		if nameOf(p) == nameOf(example) {
			f.Add(wire.Append(nil, p))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := fresh(example)
		if err := wire.Parse(b, p); err != nil {
			requireTyped(t, err, sentinels...)
			return
		}
		require.Equal(t, string(b), string(wire.Append(nil, p)))
		require.NoError(t, wire.Check(p))
		again := fresh(example)
		require.NoError(t, wire.Parse(wire.Append(nil, p), again))
		require.Equal(t, p, again)
	})
}

// FuzzFrame: a packet that is accepted is written the same way again.
func FuzzFrame(f *testing.F) {
	f.Add(wire.Frame{Kind: wire.KindEvaluate, ID: 7, Payload: wire.Append(nil, &wire.Evaluate{Request: 1})}.Append(nil))
	f.Add(wire.Frame{Kind: wire.KindFault, Flags: wire.FlagLong}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := wire.ParseFrame(b)
		if err == nil {
			require.Equal(t, string(b), string(frame.Append(nil)))
			return
		}
		var typed *wire.Error
		require.True(t, errors.As(err, &typed))
		require.NotEmpty(t, typed.Field)
		require.Nil(t, frame.Payload)
	})
}

func FuzzHello(f *testing.F)      { fuzzPayload(f, &wire.Hello{}) }
func FuzzHelloReply(f *testing.F) { fuzzPayload(f, &wire.HelloReply{}) }
func FuzzSurface(f *testing.F)    { fuzzPayload(f, &wire.Surface{}) }
func FuzzDrop(f *testing.F)       { fuzzPayload(f, &wire.Drop{}) }
func FuzzCompile(f *testing.F)    { fuzzPayload(f, &wire.Compile{}) }
func FuzzInstance(f *testing.F)   { fuzzPayload(f, &wire.Instance{}) }
func FuzzCompiled(f *testing.F)   { fuzzPayload(f, &wire.Compiled{}) }
func FuzzLoad(f *testing.F)       { fuzzPayload(f, &wire.Load{}) }
func FuzzLoaded(f *testing.F)     { fuzzPayload(f, &wire.Loaded{}) }
func FuzzUnload(f *testing.F)     { fuzzPayload(f, &wire.Unload{}) }
func FuzzRelease(f *testing.F)    { fuzzPayload(f, &wire.Release{}) }
func FuzzBind(f *testing.F)       { fuzzPayload(f, &wire.Bind{}) }
func FuzzBound(f *testing.F)      { fuzzPayload(f, &wire.Bound{}) }
func FuzzUnbind(f *testing.F)     { fuzzPayload(f, &wire.Unbind{}) }
func FuzzEvaluate(f *testing.F)   { fuzzPayload(f, &wire.Evaluate{}) }
func FuzzDone(f *testing.F)       { fuzzPayload(f, &wire.Done{}) }
func FuzzCancel(f *testing.F)     { fuzzPayload(f, &wire.Cancel{}) }
func FuzzCancelled(f *testing.F)  { fuzzPayload(f, &wire.Cancelled{}) }
func FuzzPurge(f *testing.F)      { fuzzPayload(f, &wire.Purge{}) }
func FuzzPurged(f *testing.F)     { fuzzPayload(f, &wire.Purged{}) }
func FuzzStats(f *testing.F)      { fuzzPayload(f, &wire.Stats{}) }
func FuzzEmpty(f *testing.F)      { fuzzPayload(f, &wire.Empty{}) }
func FuzzFault(f *testing.F)      { fuzzPayload(f, &wire.Fault{}) }
