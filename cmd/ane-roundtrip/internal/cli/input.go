package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
)

// Stdio is the operand that stands for standard input or standard output.
const Stdio = "-"

// source is a file that the command reads.
type source struct {
	what, path string      // such as "--in x" and "x.npy"
	info       fs.FileInfo // nil for a file that does not exist yet
}

// refuse is the error for an output of what, called path, that would replace s.
func (s source) refuse(what, path string) error {
	is := "the file that " + s.what + " reads"
	if s.info == nil {
		is = "the path of " + s.what
	}
	return Badf("%s: %s is %s (%s); name another file", what, path, is, s.path)
}

// Input is a file that a command line names as input; without a path it is none.
type Input struct{ Flag, Path string }

// RecordInput keeps the identity of a file that the engine reads, or its path if it does not exist.
func (a *App) RecordInput(what, path string) {
	s := source{what: what, path: path}
	var err error
	switch path {
	case "":
		return
	case Stdio:
		s.path = "standard input"
		s.info, err = os.Stdin.Stat()
	default:
		s.info, err = os.Stat(path)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		a.sources = append(a.sources, s)
	}
}

// OpenInput opens a file that the command reads; what names it in messages. The caller closes it. The
// path "-" stands for standard input, which only one flag may read. Waits for data end with ctx.
func (a *App) OpenInput(ctx context.Context, what, path string) (*InputFile, error) {
	f, name := os.Stdin, "standard input"
	switch {
	case path != Stdio:
		var err error
		if f, err = openFile(ctx, path); err != nil {
			return nil, Badf("%s: %w; give the path of a file that can be read", what, err)
		}
		name = path
	case a.stdin != "":
		return nil, TwoReaders(a.stdin, what)
	default:
		a.stdin = what
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(Badf("%s: %w", what, err), f.Close())
	}
	a.sources = append(a.sources, source{what, name, info})
	if err := a.CheckReport(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return newInputFile(ctx, f, info), nil
}

// openFile opens the file at path. It waits for the writer of a pipe until ctx ends; its goroutine waits until the
// process ends.
func openFile(ctx context.Context, path string) (f *os.File, err error) {
	done := make(chan func(), 1)
	go func() {
		opened, failed := os.Open(path)
		done <- func() { f, err = opened, failed }
	}()
	select {
	case opened := <-done:
		opened()
		return f, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TwoReaders is the error for two flags that read standard input, or for one that lint reads for several programs.
func TwoReaders(a, b string) error {
	if a == b {
		return Badf("%s is read once for each program, which standard input cannot be; give it a file", a)
	}
	return Badf("%s and %s both read standard input; give one of them a file", a, b)
}

// InputFile is an open file that the command reads. When the command is interrupted, reads end with the error of the
// context, also those of a pipe, a terminal or a device, whose data may never come.
type InputFile struct {
	ctx  context.Context
	file *os.File
	info fs.FileInfo    // of the file when it was opened
	data *io.PipeReader // of a file that is not regular; else nil
}

func newInputFile(ctx context.Context, file *os.File, info fs.FileInfo) *InputFile {
	f := &InputFile{ctx: ctx, file: file, info: info}
	if !info.Mode().IsRegular() {
		data, to := io.Pipe()
		f.data = data
		context.AfterFunc(ctx, func() { to.CloseWithError(ctx.Err()) })
		go func() { // it may wait for data until the process ends
			_, err := io.Copy(to, file)
			to.CloseWithError(err)
		}()
	}
	return f
}

// Read implements io.Reader.
func (f *InputFile) Read(b []byte) (int, error) {
	if f.data != nil {
		return f.data.Read(b)
	}
	if err := f.ctx.Err(); err != nil {
		return 0, err // a decoder of a large file goes on for seconds
	}
	return f.file.Read(b)
}

// ReadAt implements io.ReaderAt, for a regular file.
func (f *InputFile) ReadAt(b []byte, at int64) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.file.ReadAt(b, at)
}

// Stat describes the file.
func (f *InputFile) Stat() (fs.FileInfo, error) { return f.file.Stat() }

// Close closes the file.
func (f *InputFile) Close() error {
	if f.data != nil {
		f.data.Close()
	}
	return f.file.Close()
}
