package blob

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"github.com/anekit/anekit/ane/mil"
)

// WriteFile writes the file to path. It replaces what is there in one step: on
// any fault the old file stays, and nothing half-written is left behind. A
// symbolic link at path is replaced, not followed.
func (w *Writer) WriteFile(path string) error {
	tmp, err := beside(path)
	if err != nil {
		return systemError(path, err)
	}
	err = w.fill(tmp)
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return systemError(path, err)
	}
	return nil
}

// beside creates a file of a new name in the directory of path.
func beside(path string) (*os.File, error) {
	for tries := 0; ; tries++ {
		name := fmt.Sprintf("%s.%08x.tmp", path, rand.Uint32())
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !os.IsExist(err) || tries == 100 {
			return f, err
		}
	}
}

// fill writes to f, brings it to the disk and closes it.
func (w *Writer) fill(f *os.File) error {
	buf := bufio.NewWriter(f)
	_, err := w.WriteTo(buf)
	if err == nil {
		err = buf.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// WriteCommunity writes one fp16 tensor in the form that many programs call the
// "128-byte header": this format with a single entry at 64, its payload at 128,
// and a length that fits 32 bits, since their readers look at no more.
func WriteCommunity(dst io.Writer, payload []byte) (int64, error) {
	if len(payload) > math.MaxUint32 {
		return 0, &Error{Offset: -1, Msg: fmt.Sprintf("%d bytes do not fit the 128-byte header form", len(payload)), Hint: "use Writer", Err: ErrSize}
	}
	var w Writer
	if _, err := w.Add(mil.FP16, payload, 0); err != nil {
		return 0, err
	}
	return w.WriteTo(dst)
}
