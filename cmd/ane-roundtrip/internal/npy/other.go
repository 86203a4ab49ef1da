package npy

import (
	"strings"
	"unicode/utf8"
)

// NotSingle is the fault of an archive in place of a .npy file.
const NotSingle = "this is a .npz archive, not a .npy file"

// otherFile describes a file that is not a .npy file by its first bytes. It returns nil if they are the
// beginning of a .npy file.
func otherFile(start []byte) *Error {
	s := string(start)
	has := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(s, p) {
				return true
			}
		}
		return false
	}
	switch {
	case s == "":
		return &Error{What: "the file is empty", Fix: saveAgain}
	case strings.HasPrefix(magic, s), has(magic):
		return nil
	case has(zipStart, zipEmpty):
		return &Error{What: NotSingle, Fix: "name one of its arrays, as FILE.npz:KEY"}
	case has("\x80\x02", "\x80\x03", "\x80\x04", "\x80\x05"):
		return &Error{What: "this is a Python pickle, not a .npy file", Fix: saveAgain}
	case has("\x1f\x8b"):
		return &Error{What: "this is compressed with gzip", Fix: "unpack it first"}
	case has("\x89HDF"):
		return &Error{What: "this is an HDF5 file, not a .npy file", Fix: saveAgain}
	case utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < '\t' }):
		return &Error{What: "this is text, not a .npy file", Fix: saveAgain}
	}
	return &Error{What: "not a .npy file: it does not begin with \\x93NUMPY", Fix: saveAgain}
}

// First bytes of zip archives.
const (
	zipStart = "PK\x03\x04"
	zipEmpty = "PK\x05\x06"
)
