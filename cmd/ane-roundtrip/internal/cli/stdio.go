package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/anekit/anekit/internal/wholefile"
)

// Stdio is the operand that stands for standard input or standard output.
const Stdio = "-"

// source is a file that the command reads.
type source struct {
	what, path string // such as "--in x" and "x.npy"
	info       fs.FileInfo
}

// OpenInput opens a file that the command reads; what names it in messages. The caller closes it. The
// path "-" stands for standard input, which only one flag may read. Waits for data end with ctx.
func (a *App) OpenInput(ctx context.Context, what, path string) (*InputFile, error) {
	if path == Stdio {
		if a.stdin != "" {
			return nil, TwoReaders(a.stdin, what)
		}
		a.stdin = what
		return a.record(ctx, what, "standard input", os.Stdin)
	}
	f, err := openInput(ctx, path)
	if err != nil {
		return nil, Badf("%s: %w; give the path of a file that can be read", what, err)
	}
	return a.record(ctx, what, path, f)
}

// TwoReaders is the error for two flags that read standard input, or for one that lint reads for several programs.
func TwoReaders(a, b string) error {
	if a == b {
		return Badf("%s is read once for each program, which standard input cannot be; give it a file", a)
	}
	return Badf("%s and %s both read standard input; give one of them a file", a, b)
}

// record keeps the identity of an open file.
func (a *App) record(ctx context.Context, what, path string, f *os.File) (*InputFile, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(Badf("%s: %w", what, err), f.Close())
	}
	a.sources = append(a.sources, source{what, path, info})
	if err := a.CheckReport(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return newInputFile(ctx, f, info), nil
}

// RecordInput keeps the identity of a file that the engine reads, or its path if it does not exist.
func (a *App) RecordInput(what, path string) {
	switch info, err := os.Stat(path); {
	case err == nil:
		a.sources = append(a.sources, source{what, path, info})
	case errors.Is(err, fs.ErrNotExist):
		a.missing = append(a.missing, source{what: what, path: path})
	}
}

// CreateOutput starts writing a file; what names it in messages.
func (a *App) CreateOutput(what, path string) (*wholefile.File, error) {
	f, err := wholefile.Create(path, a.infos()...)
	var taken *wholefile.SourceError
	if errors.As(err, &taken) {
		return nil, a.refuse(what, path, taken.Source)
	}
	if err != nil {
		return nil, CreateError(what, err)
	}
	for _, s := range a.missing {
		if f.Makes(s.path) {
			f.Discard()
			return nil, Badf("%s: %s is the path of %s (%s); name another file", what, path, s.what, s.path)
		}
	}
	if r := a.ReportFile.File; r != nil && r.Same(f) {
		f.Discard()
		return nil, Badf("%s and --report go to the same file %s; give each a different file", what, path)
	}
	if f.Old() != nil && a.IsOutput(f.Old()) {
		// The report would be written into the old file, which the new one replaces, or between the data.
		if err := a.takeOutput(what); err != nil {
			f.Discard()
			return nil, err
		}
	}
	return f, nil
}

func (a *App) infos() []fs.FileInfo {
	var infos []fs.FileInfo
	for _, s := range a.sources {
		infos = append(infos, s.info)
	}
	return infos
}

// refuse is the error for an output that would replace the input taken.
func (a *App) refuse(what, path string, taken fs.FileInfo) error {
	for _, s := range a.sources {
		if os.SameFile(s.info, taken) {
			return Badf("%s: %s is the file that %s reads (%s); name another file", what, path, s.what, s.path)
		}
	}
	return Badf("%s: %s is a file that this command reads; name another file", what, path)
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

// standardOutput returns standard output, also after it was taken.
func (a *App) standardOutput() io.Writer {
	if a.stdout != "" {
		return a.data
	}
	return a.Out
}

// IsOutput reports whether the file is standard output, which may be taken.
func (a *App) IsOutput(info fs.FileInfo) bool {
	f, ok := a.standardOutput().(*os.File)
	if !ok || info.Mode()&fs.ModeCharDevice != 0 {
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
	out := a.data
	if err := a.CheckOutput(what); err != nil {
		return nil, err
	}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return nil, Badf("%s: standard output is a terminal; send it to a file or a pipe", what)
	}
	signal.Ignore(syscall.SIGPIPE) // a closed pipe becomes an error of the write, so that deferred cleanup runs
	return out, nil
}

// CheckOutput rejects standard output for the data of what if it is closed, since the runtime would discard the data,
// or if it is a file that the command reads. A connection may be both.
func (a *App) CheckOutput(what string) error {
	if f, ok := a.standardOutput().(*os.File); ok && mayBeClosed(f) {
		return Badf("%s: standard output is closed; send it to a file or a pipe", what)
	}
	for _, s := range a.sources {
		if s.info.Mode()&fs.ModeSocket == 0 && a.IsOutput(s.info) {
			return a.refuse(what, "standard output", s.info)
		}
	}
	return nil
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
	if err == nil {
		return nil
	}
	const standardOutput = "standard output"
	if path == Stdio {
		path = standardOutput
	}
	var system syscall.Errno
	switch {
	case !errors.As(err, &system):
	case system == syscall.EPIPE, path == standardOutput: // a reader has what it wanted; the shell chose the file
		return fmt.Errorf("%s: %w", path, system)
	case full(system):
		return Failf("%s: %w; free space there, or name another file", path, system)
	default:
		return Failf("%s: %w; check the space and permissions at the destination", path, system)
	}
	return Badf("%s: %w", path, wholefile.Cause(err))
}

// unprinted returns the error of a command. One of a write to standard output gets the name that other messages have.
func unprinted(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) && path.Op == "write" && path.Path == os.Stdout.Name() {
		return WriteError(Stdio, path)
	}
	return err
}

// checkedWriter keeps the first error of a writer, for cobra, which ignores it.
type checkedWriter struct {
	io.Writer
	err error
}

func (c *checkedWriter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	if c.err == nil {
		c.err = err
	}
	return n, err
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
	if now := f.Old(); now == nil || !sameState(read, now) {
		return Badf("%s was changed while it was read; run the command again", path)
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Commit()
	}
	return WriteError(path, err)
}

// sameState reports whether a and b are the same file with the same size and time.
func sameState(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
