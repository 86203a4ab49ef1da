package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/lint"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "",
		"plain é 漢 file.npy":      "plain é 漢 file.npy",
		"\x1b[31mred\x1b[0m":      `\x1b[31mred\x1b[0m`,
		"a\tb\x00c\x7f":           `a\tb\x00c\x7f`,
		"bad \xff byte":           `bad \xff byte`,
		"\u202egnp.exe":           `\u202egnp.exe`,
		"zero\u200bwidth":         `zero\u200bwidth`,
		"\u0085next\u009bcontrol": `\u0085next\u009bcontrol`,
	} {
		require.Equal(t, want, visible(in))
	}
	require.Equal(t, `first; second \x1b]0;title`, oneLine("first\nsecond \x1b]0;title"))
}

// The name of a file in the line of a fault has line breaks escaped too.
func TestFaultText(t *testing.T) {
	e := &mil.Error{File: "a\nb\x1b.mil", Pos: mil.Pos{Line: 3, Col: 4}, Msg: "wrong", Hint: "mend it"}
	var w bytes.Buffer
	explain(t.Context(), &w, e, nil)
	require.Equal(t, `a\nb\x1b.mil:3:4: wrong; mend it`+"\n", w.String())
	require.Equal(t, `a\nb\x1b.mil:3:4: wrong`, failureOf(t.Context(), e, nil).Message)
	w.Reset()
	f := &lint.Finding{File: "a\nb.mil", Pos: e.Pos, Rule: &lint.Rule{ID: "r"}, Message: "wrong"}
	require.NoError(t, (&app{out: &w}).finding(f, 0, nil))
	require.Contains(t, w.String(), `a\nb.mil:3:4: `)
}

// Lines on standard error have control characters escaped, such as those of a path.
func TestLogEscapes(t *testing.T) {
	var errw bytes.Buffer
	(&app{err: &errw}).logf("serving on %s", "/tmp/x\x1b[31m/y")
	require.Equal(t, "serving on /tmp/x\\x1b[31m/y\n", errw.String())
}
