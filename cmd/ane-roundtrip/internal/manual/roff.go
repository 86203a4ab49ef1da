package manual

import (
	"bytes"
	"fmt"
	"io"
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
	var b bytes.Buffer
	fmt.Fprintf(&b, ".nh\n.TH %q \"1\" %q %q \"anekit\"\n", strings.ToUpper(name), day.Format("Jan 2006"),
		"anekit "+cli.Version())
	section := func(heading string) { fmt.Fprintf(&b, "\n.SH %s\n", heading) }
	section("NAME")
	fmt.Fprintf(&b, "%s - %s\n\n", name, roff(c.Short))
	section("SYNOPSIS")
	fmt.Fprintf(&b, "\\fB%s\\fP\n\n", roff(c.UseLine()))
	section("DESCRIPTION")
	b.WriteString(roffParagraphs(c.Long) + "\n")
	section("OPTIONS")
	b.WriteString(strings.Join(manFlags(c.NonInheritedFlags()), "\n.PP\n") + "\n")
	if c.Example != "" {
		section("EXAMPLE")
		fmt.Fprintf(&b, ".EX\n%s\n.EE\n\n", roff(c.Example))
	}
	if all := manRelated(c); len(all) > 0 {
		section("SEE ALSO")
		b.WriteString(strings.Join(all, ", ") + "\n")
	}
	_, err := b.WriteTo(w)
	return err
}

// manName is the name of a command's page, such as ane-roundtrip-run.
func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manFlags describes flags, each with its default value.
func manFlags(flags *pflag.FlagSet) (all []string) {
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
		usage := strings.Split(f.Usage, "`")
		text := roff(f.Usage)
		if len(usage) == 3 { // the name of the value
			text = roff(usage[0]) + `\fB` + roff(usage[1]) + `\fR` + roff(usage[2])
		}
		all = append(all, name+roff(value)+"\n\t"+text+"\n")
	})
	return all
}

// manRelated names the pages of the command above and of those below.
func manRelated(c *cobra.Command) (all []string) {
	add := func(c *cobra.Command) { all = append(all, `\fB`+manName(c)+`(1)\fP`) }
	if c.HasParent() {
		add(c.Parent())
	}
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			add(below)
		}
	}
	return all
}

// roffParagraphs escapes the paragraphs of a text. One that is indented by four blanks is printed as it is.
func roffParagraphs(text string) string {
	var b strings.Builder
	for i, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		code, indented := strings.CutPrefix(p, "    ")
		switch {
		case indented:
			b.WriteString("\n.EX\n" + roff(strings.ReplaceAll(code, "\n    ", "\n")) + "\n.EE\n")
		case i > 0:
			b.WriteString("\n.PP\n" + roff(p) + "\n")
		default:
			b.WriteString(roff(p) + "\n")
		}
	}
	return b.String()
}

// roff escapes a text: backslashes, and what begins a request at the start of a line.
func roff(text string) string {
	text = strings.ReplaceAll(text, `\`, `\e`)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
