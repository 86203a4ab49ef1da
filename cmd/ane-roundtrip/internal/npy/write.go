package npy

import (
	"archive/zip"
	"bytes"
	"io"

	"github.com/anekit/anekit/ane/mil"
)

// Write writes a to w, byte for byte as numpy.save does in version 1.0. Errors are of type *Error and wrap an error of
// w. After an error w may hold a part of the file.
func Write(w io.Writer, a *Array) error {
	n, ok := mil.TensorOf(a.Type, a.Shape...).Elements()
	if codes[a.Type] == "" || !ok || n*a.Type.Size() != len(a.Data) || len(a.Shape) > maxDimensions {
		return fault(0, "give an array of another type or shape", "%d bytes as %s of shape %v do not fit a .npy file",
			len(a.Data), Name(a.Type), a.Shape)
	}
	_, err := io.Copy(w, io.MultiReader(bytes.NewReader(appendHeader(a)), bytes.NewReader(a.Data)))
	return unwritten(err)
}

// Member is an array that WriteArchive writes.
type Member struct {
	Key   string
	Array *Array
}

// WriteArchive writes an .npz file as numpy.savez does: the members in their order, not compressed. Errors are of type
// *Error and wrap an error of w. After an error w may hold a part of the file.
func WriteArchive(w io.Writer, members []Member) error {
	z := zip.NewWriter(w)
	for _, m := range members {
		entry, err := z.CreateHeader(&zip.FileHeader{Name: m.Key + suffix, Method: zip.Store})
		if err == nil {
			err = Write(entry, m.Array)
		}
		if err != nil {
			return unwritten(err)
		}
	}
	return unwritten(z.Close())
}

func unwritten(err error) error {
	return inFile(err, "", "cannot write the array", "check the space and permissions at the destination")
}
