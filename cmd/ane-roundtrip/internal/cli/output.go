package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/terminal"
	"github.com/anekit/anekit/internal/wholefile"
)

// CreateOutput starts writing a file; what names it in messages. The file is none that the command reads.
func (a *App) CreateOutput(what, path string) (*wholefile.File, error) {
	var infos []fs.FileInfo
	for _, s := range a.sources {
		infos = append(infos, s.info)
	}
	f, err := wholefile.Create(path, infos...)
	var taken *wholefile.SourceError
	if errors.As(err, &taken) {
		for _, s := range a.sources {
			if s.info == taken.Source {
				return nil, s.refuse(what, path)
			}
		}
	}
	if err != nil {
		return nil, CreateError(what, err)
	}
	err = a.replaces(what, path, f)
	switch r := a.ReportFile.File; {
	case err != nil:
	case r != nil && r.Same(f):
		err = Badf("%s and --report go to the same file %s; give each a different file", what, path)
	case f.Old() != nil && a.IsOutput(f.Old()):
		// The report would be written into the old file, which the new one replaces, or between the data.
		err = a.takeOutput(what)
	}
	if err != nil {
		f.Discard()
		return nil, err
	}
	return f, nil
}

// replaces returns an error if the output f, at path, would replace a file that the command reads.
func (a *App) replaces(what, path string, f *wholefile.File) error {
	old := f.Old()
	for _, s := range a.sources {
		if s.info == nil && f.Makes(s.path) ||
			s.info != nil && old != nil && old.Mode().IsRegular() && os.SameFile(old, s.info) {
			return s.refuse(what, path)
		}
	}
	return nil
}

// takeOutput gives standard output to the data of a flag, and sends the report to standard error from
// then on. Only one flag may have it.
func (a *App) takeOutput(what string) error {
	if a.stdout != "" {
		return Badf("%s and %s both go to standard output; give one of them a file", a.stdout, what)
	}
	a.stdout, a.data = what, a.Out
	a.Out = a.Err
	return nil
}

// standardOutput returns the file of standard output, also after it was taken; nil if it is no file.
func (a *App) standardOutput() *os.File {
	out := a.Out
	if a.stdout != "" {
		out = a.data
	}
	f, _ := out.(*os.File)
	return f
}

// IsOutput reports whether the file is standard output, which may be taken.
func (a *App) IsOutput(info fs.FileInfo) bool {
	f := a.standardOutput()
	if f == nil || info.Mode()&fs.ModeCharDevice != 0 {
		return false
	}
	standard, err := f.Stat()
	return err == nil && os.SameFile(info, standard)
}

// TakeOutput returns the writer for data on standard output, and sends the report to standard error
// from then on.
func (a *App) TakeOutput(what string) (io.Writer, error) {
	if err := a.takeOutput(what); err != nil {
		return nil, err
	}
	if err := a.CheckOutput(what); err != nil {
		return nil, err
	}
	if f := a.standardOutput(); f != nil && term.IsTerminal(int(f.Fd())) {
		return nil, Badf("%s: standard output is a terminal; send it to a file or a pipe", what)
	}
	signal.Ignore(syscall.SIGPIPE) // a closed pipe becomes an error of the write, so that deferred cleanup runs
	return a.data, nil
}

// TakeAnswer returns the writer for the answer of a command, which then has standard output for itself. The report goes
// to standard error, or nowhere if the command is quiet. With --json the object has the answer, and the writer discards
// it.
func (a *App) TakeAnswer(quiet bool) io.Writer {
	if a.JSON {
		return io.Discard
	}
	out := a.Out
	if a.Out = a.Err; quiet {
		a.Out = io.Discard
	}
	return out
}

