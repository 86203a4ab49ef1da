package wholefile

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrIrregular: a pipe, a device or a folder, where Open and Read want a file.
var ErrIrregular = errors.New("not a regular file")

// Open opens a regular file. It refuses a pipe, which would block until a process writes, and a device, which may have
// no end: that error matches ErrIrregular.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %v", ErrIrregular, info.Mode())
	}
	return os.Open(path)
}

// Read reads a regular file of at most as many bytes as most says.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("more than %d bytes", most)
	}
	return data, err
}
