package wholefile

import (
	"errors"
	"io/fs"
	"os"
)

// Cause removes operation and path from an error of package os or of this package, for a
// caller that adds the path itself. It returns other errors unchanged.
func Cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}

// fault returns an error with the given path instead of that of a temporary file.
func fault(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: Cause(err)}
}
