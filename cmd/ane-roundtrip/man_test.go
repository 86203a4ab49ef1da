package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// plainRoff returns the words of a manual page, with one blank between them.
func plainRoff(page string) string {
	page = regexp.MustCompile(`(?m)^\.(EX|EE|PP|RS|RE|nh|nf|fi|ti.*)$`).ReplaceAllString(page, "")
	page = regexp.MustCompile(`\\(f[A-Z]|&)`).ReplaceAllString(page, "")
	page = strings.NewReplacer(`\\`, `\`, `\-`, "-", `\(ti`, "~", `\(ha`, "^", `\(ga`, "`").Replace(page)
	return oneBlank(page)
}

func oneBlank(s string) string { return strings.Join(strings.Fields(s), " ") }

// Every manual page has the texts of the help verbatim: no character is read as Markdown.
func TestManualHasTheHelp(t *testing.T) {
	t.Setenv(brokerVariable, "/tmp/_a_*b*/socket")
	a := &app{}
	root := a.root()
	for _, cmd := range append(root.Commands(), root) {
		var out, errw bytes.Buffer
		args := []string{"man"}
		if cmd != root {
			args = append(args, cmd.Name())
		}
		require.Equal(t, codePass, execute(t.Context(), args, &out, &errw), "%s", &errw)
		page := plainRoff(out.String())
		for _, text := range []string{cmd.UseLine(), cmd.Short, cmd.Long, cmd.Example} {
			require.Contains(t, page, oneBlank(text), "%s", out.String())
		}
		cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			require.Contains(t, page, "--"+f.Name)
			require.Contains(t, page, oneBlank(strings.ReplaceAll(f.Usage, "`", "")), "%s", out.String())
			switch {
			case f.Value.Type() != "string":
			case f.NoOptDefVal != "": // its value can be left out
				require.Contains(t, page, "--"+f.Name+`[="`+f.DefValue+`"]`)
			default:
				require.Contains(t, page, "--"+f.Name+`="`+f.DefValue+`"`)
			}
		})
	}
}

// The help of every command fits 80 columns.
func TestHelpFits(t *testing.T) {
	t.Setenv(brokerVariable, "")
	t.Setenv("COLUMNS", "")
	n := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		var out, errw bytes.Buffer
		require.Equal(t, codePass, execute(t.Context(), append(strings.Fields(cmd.CommandPath())[1:], "--help"), &out,
			&errw), "%s", &errw)
		for line := range strings.Lines(out.String()) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, "%s", line)
			n++
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit((&app{}).root())
	require.Greater(t, n, 400)
}

// Markdown reads none of these as markup.
func TestManualOfMarkup(t *testing.T) {
	text := "a *b* _c_ `d` [e](f) <g> &amp; 'x/*', '*/y' \\*z ~~q~~ ^r ![s]"
	long := text + "\n- i\n+ j\n1. k\n: l\n# m\n> n\n| o | p |\n---\nend\n\n    *code*\n"
	cmd := &cobra.Command{Use: "x [-w] A|*", Short: text, Long: long, Run: func(*cobra.Command, []string) {}}
	cmd.Flags().String("flag", "_d_*", text)
	var out bytes.Buffer
	require.NoError(t, writeManual(cmd, cmd, &out))
	page := plainRoff(out.String())
	require.Contains(t, page, oneBlank(long), "%s", out.String())
	require.Equal(t, 2, strings.Count(page, text), "%s", out.String())
	require.Contains(t, page, strings.ReplaceAll(text, "`", ""), "of the flag")
	require.Contains(t, page, `--flag="_d_*"`)
	require.Contains(t, page, `x [-w] A|* [flags]`)
}
