package wholefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

var (
	// ErrIrregular: a pipe, a device or a folder, where Open and Read want a file.
	ErrIrregular = errors.New("not a regular file")
	// ErrLong: a file of more bytes than Read may read.
	ErrLong = errors.New("file too long")
)

// Open opens a regular file. It refuses a pipe, which would block until a process writes, and a device, which may have
// no end: that error matches ErrIrregular. It opens no device, unless another process puts one in the place of a file
// meanwhile.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := regular(info); err != nil {
		return nil, err
	}
	return openAny(path)
}

// openAny opens what path leads to, a pipe without waiting, and refuses all but a regular file.
func openAny(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		_ = f.Close() // it was not read
		return nil, err
	}
	return f, nil
}

func regular(info os.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%w: %v", ErrIrregular, info.Mode())
}

// Read reads a regular file of at most as many bytes as most says. The error matches ErrIrregular or ErrLong, or is
// that of the system.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrLong, most)
	}
	return data, err
}
