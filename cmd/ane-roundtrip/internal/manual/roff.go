package manual

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
)

// WriteManual prints the page of a command in the format of man(1), as of a day. cobra/doc has such pages too, by way
// of Markdown, whose reader takes its time at each start of the command.
func WriteManual(w io.Writer, c *cobra.Command, day time.Time) error {
	c.InitDefaultHelpFlag()
	name := manName(c)
	page := fmt.Sprintf(".nh\n.TH %q \"1\" %q %q \"anekit\"\n", strings.ToUpper(name), day.Format("Jan 2006"),
		"anekit "+cli.Version())
	for _, section := range []struct{ heading, text string }{
		{"NAME", name + " - " + roff(c.Short) + "\n"},
		{"SYNOPSIS", `\fB` + roff(c.UseLine()) + "\\fP\n"},
		{"DESCRIPTION", roffParagraphs(c.Long)},
		{"OPTIONS", manFlags(c.NonInheritedFlags())},
		{"EXAMPLE", roffCode(c.Example)},
		{"SEE ALSO", manRelated(c)},
	} {
		if section.text != "" {
			page += "\n.SH " + section.heading + "\n" + section.text + "\n"
		}
	}
	_, err := io.WriteString(w, page)
	return err
}

// manName is the name of a command's page, such as ane-roundtrip-run.
func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manFlags describes flags, each with its default value.
func manFlags(flags *pflag.FlagSet) string {
	var all []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name, value := `\fB--`+f.Name+`\fP`, "="+f.DefValue
		if f.Shorthand != "" {
			name = `\fB-` + f.Shorthand + `\fP, ` + name
		}
		if f.Value.Type() == "string" {
			value = fmt.Sprintf("=%q", f.DefValue)
		}
		if f.NoOptDefVal != "" { // its value can be left out
			value = "[" + value + "]"
		}
		text := regexp.MustCompile("^([^`]*)`([^`]*)`([^`]*)$"). // with the name of the value
										ReplaceAllString(roff(f.Usage), `${1}\fB${2}\fR${3}`)
		all = append(all, name+roff(value)+"\n\t"+text+"\n")
	})
	return strings.Join(all, "\n.PP\n")
}

// manRelated names the pages of the command above and of those below.
func manRelated(c *cobra.Command) string {
	var all []string
	for _, other := range append([]*cobra.Command{c.Parent()}, c.Commands()...) {
		if other != nil && (other == c.Parent() || other.IsAvailableCommand()) {
			all = append(all, `\fB`+manName(other)+`(1)\fP`)
		}
	}
	return strings.Join(all, ", ")
}

// roffParagraphs escapes the paragraphs of a text. One that is indented by four blanks is printed as it is.
func roffParagraphs(text string) string {
	var all []string
	for _, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if code, indented := strings.CutPrefix(p, "    "); indented {
			all = append(all, roffCode(strings.ReplaceAll(code, "\n    ", "\n")))
		} else {
			all = append(all, ".PP\n"+roff(p)+"\n")
		}
	}
	return strings.TrimPrefix(strings.Join(all, "\n"), ".PP\n")
}

// roffCode has a text printed as it is.
func roffCode(text string) string {
	if text == "" {
		return ""
	}
	return ".EX\n" + roff(text) + "\n.EE\n"
}

// roff escapes a text: backslashes, and what begins a request at the start of a line.
func roff(text string) string {
	return regexp.MustCompile(`(?m)^[.']`).ReplaceAllString(strings.ReplaceAll(text, `\`, `\e`), `\&$0`)
}