// CheckOutput rejects standard output for the data of what if it is closed, since the runtime would discard the data.
// It also rejects a file that the command reads; a connection may be both.
func (a *App) CheckOutput(what string) error {
	if f := a.standardOutput(); f != nil && closed(f) {
		return Badf("%s: standard output is closed; send it to a file or a pipe", what)
	}
	for _, s := range a.sources {
		if s.info != nil && s.info.Mode()&fs.ModeSocket == 0 && a.IsOutput(s.info) {
			return s.refuse(what, "standard output")
		}
	}
	return nil
}

// closed reports whether standard output is the null device, open for reading too. The runtime opens it so in place of
// a standard output that is closed; a shell opens it for writing only.
func closed(f *os.File) bool {
	info, err := f.Stat()
	null, missing := os.Stat(os.DevNull)
	if err != nil || missing != nil || !os.SameFile(info, null) {
		return false
	}
	_, err = f.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

// Rewrite replaces the text of a file, as a flag asks, unless the file changed since the command read it.
func Rewrite(path string, read fs.FileInfo, text []byte, flag string) error {
	if !read.Mode().IsRegular() {
		return Badf("%s is not a regular file; leave %s out and redirect the output", path, flag)
	}
	f, err := wholefile.Create(path)
	if full(err) {
		return WriteError(path, err)
	}
	if err != nil {
		return Badf("%w; leave %s out, or make the file and its folder writable", err, flag)
	}
	defer f.Discard()
	now := f.Old()
	if now == nil || !os.SameFile(now, read) || now.Size() != read.Size() || !now.ModTime().Equal(read.ModTime()) {
		return Badf("%s was changed while it was read; run the command again", path)
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Commit()
	}
	return WriteError(path, err)
}

// full reports whether an error of the system is that of a full disk.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// CreateError is the error of a file that cannot be created; what names it. A full disk is no bad input.
func CreateError(what string, err error) error {
	if full(err) {
		return Failf("%s: %w; free space there, or name another file", what, err)
	}
	return Badf("%s: %w; name a file in a folder that exists and can be written", what, err)
}

// WriteError returns the error of a write to path, or nil. An error of the system, such as a full disk or
// a closed pipe, is no bad input: the run did not finish.
func WriteError(path string, err error) error {
	standard := path == Stdio
	if standard {
		path = "standard output"
	}
	var system syscall.Errno
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &system):
		return Badf("%s: %w", path, wholefile.Cause(err))
	case system == syscall.EPIPE || standard: // a reader has what it wanted; the shell chose the file
		return fmt.Errorf("%s: %w", path, system)
	case full(system):
		return Failf("%s: %w; free space there, or name another file", path, system)
	}
	return Failf("%s: %w; check the space and permissions at the destination", path, system)
}

// printError returns the error of a command. One of a write to standard output gets the name that other messages have.
func printError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) && path.Op == "write" && path.Path == os.Stdout.Name() {
		return WriteError(Stdio, path)
	}
	return err
}

// Counted formats a number with its noun in singular or plural.
func Counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// Logf prints a line to standard error for the reader, with control characters escaped; scripts do not
// parse it.
func (a *App) Logf(format string, args ...any) {
	fmt.Fprintln(a.Err, terminal.Fold(Visible(fmt.Sprintf(format, args...)), terminal.Width(a.Err), 2))
}

// Printf prints lines of the readable report to standard output.
func (a *App) Printf(format string, args ...any) error {
	_, err := io.WriteString(a.Out, terminal.Fold(fmt.Sprintf(format, args...), terminal.Width(a.Out), 2))
	return err
}

// Notes prints notes to standard error. It prints none where the JSON object goes to standard
// error too: the object contains them.
func (a *App) Notes(all []string) {
	if a.JSON && a.Out == a.Err {
		return
	}
	for _, n := range all {
		a.Logf("note: %s", n)
	}
}

// WriteText writes a text of a model, a guest or a program: to a terminal with what would control it escaped, else as
// it is.
func WriteText(w io.Writer, text string) error {
	if _, ok := terminal.Columns(w); ok {
		text = terminal.Inert(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// Visible returns s with invisible and control characters escaped as in Go.
func Visible(s string) string { return terminal.Visible(s) }
