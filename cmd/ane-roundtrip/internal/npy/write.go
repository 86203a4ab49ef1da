package npy

import (
	"io"

	"github.com/anekit/anekit/internal/wholefile"
)

// checkSpace is the remedy for a destination that takes no more.
const checkSpace = "check the space and permissions at the destination"

// Write writes a to w byte for byte as numpy.save would: version 1.0, or 2.0 if
// the header is too long for that. Errors are of type *Error and, for a fault of
// w, wrap its error; w may then hold a part.
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

// WriteFile writes a to the named file. The file appears complete or not at all:
// the array goes to a temporary file in the same folder, which then takes the
// name. An existing file keeps its permissions, a new one gets those that the
// umask leaves; a symbolic link is followed; a device or pipe is written
// directly. To stage several files use package wholefile with Write. Errors are
// of type *Error.
func WriteFile(path string, a *Array) error {
	err := a.check()
	if err == nil {
		err = wholefile.Replace(path, func(w io.Writer) error { return Write(w, a) })
	}
	return inFile(err, path, "cannot write the file", "check the folder, its space and permissions")
}
