package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
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
		require.Equal(t, want, cli.Visible(in))
	}
	require.Equal(t, `first; second \x1b]0;title`, cli.OneLine("first\nsecond \x1b]0;title"))
}

// Line breaks of names are escaped in messages; those between joined errors become semicolons.
func TestLineBreaksOfNames(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "m.mil")
	require.NoError(t, os.WriteFile(program, []byte("program(1.3)\n{\n    func main<ios18>(tensor<fp16, [4]> x) {\n"+
		"        tensor<fp16, [4]> y = add(x = x, y = x)[name = string(\"y\")];\n    } -> (y);\n}\n"), 0o600))
	missing := filepath.Join(dir, "no\r\nfile")
	shown := filepath.Join(dir, `no\r\nfile`)
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--mil: open " + shown + ": no such file or directory", []string{"run", "--mil", missing}},
		{"open " + shown + ".npy: no such file", []string{"run", "--engine", "soft", "--mil", program, "--in",
			"x=" + missing + ".npy"}},
		{shown + "/y.npy", []string{"run", "--engine", "soft", "--mil", program, "--fill", "ones", "--out",
			"y=" + missing + "/y.npy"}},
		{"open " + shown + ": no such file", []string{"inspect", missing}},
		{"open " + shown + ".png: no such file", []string{"image", "--filter", "blur", missing + ".png",
			filepath.Join(dir, "out.png")}},
		{"name it " + shown + ".png", []string{"image", "--filter", "blur", program, missing + ".jpg"}},
		{`unknown flag: --no\r\nflag; see ane-roundtrip run --help`, []string{"run", "--no\r\nflag"}},
	} {
		var out, errw bytes.Buffer
		require.Equal(t, cli.CodeUsage, execute(t.Context(), c.args, &out, &errw), "%q", c.args)
		require.Equal(t, 1, strings.Count(errw.String(), "\n"), "%q", errw.String())
		require.Contains(t, errw.String(), c.want)
	}
}

// Lines on standard error have control characters escaped, such as those of a path.
func TestLogEscapes(t *testing.T) {
	var errw bytes.Buffer
	(&cli.App{Err: &errw}).Logf("serving on %s", "/tmp/x\x1b[31m/y")
	require.Equal(t, "serving on /tmp/x\\x1b[31m/y\n", errw.String())
}
