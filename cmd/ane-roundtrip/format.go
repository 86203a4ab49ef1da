package main

import (
	"bytes"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/wholefile"
)

func (a *app) formatCommand() *cobra.Command {
	var write bool
	cmd := &cobra.Command{
		Use:   "fmt [-w] FILE.mil",
		Short: "Print a MIL program in its canonical form, comments kept",
		Long: `fmt prints a MIL program in its canonical form: a statement a line, four
blanks of indentation a level. Comments are kept, and one of several empty
lines; a comment within a statement goes before it. Formatting twice changes
nothing more. The file may be - for standard input.

With -w the text goes back into the file, which appears complete or not at
all, and only if it changed.`,
		Example: `  ane-roundtrip fmt model.mil
  ane-roundtrip fmt -w model.mil`,
		Args: oneFile("FILE.mil"),
		RunE: func(_ *cobra.Command, args []string) error { return a.format(args[0], write) },
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write the result into the file")
	a.reportFlag(cmd)
	return cmd
}

// oneFile asks for a single operand.
func oneFile(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return badf("operands: %d; give one, %s or -", len(args), name)
		}
		return nil
	}
}

// formatDetails are what fmt adds to the report.
type formatDetails struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Bytes   int    `json:"bytes"` // of the formatted text
}

// format prints a program, or writes it back.
func (a *app) format(path string, write bool) error {
	switch {
	case write && path == stdio:
		return badf("-w writes into the file that is read; name a file, or leave -w away")
	case a.json && !write:
		return badf("fmt prints the program itself; give --json with -w")
	}
	files := &traffic{app: a}
	text, info, err := files.text("fmt", path)
	if err != nil {
		return err
	}
	name := path
	if path == stdio {
		name = "<stdin>"
	}
	out, err := mil.Format(name, text)
	if err != nil {
		return bad(err)
	}
	if !write {
		_, err := a.out.Write(out)
		return err
	}
	changed := !bytes.Equal(text, out)
	if changed {
		if err := rewrite(path, info, out); err != nil {
			return err
		}
	}
	r := newReport(nil)
	r.Details = formatDetails{path, changed, len(out)}
	a.deliver(r)
	return nil
}

// rewrite replaces the text of a file, if it still is the file that was read.
func rewrite(path string, read fs.FileInfo, text []byte) error {
	if !read.Mode().IsRegular() {
		return badf("%s is no regular file; leave -w away and send the text where it belongs", path)
	}
	f, err := wholefile.Create(path)
	if err != nil {
		return badf("%w; leave -w away, or make the file writable", err)
	}
	defer f.Discard()
	if now := f.Old(); now == nil || !sameState(read, now) {
		return badf("%s was changed while it was read; run fmt again", path)
	}
	if _, err := f.Write(text); err != nil {
		return bad(err)
	}
	return bad(f.Commit())
}

// sameState reports whether a file is the same, and unchanged.
func sameState(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
