package nvme

import (
	"bytes"
	"errors"

	"github.com/anekit/anekit/internal/dart"
)

// flush syncs the media, so that they keep what was written before.
func (n *Controller) flush() Status {
	if n.c.Store != nil && n.c.Store.Sync() != nil {
		return WriteFault
	}
	return Success
}

// store writes k bytes at a device address to the media at off.
func (n *Controller) store(at, k uint64, off int64) Status {
	return moved(WriteFault, n.c.Table.Do(at, k, dart.Read, func(mem []byte) error {
		bounced, err := n.write(mem, off)
		if err != nil {
			return err
		}
		off += int64(len(mem))
		n.count(&n.stats.Written, len(mem), bounced)
		return nil
	}))
}

// errBeyond reports bytes other than zero for the part of the last sector that the media do not have.
var errBeyond = errors.New("nvme: data after the end of the media")

// write writes mem to the media at off. What lies after the end has to be zeros, and is dropped.
func (n *Controller) write(mem []byte, off int64) (bounced bool, err error) {
	a := int64(n.c.Align)
	here := max(0, min(int64(len(mem)), n.c.Size-off)) // bytes that the media have
	if len(bytes.Trim(mem[here:], "\x00")) > 0 {
		return false, errBeyond
	}
	if mem = mem[:here]; here == 0 {
		return false, nil
	}
	if a == 1 || off%a == 0 && here%a == 0 && aligned(mem, n.c.Align) {
		n.partial.RLock()
		defer n.partial.RUnlock()
		_, err := n.c.Store.WriteAt(mem, off)
		return false, err
	}
	n.partial.Lock()
	defer n.partial.Unlock()
	from := off - off%a
	own := alignedBytes(int((off+here-from+a-1)/a*a), n.c.Align)
	if got, err := full(n.c.Media, own, from, len(own)); got < len(own) {
		return true, err
	}
	copy(own[off-from:], mem)
	_, err = n.c.Store.WriteAt(own, from)
	return true, err
}
