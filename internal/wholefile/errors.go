package wholefile

import (
	"errors"
	"io/fs"
	"os"
)

// Cause takes operation and path out of an error of package os or of this one,
// for a caller who names the path himself. Other errors are returned as is.
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

// fault makes an error that names the path as it was given, in place of that of
// a temporary file.
func fault(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: Cause(err)}
}
