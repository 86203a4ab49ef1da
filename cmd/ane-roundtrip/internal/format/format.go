package format

import (
	"bytes"
	"context"
	"slices"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/plist"
)

// options are the flags of fmt.
type options struct {
	list, write, diff bool
	dialect           string
}

// Command returns the command fmt.
func Command(a *cli.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "fmt [-l] [-w] [-d] [--dialect old|new] FILE ...",
		Short: "Print a MIL program in canonical form, with its comments",
		Long: `fmt prints a MIL program in canonical form: one statement per line, indented by
four blanks per level. It keeps comments, moves a comment within a statement
before it, and replaces several empty lines by one. Formatting the result again
does not change it. The file may be - for standard input, or a model of Core ML
(.mlpackage, .mlmodelc, .mlmodel), whose program fmt prints. A terminal gets
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
  ane-roundtrip fmt model.mlpackage >model.mil
  ane-roundtrip fmt -l -w *.mil
  ane-roundtrip fmt -d --dialect old model.mil`,
		RunE: func(cmd *cobra.Command, args []string) error { return format(a, cmd.Context(), args, o) },
	}
	f := cmd.Flags()
	f.BoolVarP(&o.list, "list", "l", false, "list the files whose formatting differs, instead of printing")
	f.BoolVarP(&o.write, "write", "w", false, "replace the files instead of printing")
	f.BoolVarP(&o.diff, "diff", "d", false, "print the differences instead of the program")
	a.PartFlag(cmd)
	f.StringVar(&o.dialect, "dialect", "", "`DIALECT` to convert to, old or new (default: that of the program)")
	a.JSONFlag(cmd)
	return cmd
}

// formatted is a program with its canonical form.
type formatted struct {
	*cli.Program
	canonical []byte
	differs   bool
}

// format formats all programs, and then prints, lists or replaces them.
func format(a *cli.App, ctx context.Context, paths []string, o options) error {
	to, known := mil.ParseDialect(o.dialect)
	switch {
	case len(paths) == 0:
		return cli.Badf("no program; give FILE.mil, a model, or -")
	case o.write && slices.Contains(paths, cli.Stdio):
		return cli.Badf("-w cannot replace standard input; name a file, or leave -w out")
	case a.JSON && (o.diff || !o.write && !o.list):
		return cli.Badf("fmt without -w or -l prints a program, not JSON; give --json with one of them, without -d")
	case a.JSON && len(paths) > 1:
		return cli.Badf("the JSON object of fmt is of one file, not of %d; give one", len(paths))
	case o.dialect != "" && !known:
		return cli.Badf("--dialect %q; %s", o.dialect, near.Choices(o.dialect, "choose one of", []string{"old", "new"}))
	}
	var all []formatted
	for _, path := range paths {
		p, err := a.ReadProgram(ctx, "fmt", path)
		if err != nil {
			return err
		}
		if o.write {
			if err := p.Writable("-w"); err != nil {
				return err
			}
		}
		f := formatted{Program: p}
		if known {
			f.canonical, err = mil.FormatAs(p.Name, p.Text, to)
		} else {
			f.canonical, err = mil.Format(p.Name, p.Text)
		}
		if err != nil {
			return cli.Bad(err)
		}
		f.differs = !bytes.Equal(p.Text, f.canonical)
		all = append(all, f)
	}
	if !o.write || o.list || o.diff {
		if err := a.CheckOutput("fmt"); err != nil {
			return err
		}
	}
	for _, f := range all {
		if err := f.print(a, o); err != nil {
			return err
		}
	}
	if a.JSON {
		f := all[0]
		a.Show(plist.Of("file", f.Path, "changed", f.differs, "bytes", len(f.canonical)), nil)
	}
	if o.diff && slices.ContainsFunc(all, func(f formatted) bool { return f.differs }) {
		return cli.Failed{What: "a check failed"}
	}
	return nil
}

// print does with a program what the flags ask.
func (f formatted) print(a *cli.App, o options) error {
	if !o.list && !o.write && !o.diff {
		return cli.WriteText(a.Out, string(f.canonical))
	}
	if !f.differs {
		return nil
	}
	name, text := cli.Visible(f.Name), ""
	if o.list && !a.JSON {
		text = name + "\n"
	}
	if o.diff {
		text += string(diff.Diff(name+".orig", f.Text, name, f.canonical))
	}
	if o.write {
		if err := cli.Rewrite(f.Path, f.Info, f.canonical, "-w"); err != nil {
			return err
		}
	}
	if text == "" {
		return nil
	}
	return cli.WriteText(a.Out, text)
}
