package nvme

import (
	"errors"
	"io"

	"github.com/anekit/anekit/internal/dart"
)

// load reads k bytes of the media at off to a device address.
func (n *Controller) load(at, k uint64, off int64) Status {
	return moved(UnrecoveredReadErr, n.c.Table.Do(at, k, dart.Write, func(mem []byte) error {
		bounced, err := n.read(mem, off)
		if err != nil {
			return err
		}
		off += int64(len(mem))
		n.count(&n.stats.Read, len(mem), bounced)
		return nil
	}))
}

// read fills mem with the media at off. What lies after the end reads as zeros, but only within the last sector.
func (n *Controller) read(mem []byte, off int64) (bounced bool, err error) {
	a := int64(n.c.Align)
	last := min(off+int64(len(mem)), n.c.Size) // of the bytes that there are
	if off >= last {
		clear(mem)
		return false, nil
	}
	want := int(last - off)
	if a == 1 || off%a == 0 && int64(len(mem))%a == 0 && aligned(mem, n.c.Align) {
		got, err := full(n.c.Media, mem, off, want)
		if got < want {
			return false, err
		}
		clear(mem[want:])
		return false, nil
	}
	from := off - off%a
	own := alignedBytes(int((off+int64(len(mem))-from+a-1)/a*a), n.c.Align)
	need := int(last - from)
	if got, err := full(n.c.Media, own, from, need); got < need {
		return true, err
	}
	copy(mem, own[off-from:][:want])
	clear(mem[want:])
	return true, nil
}

// full reads at least need bytes to the beginning of mem, which may be longer. Reads that end early are repeated.
func full(media io.ReaderAt, mem []byte, off int64, need int) (got int, err error) {
	for got < need {
		k, err := media.ReadAt(mem[got:], off+int64(got))
		got += k
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return got, err
		}
		if k == 0 {
			return got, io.ErrNoProgress
		}
	}
	return got, nil
}
