package require_test

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anekit/anekit/internal/require"
)

// recorder is a test that ends by a panic with its message.
type recorder struct {
	testing.TB
}

func (recorder) Helper()           {}
func (recorder) Fatal(args ...any) { panic(ended(fmt.Sprint(args...))) }

type ended string

// message returns what the assertion ends a test with, and "" if it does not end it.
func message(assert func(testing.TB)) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = string(v.(ended))
		}
	}()
	assert(recorder{})
	return ""
}

type number int

type pair struct{ a, b []float32 }

// TestAssertions: each assertion holds for the first value of a case and fails for the second.
func TestAssertions(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wrapped := fmt.Errorf("reading: %w", io.EOF)
	missing := &fs.PathError{Op: "open", Path: "x", Err: io.EOF}
	one, other := new(int), new(int)
	var null *int
	nan := math.NaN()
	for name, c := range map[string]struct {
		holds, fails func(testing.TB)
	}{
		"True": {
			func(t testing.TB) { require.True(t, true) },
			func(t testing.TB) { require.True(t, false) },
		},
		"False": {
			func(t testing.TB) { require.False(t, false) },
			func(t testing.TB) { require.False(t, true) },
		},
		"NoError": {
			func(t testing.TB) { require.NoError(t, nil) },
			func(t testing.TB) { require.NoError(t, io.EOF) },
		},
		"Error": {
			func(t testing.TB) { require.Error(t, io.EOF) },
			func(t testing.TB) { require.Error(t, nil) },
		},
		"ErrorIs": {
			func(t testing.TB) { require.ErrorIs(t, wrapped, io.EOF) },
			func(t testing.TB) { require.ErrorIs(t, wrapped, io.ErrNoProgress) },
		},
		"ErrorIs nil": {
			func(t testing.TB) { require.ErrorIs(t, nil, nil) },
			func(t testing.TB) { require.ErrorIs(t, nil, io.EOF) },
		},
		"NotErrorIs": {
			func(t testing.TB) { require.NotErrorIs(t, nil, io.EOF) },
			func(t testing.TB) { require.NotErrorIs(t, wrapped, io.EOF) },
		},
		"ErrorAs": {
			func(t testing.TB) { require.ErrorAs(t, missing, new(*fs.PathError)) },
			func(t testing.TB) { require.ErrorAs(t, wrapped, new(*fs.PathError)) },
		},
		"ErrorContains": {
			func(t testing.TB) { require.ErrorContains(t, wrapped, "ading") },
			func(t testing.TB) { require.ErrorContains(t, wrapped, "writ") },
		},
		"ErrorContains nil": {
			func(t testing.TB) { require.ErrorContains(t, wrapped, "") },
			func(t testing.TB) { require.ErrorContains(t, nil, "") },
		},
		"EqualError": {
			func(t testing.TB) { require.EqualError(t, io.EOF, "EOF") },
			func(t testing.TB) { require.EqualError(t, wrapped, "EOF") },
		},
		"EqualError nil": {
			func(t testing.TB) { require.EqualError(t, io.EOF, "EOF") },
			func(t testing.TB) { require.EqualError(t, nil, "") },
		},
		"Panics": {
			func(t testing.TB) { require.Panics(t, func() { panic(1) }) },
			func(t testing.TB) { require.Panics(t, func() {}) },
		},
		"PanicsWithValue": {
			func(t testing.TB) { require.PanicsWithValue(t, 1, func() { panic(1) }) },
			func(t testing.TB) { require.PanicsWithValue(t, 1, func() { panic(2) }) },
		},
		"no panic": {
			func(t testing.TB) { require.PanicsWithValue(t, "x", func() { panic("x") }) },
			func(t testing.TB) { require.PanicsWithValue(t, nil, func() {}) },
		},
		"Regexp": {
			func(t testing.TB) { require.Regexp(t, `^a+$`, "aa") },
			func(t testing.TB) { require.Regexp(t, `^a+$`, "ab") },
		},
		"FileExists": {
			func(t testing.TB) { require.FileExists(t, file) },
			func(t testing.TB) { require.FileExists(t, dir) },
		},
		"NoFileExists": {
			func(t testing.TB) { require.NoFileExists(t, dir) },
			func(t testing.TB) { require.NoFileExists(t, file) },
		},

		"Equal": {
			func(t testing.TB) { require.Equal(t, pair{a: []float32{1}}, pair{a: []float32{1}}) },
			func(t testing.TB) { require.Equal(t, pair{a: []float32{1}}, pair{b: []float32{1}}) },
		},
		"Equal types": {
			func(t testing.TB) { require.Equal(t, 1, 1) },
			func(t testing.TB) { require.Equal(t, 1, int64(1)) },
		},
		"Equal bytes": {
			func(t testing.TB) { require.Equal(t, []byte{1}, []byte{1}) },
			func(t testing.TB) { require.Equal(t, []byte{1}, []byte{2}) },
		},
		"Equal nil bytes": {
			func(t testing.TB) { require.Equal(t, []byte(nil), []byte(nil)) },
			func(t testing.TB) { require.Equal(t, []byte(nil), []byte{}) },
		},
		"Equal NaN": {
			func(t testing.TB) { require.Equal(t, 1.0, 1.0) },
			func(t testing.TB) { require.Equal(t, nan, nan) },
		},
		"NotEqual": {
			func(t testing.TB) { require.NotEqual(t, 1, 2) },
			func(t testing.TB) { require.NotEqual(t, 1, 1) },
		},
		"EqualValues": {
			func(t testing.TB) { require.EqualValues(t, 3, number(3)) },
			func(t testing.TB) { require.EqualValues(t, 3, number(4)) },
		},
		"EqualValues cut": {
			func(t testing.TB) { require.EqualValues(t, uint8(44), 44) },
			func(t testing.TB) { require.EqualValues(t, 300, uint8(44)) },
		},
		"EqualValues nil": {
			func(t testing.TB) { require.EqualValues(t, nil, nil) },
			func(t testing.TB) { require.EqualValues(t, nil, 0) },
		},
		"Same": {
			func(t testing.TB) { require.Same(t, one, one) },
			func(t testing.TB) { require.Same(t, one, other) },
		},
		"Same values": {
			func(t testing.TB) { require.Same(t, other, other) },
			func(t testing.TB) { require.Same(t, 1, 1) },
		},
		"NotSame": {
			func(t testing.TB) { require.NotSame(t, one, other) },
			func(t testing.TB) { require.NotSame(t, one, one) },
		},
		"NotSame values": {
			func(t testing.TB) { require.NotSame(t, one, other) },
			func(t testing.TB) { require.NotSame(t, 1, 2) },
		},
		"Nil": {
			func(t testing.TB) { require.Nil(t, nil) },
			func(t testing.TB) { require.Nil(t, one) },
		},
		"Nil pointer": {
			func(t testing.TB) { require.Nil(t, null) },
			func(t testing.TB) { require.Nil(t, 0) },
		},
		"Nil map": {
			func(t testing.TB) { require.Nil(t, map[int]int(nil)) },
			func(t testing.TB) { require.Nil(t, map[int]int{}) },
		},
		"NotNil": {
			func(t testing.TB) { require.NotNil(t, one) },
			func(t testing.TB) { require.NotNil(t, null) },
		},
		"Zero": {
			func(t testing.TB) { require.Zero(t, pair{}) },
			func(t testing.TB) { require.Zero(t, pair{a: []float32{}}) },
		},
		"Zero nil": {
			func(t testing.TB) { require.Zero(t, nil) },
			func(t testing.TB) { require.Zero(t, one) },
		},
		"NotZero": {
			func(t testing.TB) { require.NotZero(t, 1) },
			func(t testing.TB) { require.NotZero(t, 0) },
		},

		"Less": {
			func(t testing.TB) { require.Less(t, 1, 2) },
			func(t testing.TB) { require.Less(t, 2, 2) },
		},
		"Less durations": {
			func(t testing.TB) { require.Less(t, 1, time.Second) },
			func(t testing.TB) { require.Less(t, time.Hour, time.Second) },
		},
		"Less NaN": {
			func(t testing.TB) { require.Less(t, 1.5, 2) },
			func(t testing.TB) { require.Less(t, nan, 2) },
		},
		"LessOrEqual": {
			func(t testing.TB) { require.LessOrEqual(t, 2, 2) },
			func(t testing.TB) { require.LessOrEqual(t, 3, 2) },
		},
		"LessOrEqual NaN": {
			func(t testing.TB) { require.LessOrEqual(t, 2, 2.5) },
			func(t testing.TB) { require.LessOrEqual(t, nan, 2) },
		},
		"Greater": {
			func(t testing.TB) { require.Greater(t, 3, 2) },
			func(t testing.TB) { require.Greater(t, 2, 2) },
		},
		"Greater NaN": {
			func(t testing.TB) { require.Greater(t, 3, 2.5) },
			func(t testing.TB) { require.Greater(t, nan, 2) },
		},
		"GreaterOrEqual": {
			func(t testing.TB) { require.GreaterOrEqual(t, 2, 2) },
			func(t testing.TB) { require.GreaterOrEqual(t, 1, 2) },
		},
		"GreaterOrEqual NaN": {
			func(t testing.TB) { require.GreaterOrEqual(t, 2.5, 2) },
			func(t testing.TB) { require.GreaterOrEqual(t, nan, 2) },
		},
		"Positive": {
			func(t testing.TB) { require.Positive(t, 1) },
			func(t testing.TB) { require.Positive(t, 0) },
		},
		"Positive NaN": {
			func(t testing.TB) { require.Positive(t, 0.1) },
			func(t testing.TB) { require.Positive(t, nan) },
		},
		"InDelta": {
			func(t testing.TB) { require.InDelta(t, 1, 1.5, 0.5) },
			func(t testing.TB) { require.InDelta(t, 1, 1.5, 0.4) },
		},
		"InDelta NaN": {
			func(t testing.TB) { require.InDelta(t, nan, nan, 1) },
			func(t testing.TB) { require.InDelta(t, 1, nan, 1) },
		},
		"InDelta infinite": {
			func(t testing.TB) { require.InDelta(t, math.Inf(1), math.Inf(1), 1) },
			func(t testing.TB) { require.InDelta(t, math.Inf(1), 1, 1) },
		},
		"InEpsilon": {
			func(t testing.TB) { require.InEpsilon(t, -100, -101, 0.01) },
			func(t testing.TB) { require.InEpsilon(t, -100, -102, 0.01) },
		},
		"InEpsilon of 0": {
			func(t testing.TB) { require.InEpsilon(t, 2, 2, 0) },
			func(t testing.TB) { require.InEpsilon(t, 0, 0, 1) },
		},

		"Len": {
			func(t testing.TB) { require.Len(t, "ab", 2) },
			func(t testing.TB) { require.Len(t, []int{1}, 2) },
		},
		"Len of a number": {
			func(t testing.TB) { require.Len(t, map[int]int{}, 0) },
			func(t testing.TB) { require.Len(t, 0, 0) },
		},
		"Len of nil": {
			func(t testing.TB) { require.Len(t, []int(nil), 0) },
			func(t testing.TB) { require.Len(t, nil, 0) },
		},
		"Empty": {
			func(t testing.TB) { require.Empty(t, []int{}) },
			func(t testing.TB) { require.Empty(t, []int{0}) },
		},
		"Empty text": {
			func(t testing.TB) { require.Empty(t, "") },
			func(t testing.TB) { require.Empty(t, " ") },
		},
		"Empty pointer": {
			func(t testing.TB) { require.Empty(t, &[]int{}) },
			func(t testing.TB) { require.Empty(t, &[]int{0}) },
		},
		"Empty nil": {
			func(t testing.TB) { require.Empty(t, nil) },
			func(t testing.TB) { require.Empty(t, 1) },
		},
		"NotEmpty": {
			func(t testing.TB) { require.NotEmpty(t, map[int]int{1: 1}) },
			func(t testing.TB) { require.NotEmpty(t, map[int]int{}) },
		},
		"Contains": {
			func(t testing.TB) { require.Contains(t, "abc", "bc") },
			func(t testing.TB) { require.Contains(t, "abc", "ac") },
		},
		"Contains element": {
			func(t testing.TB) { require.Contains(t, []int{1, 2}, 2) },
			func(t testing.TB) { require.Contains(t, []int{1, 2}, 3) },
		},
		"Contains key": {
			func(t testing.TB) { require.Contains(t, map[string]int{"a": 1}, "a") },
			func(t testing.TB) { require.Contains(t, map[string]int{"a": 1}, "b") },
		},
		"Contains nothing": {
			func(t testing.TB) { require.Contains(t, [1]int{1}, 1) },
			func(t testing.TB) { require.Contains(t, nil, nil) },
		},
		"NotContains": {
			func(t testing.TB) { require.NotContains(t, "abc", "ac") },
			func(t testing.TB) { require.NotContains(t, "abc", "bc") },
		},
		"NotContains number": {
			func(t testing.TB) { require.NotContains(t, []int{1}, 2) },
			func(t testing.TB) { require.NotContains(t, 12, 1) },
		},
		"NotContains kind": {
			func(t testing.TB) { require.NotContains(t, map[string]int{}, "b") },
			func(t testing.TB) { require.NotContains(t, "abc", 1) },
		},
		"ElementsMatch": {
			func(t testing.TB) { require.ElementsMatch(t, []int{1, 2, 1}, []int{1, 1, 2}) },
			func(t testing.TB) { require.ElementsMatch(t, []int{1, 2, 1}, []int{1, 2, 2}) },
		},
		"ElementsMatch length": {
			func(t testing.TB) { require.ElementsMatch(t, []int{}, []int{}) },
			func(t testing.TB) { require.ElementsMatch(t, []int{1}, []int{1, 1}) },
		},
	} {
		if got := message(c.holds); got != "" {
			t.Errorf("%s fails: %s", name, got)
		}
		if message(c.fails) == "" {
			t.Errorf("%s does not fail", name)
		}
	}
}

