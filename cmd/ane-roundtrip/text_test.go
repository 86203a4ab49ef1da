package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
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

// Lines on standard error have control characters escaped, such as those of a path.
func TestLogEscapes(t *testing.T) {
	var errw bytes.Buffer
	(&app{err: &errw}).logf("serving on %s", "/tmp/x\x1b[31m/y")
	require.Equal(t, "serving on /tmp/x\\x1b[31m/y\n", errw.String())
}
