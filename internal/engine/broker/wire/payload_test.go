package wire_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// sentinels are all that Parse may answer.
var sentinels = []error{wire.ErrShort, wire.ErrLong, wire.ErrTrailing, wire.ErrOrder, wire.ErrValue}

// requireTyped demands an error of the package with one of its sentinels.
func requireTyped(t *testing.T, err error, among ...error) {
	t.Helper()
	var typed *wire.Error
	require.ErrorAs(t, err, &typed)
	require.Contains(t, among, typed.Err)
	require.NotEmpty(t, typed.Field)
	require.Contains(t, err.Error(), typed.Field)
}

func TestPayloadsRoundTrip(t *testing.T) {
	for _, p := range samples() {
		require.NoError(t, wire.Check(p), nameOf(p))
		b := wire.Append([]byte("before"), p)
		require.True(t, bytes.HasPrefix(b, []byte("before")))
		got := fresh(p)
		require.NoError(t, wire.Parse(b[6:], got), nameOf(p))
		require.Equal(t, p, got)
		if fault, ok := p.(*wire.Fault); ok {
			require.Equal(t, fault.Lines, got.(*wire.Fault).Lines)
		}
	}
}

// What a payload held before does not show.
func TestParseReplacesEveryField(t *testing.T) {
	all := samples()
	for i, p := range all[:len(all)/2] {
		empty := all[len(all)/2+i]
		require.NoError(t, wire.Parse(wire.Append(nil, empty), p))
		require.Equal(t, empty, p)
	}
}

func TestTruncatedPayloads(t *testing.T) {
	for _, p := range samples() {
		b := wire.Append(nil, p)
		for n := range b {
			requireTyped(t, wire.Parse(b[:n:n], fresh(p)), wire.ErrShort)
		}
	}
}

func TestTrailingBytes(t *testing.T) {
	for _, p := range samples() {
		requireTyped(t, wire.Parse(append(wire.Append(nil, p), 0), fresh(p)), wire.ErrTrailing)
	}
}

// No bit of a payload can change without being refused or showing in a field.
func TestEveryBitCounts(t *testing.T) {
	for _, p := range samples() {
		b := wire.Append(nil, p)
		for i := range 8 * len(b) {
			b[i/8] ^= 1 << (i % 8)
			got := fresh(p)
			if err := wire.Parse(b, got); err != nil {
				requireTyped(t, err, sentinels...)
			} else {
				require.False(t, reflect.DeepEqual(p, got), "%s, bit %d", nameOf(p), i)
			}
			b[i/8] ^= 1 << (i % 8)
		}
	}
}

// Fields of the same type cannot take each other's place.
func TestReorderedFields(t *testing.T) {
	b := wire.Append(nil, &wire.Evaluate{Request: 1, QoS: 2, Sequence: 3, Deadline: 4})
	request, qos, rest := b[:5], b[5:10], b[10:]
	var e wire.Evaluate
	requireTyped(t, wire.Parse(bytes.Join([][]byte{qos, request, rest}, nil), &e), wire.ErrOrder)
	requireTyped(t, wire.Parse(bytes.Join([][]byte{request, rest}, nil), &e), wire.ErrOrder)
	requireTyped(t, wire.Parse(bytes.Join([][]byte{request, request, rest}, nil), &e), wire.ErrOrder)
	requireTyped(t, wire.Parse(wire.Append(nil, &wire.Done{Sequence: 3}), &e), wire.ErrOrder)
	require.NoError(t, wire.Parse(b, &e))
}

func TestLimits(t *testing.T) {
	for name, p := range beyond() {
		requireTyped(t, wire.Check(p), wire.ErrLong, wire.ErrValue)
		require.Error(t, wire.Parse(wire.Append(nil, p), fresh(p)), name)
	}
	huge := &wire.Compiled{Notes: make([]string, wire.MaxNotes)}
	for i := range huge.Notes {
		huge.Notes[i] = string(make([]byte, wire.MaxText))
	}
	requireTyped(t, wire.Check(huge), wire.ErrLong) // each note is within its limit, all together are not
}

// A short payload cannot make the reader allocate for a long list.
func TestListsAreNoBiggerThanTheirBytes(t *testing.T) {
	b := wire.Append(nil, &wire.Stats{Counters: make([]wire.Counter, wire.MaxCounters)})
	requireTyped(t, wire.Parse(b[:5], new(wire.Stats)), wire.ErrShort)
	require.Less(t, testing.AllocsPerRun(10, func() { _ = wire.Parse(b[:5], new(wire.Stats)) }), 8.0)
}

func TestEvaluateAllocatesNothing(t *testing.T) {
	buf := make([]byte, 0, 256)
	e, d := wire.Evaluate{Request: 1, Sequence: 2}, wire.Done{Sequence: 2}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		var gotE wire.Evaluate
		var gotD wire.Done
		if wire.Parse(wire.Append(buf, &e), &gotE) != nil || wire.Parse(wire.Append(buf, &d), &gotD) != nil {
			panic("refused")
		}
	}))
	require.LessOrEqual(t, wire.HeaderSize+len(wire.Append(nil, &e)), 64)
	require.LessOrEqual(t, wire.HeaderSize+len(wire.Append(nil, &d)), 64)
}

func TestKinds(t *testing.T) {
	require.Equal(t, "evaluate", wire.KindEvaluate.String())
	require.Equal(t, "evaluate reply", (wire.KindEvaluate | wire.Reply).String())
	require.Equal(t, "kind 0", wire.Kind(0).String())
	require.Equal(t, "kind 32784", (wire.KindFault | wire.Reply).String())
	for k := wire.KindHello; k <= wire.KindFault; k++ {
		require.NotEmpty(t, k.String())
		require.NotContains(t, k.String(), "kind")
	}
}