// TestMessages: a failure says what it got, what it wants, where values differ, and the caller's words.
func TestMessages(t *testing.T) {
	for want, assert := range map[string]func(testing.TB){
		"got an error: EOF\nmodel 3": func(t testing.TB) { require.NoError(t, io.EOF, "model %d", 3) },
		"got true, want false\n100%": func(t testing.TB) { require.False(t, true, "100%") },
		"got true, want false\n7 8":  func(t testing.TB) { require.False(t, true, 7, 8) },
		"got  2\nwant 1":             func(t testing.TB) { require.Equal(t, 1, 2) },
		"got error reading: EOF\nwant in its chain: *fs.PathError": func(t testing.TB) {
			var e *fs.PathError
			require.ErrorAs(t, fmt.Errorf("reading: %w", io.EOF), &e)
		},
		"got 3, want at most 2": func(t testing.TB) { require.LessOrEqual(t, 3, 2) },
	} {
		if got := message(assert); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	got := message(func(t testing.TB) { require.Equal(t, pair{make([]float32, 9), nil}, pair{nil, nil}) })
	if !strings.Contains(got, "difference (-want +got)") {
		t.Error(got)
	}
	if got := message(func(t testing.TB) { require.Len(t, make([]byte, 1<<20), 1) }); len(got) > 8<<10 {
		t.Errorf("a message of %d bytes", len(got))
	}
}
