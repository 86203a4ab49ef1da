package npy

import (
	"io"

	"github.com/anekit/anekit/internal/wholefile"
)

// checkSpace is the remedy for a failed write.
const checkSpace = "check the space and permissions at the destination"

// Write writes a to w, byte for byte as numpy.save does: version 1.0, or 2.0 if the header is too long
// for 1.0. Errors are of type *Error and wrap an error of w. After an error w may hold a part of the
// file.
func Write(w io.Writer, a *Array) error {
	if err := a.check(); err != nil {
		return err
	}
	head, err := appendHeader(a)
	if err != nil {
		return err
	}
	for _, part := range [][]byte{head, a.Data} {
		if len(part) == 0 {
			continue
		}
		n, err := w.Write(part)
		if err == nil && n < len(part) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return &Error{What: "cannot write the array", Fix: checkSpace, Err: wholefile.Cause(err)}
		}
	}
	return nil
}

// WriteFile writes a to the named file, completely or not at all: it writes a temporary file in the same
// folder and renames it. An existing file keeps its permissions, a new one gets those of the umask.
// WriteFile follows a symbolic link, and writes directly to a device or pipe. Use package wholefile with
// Write to replace several files together. Errors are of type *Error.
func WriteFile(path string, a *Array) error {
	err := a.check()
	if err == nil {
		err = wholefile.Replace(path, func(w io.Writer) error { return Write(w, a) })
	}
	return inFile(err, path, "cannot write the file", "check the folder, its space and permissions")
}
