package main

import (
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
