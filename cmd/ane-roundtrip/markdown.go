package main

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// forMarkdown escapes the texts of a command for doc.GenMan, which reads them as Markdown. It leaves
// examples, which GenMan prints as code.
func forMarkdown(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	cmd.Use, cmd.Short, cmd.Long = escaped(cmd.Use), escaped(cmd.Short), escapedLines(cmd.Long)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		usage := strings.Split(f.Usage, "`") // the name of the value is a code span
		for i := range usage {
			if i%2 == 0 || len(usage) != 3 {
				usage[i] = escaped(usage[i])
			}
		}
		f.Usage = strings.Join(usage, "`")
		if f.Value.Type() == "string" {
			f.Value, f.DefValue = quotedValue{f.Value}, escaped(strconv.Quote(f.DefValue))
		}
	})
}

// quotedValue is a string whose default value is quoted already. GenMan would quote one of type "string".
type quotedValue struct{ pflag.Value }

func (quotedValue) Type() string { return "quoted" }

var (
	// special matches the characters that Markdown may read as markup anywhere in a line.
	special = regexp.MustCompile("[\\\\`*_{}\\[\\]<>&|~#!]")
	// leading matches the start of a line that Markdown may read as a list, a definition or a heading.
	leading = regexp.MustCompile(`^( *)([-+:]|\d+\.)`)
)

// escaped escapes a line for Markdown.
func escaped(line string) string { return special.ReplaceAllString(line, `\$0`) }

// escapedLines escapes the lines of a text for Markdown, except for code: lines after an empty line that
// are indented by four blanks.
func escapedLines(text string) string {
	lines := strings.Split(text, "\n")
	code := true // or the line before is empty
	for i, line := range lines {
		code = line == "" || code && strings.HasPrefix(line, "    ")
		if code {
			continue
		}
		lines[i] = leading.ReplaceAllStringFunc(escaped(line), func(start string) string {
			return start[:len(start)-1] + `\` + start[len(start)-1:]
		})
	}
	return strings.Join(lines, "\n")
}
