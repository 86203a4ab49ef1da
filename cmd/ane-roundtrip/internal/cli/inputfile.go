package cli

import (
	"context"
	"io/fs"
	"os"
)

// InputFile is an open file that the command reads. When the command is interrupted, reads end with the error of the
// context, also those of a pipe, a terminal or a device, whose data may never come.
type InputFile struct {
	ctx     context.Context
	file    *os.File
	regular bool
	buffer  []byte // of a file that is not regular; nil while a read that was given up may still write to it
}

func newInputFile(ctx context.Context, f *os.File, info fs.FileInfo) *InputFile {
	return &InputFile{ctx: ctx, file: f, regular: info.Mode().IsRegular()}
}

// openInput opens the file at path. It waits for the writer of a pipe until ctx ends.
func openInput(ctx context.Context, path string) (*os.File, error) {
	return untilDone(ctx, func() (*os.File, error) { return os.Open(path) })
}

// Read implements io.Reader.
func (f *InputFile) Read(b []byte) (int, error) {
	if f.regular {
		if err := f.ctx.Err(); err != nil {
			return 0, err // a decoder of a large file goes on for seconds
		}
		return f.file.Read(b)
	}
	buffer := f.buffer
	if f.buffer = nil; buffer == nil {
		buffer = make([]byte, maxPipe)
	}
	buffer = buffer[:min(len(b), maxPipe)]
	n, err := untilDone(f.ctx, func() (int, error) { return f.file.Read(buffer) })
	if f.ctx.Err() == nil {
		f.buffer = buffer[:maxPipe]
	}
	return copy(b, buffer[:n]), err
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
func (f *InputFile) Close() error { return f.file.Close() }

// maxPipe is how much one read takes from a pipe: as much as a pipe of Linux holds.
const maxPipe = 64 << 10

// untilDone returns the results of wait, or the error of ctx if that ends first; wait then goes on in its goroutine,
// until the process ends.
func untilDone[T any](ctx context.Context, wait func() (T, error)) (T, error) {
	type results struct {
		v   T
		err error
	}
	done := make(chan results, 1)
	go func() {
		v, err := wait()
		done <- results{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
