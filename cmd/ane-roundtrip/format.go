package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/internal/wholefile"
)

func (a *app) formatCommand() *cobra.Command {
	var write bool
	var dialect string
	cmd := &cobra.Command{
		Use:   "fmt [-w] [--dialect old|new] FILE.mil",
		Short: "Print a MIL program in canonical form, with its comments",
		Long: `fmt prints a MIL program in canonical form: one statement per line, indented by
four blanks per level. It keeps comments, moves a comment within a statement
before it, and replaces several empty lines by one. Formatting the result again
does not change it. The file may be - for standard input. A terminal gets
control characters of comments escaped.

fmt keeps the dialect of the program. --dialect new writes program(1.3), opset
ios18 and plain scalars, int32(1); --dialect old writes program(1.0), opset
ios16 or ios17 and boxed scalars, tensor<int32, []>(1). fmt prints the place of
what the dialect cannot express, such as int4 in the old one.

With -w fmt replaces the file instead, if the text changed: completely, or not
at all if it fails.`,
		Example: `  ane-roundtrip fmt model.mil
  ane-roundtrip fmt -w model.mil
  ane-roundtrip fmt --dialect old model.mil`,
		Args: oneFile("FILE.mil"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.format(cmd.Context(), args[0], write, dialect)
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "replace the file instead of printing")
	cmd.Flags().StringVar(&dialect, "dialect", "", "`DIALECT` to convert to, old or new (default: that of the program)")
	a.reportFlag(cmd)
	return cmd
}

// oneFile accepts exactly one operand.
func oneFile(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return badf("operands: %d; give one, %s or -", len(args), name)
		}
		return nil
	}
}

// formatDetails are the fields that fmt adds to the report.
type formatDetails struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Bytes   int    `json:"bytes"` // of the formatted text
}

// format prints a formatted program, or replaces its file.
func (a *app) format(ctx context.Context, path string, write bool, dialect string) error {
	switch {
	case write && path == stdio:
		return badf("-w cannot replace standard input; name a file, or leave -w out")
	case a.json && !write:
		return badf("fmt without -w prints the program, not JSON; give --json with -w")
	}
	to, known := mil.ParseDialect(dialect)
	if dialect != "" && !known {
		return badf("--dialect %q; %s", dialect, near.Choices(dialect, "choose one of", []string{"old", "new"}))
	}
	files := &commandFiles{app: a}
	text, info, err := files.text(ctx, "fmt", path)
	if err != nil {
		return err
	}
	name := programName(path)
	format := mil.Format
	if known {
		format = func(name string, text []byte) ([]byte, error) { return mil.FormatAs(name, text, to) }
	}
	out, err := format(name, text)
	if err != nil {
		return bad(err)
	}
	if !write {
		if err := files.refuseInput("fmt"); err != nil {
			return err
		}
		if err := openOutput("fmt", a.out); err != nil {
			return err
		}
		return say(a.out, string(out))
	}
	changed := !bytes.Equal(text, out)
	if changed {
		if err := rewrite(path, info, out, "-w"); err != nil {
			return err
		}
	}
	r := newReport(nil)
	r.Details = formatDetails{path, changed, len(out)}
	a.deliver(r)
	return nil
}

// rewrite replaces the text of a file, as a flag asks, unless the file changed since the command read it.
func rewrite(path string, read fs.FileInfo, text []byte, flag string) error {
	if !read.Mode().IsRegular() {
		return badf("%s is not a regular file; leave %s out and redirect the output", path, flag)
	}
	f, err := wholefile.Create(path)
	if full(err) {
		return unwritten(path, err)
	}
	if err != nil {
		return badf("%w; leave %s out, or make the file and its folder writable", err, flag)
	}
	defer f.Discard()
	if now := f.Old(); now == nil || !sameState(read, now) {
		return badf("%s was changed while it was read; run the command again", path)
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Commit()
	}
	return unwritten(path, err)
}

// sameState reports whether a and b are the same file with the same size and time.
func sameState(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
