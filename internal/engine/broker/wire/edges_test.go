package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// TestFieldsInBytes compares a payload with the bytes that the format asks for: before each
// field a tag, its type in the low three bits and the number of the field above them.
func TestFieldsInBytes(t *testing.T) {
	e := Evaluate{Request: 1, QoS: 2, Sequence: 3, Deadline: 4}
	require.Equal(t, []byte{
		0<<3 | 2, 1, 0, 0, 0,
		1<<3 | 2, 2, 0, 0, 0,
		2<<3 | 3, 3, 0, 0, 0, 0, 0, 0, 0,
		3<<3 | 3, 4, 0, 0, 0, 0, 0, 0, 0,
	}, Append(nil, &e))
}

// Errors tell the byte at which the field begins, and count what is there and what is wanted.
func TestErrorsCountBytes(t *testing.T) {
	evaluate := Append(nil, &Evaluate{Request: 1})
	stats := Append(nil, &Stats{Counters: make([]Counter, 9)})
	frame := Frame{Kind: KindPing, Payload: make([]byte, 3)}.Append(nil)
	parse := func(p Payload, b []byte) error { return Parse(b, p) }
	receive := func(b []byte) error { _, err := ParseFrame(b); return err }
	for name, c := range map[string]struct {
		err  error
		want error
		at   int
		text string
	}{
		"cut number":  {parse(new(Evaluate), evaluate[:3]), ErrShort, 1, "2 bytes of 4"},
		"cut field":   {parse(new(Evaluate), evaluate[:5]), ErrShort, 5, "0 bytes of 1"},
		"other field": {parse(new(Evaluate), append(evaluate[:5:5], 0xff)), ErrOrder, 5, "tag 0xff"},
		"more":        {parse(new(Evaluate), append(evaluate, 1, 2, 3)), ErrTrailing, len(evaluate), "3 bytes after"},
		"long list":   {parse(new(Stats), stats[:7]), ErrShort, 5, "9 items in 2 bytes"},
		"queue depth": {Check(&Loaded{QueueDepth: 128}), ErrValue, 10, "128, at most 127"},
		"more frame":  {receive(append(frame, 1, 2)), ErrTrailing, 8, "2 bytes after 3"},
		"cut frame":   {receive(frame[:len(frame)-1]), ErrShort, 8, "2 bytes of 3"},
	} {
		var e *Error
		require.ErrorAs(t, c.err, &e, name)
		require.ErrorIs(t, c.err, c.want, name)
		require.Equal(t, c.at, e.At, "%s: %v", name, c.err)
		require.Contains(t, e.Detail, c.text, name)
	}
}

// The last value within each limit passes.
func TestValuesAtTheirLimits(t *testing.T) {
	layout := ane.Layout{DType: mil.UInt64}
	for _, p := range []Payload{
		&Loaded{QueueDepth: driverabi.QueueDepth}, &Fault{Failure: Failure{Op: strings.Repeat("o", MaxName)}},
		&Compiled{In: []ane.Layout{layout}},
	} {
		require.NoError(t, Check(p))
	}
	layout.DType++
	require.ErrorIs(t, Check(&Compiled{In: []ane.Layout{layout}}), ErrValue)
	detail := strings.Repeat("d", MaxText)
	var e *ane.Error
	require.ErrorAs(t, across(t, &ane.Error{Op: "bind", Detail: detail, Err: ane.ErrShape}), &e)
	require.Equal(t, detail, e.Detail, "not cut")
}

func TestErrorsOnOneLine(t *testing.T) {
	gone := errors.New("the peer is gone")
	for _, c := range []struct {
		err  *Error
		want string
	}{
		{&Error{Op: "open", Err: ErrSocket}, "wire: open: socket refused"},
		{&Error{Op: "receive", Kind: KindBind, Field: "length", At: 8, Err: ErrLong, Detail: "9", Cause: gone,
			Hint: "h"},
			"wire: receive bind: length at byte 8: too long: 9: the peer is gone; h"},
		{&Error{State: Answered, Detail: "the broker's words", Err: ane.ErrBusy}, "the broker's words"},
		{&Error{State: Answered, Err: ane.ErrBusy}, ane.ErrBusy.Error()},
		{&Error{State: Answered}, ""},
		{&Error{State: Lost, Err: ErrClosed, Cause: gone}, "the peer is gone"},
		{Denied("com.apple.ane.x"), ane.ErrDenied.Error() + ": com.apple.ane.x"},
	} {
		require.Equal(t, c.want, c.err.Error())
		for s := Refused; s <= InFlight; s++ {
			require.Equal(t, c.err.State == s, errors.Is(c.err, s), "%v is %v", c.err, s)
		}
	}
}

// A fault names one sentinel and at most MaxCauses others. A number of a later version is none.
func TestFaultsNameSomeSentinels(t *testing.T) {
	require.Greater(t, len(sentinels)-1, MaxCauses+1)
	f := NewFault(ane.Because(ane.ErrEngine, fmt.Errorf("all: %w", errors.Join(sentinels[1:]...))))
	require.Len(t, f.Causes, MaxCauses)
	require.NoError(t, Check(&f))
	later := Failure{Code: uint32(len(sentinels)), Text: "a later version"}
	require.ErrorContains(t, later.alone(), "a later version")
}

// Faults that are too long all together lose the last ones.
func TestFaultsThatAreTooLongTogether(t *testing.T) {
	long := strings.Repeat("m", MaxText)
	const whole = MaxLong / (2 * MaxText) // as many lines exceed MaxLong by their tags alone
	for _, lines := range [][]int{{whole}, {whole / 2, whole / 2}, {1, whole}} {
		var all []error
		for _, n := range lines {
			var list mil.ErrorList
			for i := range n {
				list.Add(&mil.Error{Pos: mil.Pos{Line: i + 1, Col: 1}, Msg: long, Hint: long})
			}
			all = append(all, &ane.Error{Op: "compile", Err: ane.Because(ane.ErrCompile, list)})
		}
		f := NewFault(errors.Join(all...))
		require.NoError(t, Check(&f))
		left := len(f.Lines)
		for _, also := range f.Also {
			left += len(also.Lines)
		}
		require.Less(t, left, whole)
		if lines[0] > 1 {
			require.EqualValues(t, 1, f.Lines[0].Line, "the first stay")
		}
	}
}

func TestTrafficAddsUp(t *testing.T) {
	a := Traffic{FramesIn: 1, BytesIn: 2, FramesOut: 4, BytesOut: 5}
	b := Traffic{FramesIn: 10, BytesIn: 20, FramesOut: 40, BytesOut: 50}
	require.Equal(t, Traffic{FramesIn: 11, BytesIn: 22, FramesOut: 44, BytesOut: 55}, a.Plus(b))
}
