package blob

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/wholefile"
)

// WriteFile writes the file to path and replaces an existing file in one step: after
// an error the old file is unchanged, and no partial file remains. An existing file
// keeps its permissions, a symbolic link is followed, a device or pipe is written
// directly.
func (w *Writer) WriteFile(path string) error {
	err := wholefile.Replace(path, func(dst io.Writer) error {
		buf := bufio.NewWriter(dst)
		if _, err := w.WriteTo(buf); err != nil {
			return err
		}
		return buf.Flush()
	})
	if e := (*Error)(nil); errors.As(err, &e) { // a stream failed
		return named(e, path)
	}
	if err != nil {
		return systemError(path, err)
	}
	return nil
}

// WriteCommunity writes one fp16 tensor in the form that many programs call the
// "128-byte header": this format with a single entry at 64, its payload at 128,
// and a length below 2^32, because their readers read only 32 bits of it.
func WriteCommunity(dst io.Writer, payload []byte) (int64, error) {
	if len(payload) > math.MaxUint32 {
		return 0, &Error{Offset: -1, Msg: fmt.Sprintf("%d bytes do not fit the 128-byte header form", len(payload)),
			Hint: "use Writer", Err: ErrSize}
	}
	var w Writer
	if _, err := w.Add(mil.FP16, payload, 0); err != nil {
		return 0, err
	}
	return w.WriteTo(dst)
}
