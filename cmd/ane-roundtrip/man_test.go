package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/manual"
	"github.com/anekit/anekit/internal/engine/broker"
)

// plainRoff returns the words of a manual page, with one blank between them.
func plainRoff(page string) string {
	page = regexp.MustCompile(`(?m)^\.(EX|EE|PP)$`).ReplaceAllString(page, "")
	page = regexp.MustCompile(`\\(f[A-Z]|&)`).ReplaceAllString(page, "")
	return oneBlank(strings.ReplaceAll(page, `\e`, `\`))
}

func oneBlank(s string) string { return strings.Join(strings.Fields(s), " ") }

// Every manual page has the texts of the help verbatim.
func TestManualHasTheHelp(t *testing.T) {
	t.Setenv(broker.Environment, "/tmp/_a_*b*/socket")
	a := cli.New(rootCommand, nil, nil, nil)
	root := a.Tree()
	for _, cmd := range append(root.Commands(), root) {
		var out, errw bytes.Buffer
		args := []string{"man"}
		if cmd != root {
			args = append(args, cmd.Name())
		}
		require.Equal(t, cli.CodePass, execute(t.Context(), args, &out, &errw), "%s", &errw)
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

// The help of every command fits 80 columns and 45 lines.
func TestHelpFits(t *testing.T) {
	t.Setenv(broker.Environment, "")
	t.Setenv("COLUMNS", "")
	n := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		var out, errw bytes.Buffer
		require.Equal(t, cli.CodePass, execute(t.Context(), append(strings.Fields(cmd.CommandPath())[1:], "--help"), &out,
			&errw), "%s", &errw)
		require.LessOrEqual(t, strings.Count(out.String(), "\n"), 45, "%s", cmd.CommandPath())
		for line := range strings.Lines(out.String()) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, "%s", line)
			n++
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(cli.New(rootCommand, nil, nil, nil).Tree())
	require.Greater(t, n, 400)
}

// Nothing in a text is read as a request or an escape sequence.
func TestManualOfRequests(t *testing.T) {
	text := `a 'b' \fBc .d`
	long := text + "\n.SH e\n'f\n\n    .code\n    'code'\n"
	cmd := &cobra.Command{Use: "x [-w] A|*", Short: text, Long: long, Run: func(*cobra.Command, []string) {}}
	cmd.Flags().String("flag", `_d\*`, "`N` of "+text)
	cmd.Flags().String("odd", "", "a ` b")
	var out bytes.Buffer
	require.NoError(t, manual.WriteManual(&out, cmd, time.Unix(0, 0).UTC()))
	page := out.String()
	require.Regexp(t, "^\\.nh\n\\.TH \"X\" \"1\" \"Jan 1970\" ", page)
	require.NotRegexp(t, `(?m)^('|\.(SH e|code))`, page)
	require.NotContains(t, page, `\fBc`)
	require.Contains(t, page, "\n.EX\n\\&.code\n\\&'code'\n.EE\n")
	require.Contains(t, page, "\\fB--odd\\fP=\"\"\n\ta ` b\n")
	page = plainRoff(page)
	require.Contains(t, page, oneBlank(long))
	require.Contains(t, page, "N of "+text)
	require.Contains(t, page, `--flag="_d\\*"`) // as Go quotes it
	require.Contains(t, page, `x [-w] A|* [flags]`)
}
