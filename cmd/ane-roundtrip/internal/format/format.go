package format

import (
	"bytes"
	"context"
	"io/fs"
	"slices"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/near"
)

// formatOptions are the flags of fmt.
type formatOptions struct {
	list, write, diff bool
	dialect           string
}

// Command returns the command fmt.
func Command(a *cli.App) *cobra.Command {
	var o formatOptions
	cmd := &cobra.Command{
		Use:   "fmt [-l] [-w] [-d] [--dialect old|new] FILE.mil ...",
		Short: "Print a MIL program in canonical form, with its comments",
		Long: `fmt prints a MIL program in canonical form: one statement per line, indented by
four blanks per level. It keeps comments, moves a comment within a statement
before it, and replaces several empty lines by one. Formatting the result again
does not change it. The file may be - for standard input. A terminal gets
control characters of comments escaped.

-l, -w and -d are those of gofmt, alone or together: list the files whose
formatting differs, replace them, print the differences. With -d the status is
1 if there are any. fmt replaces a file completely, or not at all; after an
error in one file it replaces and prints none.

fmt keeps the dialect of the program. --dialect new writes program(1.3), opset
ios18 and plain scalars, int32(1); --dialect old writes program(1.0), opset
ios16 or ios17 and boxed scalars, tensor<int32, []>(1). fmt prints the place of
what the dialect cannot express, such as int4 in the old one.`,
		Example: `  ane-roundtrip fmt model.mil
  ane-roundtrip fmt -l -w *.mil
  ane-roundtrip fmt -d --dialect old model.mil`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Badf("no program; give FILE.mil, or -")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return format(a, cmd.Context(), args, o) },
	}
	f := cmd.Flags()
	f.BoolVarP(&o.list, "list", "l", false, "list the files whose formatting differs, instead of printing")
	f.BoolVarP(&o.write, "write", "w", false, "replace the files instead of printing")
	f.BoolVarP(&o.diff, "diff", "d", false, "print the differences instead of the program")
	f.StringVar(&o.dialect, "dialect", "", "`DIALECT` to convert to, old or new (default: that of the program)")
	a.JSONFlag(cmd)
	return cmd
}

// formatDetails are the fields that fmt adds to the report.
type formatDetails struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Bytes   int    `json:"bytes"` // of the formatted text
}

// formatted is a program in canonical form.
type formatted struct {
	path, name string // name: in messages
	info       fs.FileInfo
	old, text  []byte
}

// differs reports whether the program was not in canonical form.
func (f *formatted) differs() bool { return !bytes.Equal(f.old, f.text) }

// format formats all programs, and then prints, lists or replaces them.
func format(a *cli.App, ctx context.Context, paths []string, o formatOptions) error {
	switch {
	case o.write && slices.Contains(paths, cli.Stdio):
		return cli.Badf("-w cannot replace standard input; name a file, or leave -w out")
	case a.JSON && (o.diff || !o.write && !o.list):
		return cli.Badf("fmt without -w or -l prints a program, not JSON; give --json with one of them, without -d")
	case a.JSON && len(paths) > 1:
		return cli.Badf("the JSON object of fmt is of one file, not of %d; give one", len(paths))
	}
	var all []*formatted
	for _, path := range paths {
		f, err := read(a, ctx, path, o.dialect)
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	if !o.write || o.list || o.diff {
		if err := a.CheckOutput("fmt"); err != nil {
			return err
		}
	}
	differ := false
	for _, f := range all {
		differ = differ || f.differs()
		if err := f.print(a, o); err != nil {
			return err
		}
	}
	if a.JSON {
		r := cli.NewReport(nil)
		r.Details = formatDetails{all[0].path, all[0].differs(), len(all[0].text)}
		a.Deliver(r)
	}
	if o.diff && differ {
		return cli.Failed{What: "a check failed"}
	}
	return nil
}

// read reads a program and formats it.
func read(a *cli.App, ctx context.Context, path, dialect string) (*formatted, error) {
	to, known := mil.ParseDialect(dialect)
	if dialect != "" && !known {
		return nil, cli.Badf("--dialect %q; %s", dialect, near.Choices(dialect, "choose one of", []string{"old", "new"}))
	}
	f := &formatted{path: path, name: cli.ProgramName(path)}
	var err error
	if f.old, f.info, err = a.ReadProgram(ctx, "fmt", path); err != nil {
		return nil, err
	}
	if known {
		f.text, err = mil.FormatAs(f.name, f.old, to)
	} else {
		f.text, err = mil.Format(f.name, f.old)
	}
	return f, cli.Bad(err)
}

// print does with a program what the flags ask.
func (f *formatted) print(a *cli.App, o formatOptions) error {
	if !o.list && !o.write && !o.diff {
		return cli.WriteText(a.Out, string(f.text))
	}
	if !f.differs() {
		return nil
	}
	if o.list && !a.JSON {
		if err := cli.WriteText(a.Out, cli.Visible(f.name)+"\n"); err != nil {
			return err
		}
	}
	if o.write {
		if err := cli.Rewrite(f.path, f.info, f.text, "-w"); err != nil {
			return err
		}
	}
	if o.diff {
		name := cli.Visible(f.name)
		return cli.WriteText(a.Out, string(diff.Diff(name+".orig", f.old, name, f.text)))
	}
	return nil
}
