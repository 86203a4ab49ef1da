package trial

import (
	"errors"
	"os"
	"reflect"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/access"
	"github.com/anekit/anekit/internal/procmem"
)

// view is the bytes of a tensor as the caller or the engine maps them: memory of this process, or of another one.
type view struct {
	size    int
	here    []byte // nil in another process
	pid     int    // of that process; 0 is this one
	address uint64 // in the process that maps the bytes

	sealed bool            // the system shows what the process has mapped, and not the bytes
	last   procmem.Mapping // in which the last byte was that mapping looked up
}

func local(b []byte) *view {
	return &view{size: len(b), here: b, address: uint64(reflect.ValueOf(b).Pointer())}
}

// engineSide returns the engine's view of an input or output of a request; nil if the engine does not
// expose it.
func engineSide(r *ane.Request, t *ane.Tensor, input bool) *view {
	name := t.Layout().Name
	side := access.Side(input)
	if b := access.View(r, side, name); b != nil {
		return local(b)
	}
	pid, address := access.Address(r, side, name)
	if pid == 0 {
		return nil
	}
	v := &view{size: len(t.Bytes()), pid: pid, address: uint64(address) + uint64(t.Offset())}
	v.sealed = v.transfer((*os.File).ReadAt, 0, make([]byte, 1)) != nil
	return v
}

// sharesByte reports whether one view sees a change of a byte of the other. It undoes the change. Where the bytes of one
// of them are not shown, it compares what is mapped.
func sharesByte(from, to *view, at int) bool {
	if from.sealed || to.sealed {
		return from.mapsByteOf(to, at)
	}
	old := from.load(at)
	from.store(at, ^old)
	ok := to.load(at) == ^old
	from.store(at, old)
	return ok && to.load(at) == old
}

// mapsByteOf reports whether a byte of both views is the same byte of the same file, and writes of either reach the other.
func (v *view) mapsByteOf(other *view, at int) bool {
	a, b := v.mapping(at), other.mapping(at)
	return a.Shared && b.Shared && a.Inode != 0 && a.Inode == b.Inode && a.Device == b.Device &&
		a.OffsetOf(v.address+uint64(at)) == b.OffsetOf(other.address+uint64(at))
}

// mapping returns the mapping that a byte lies in, the zero Mapping if it is not mapped, or the process has ended.
func (v *view) mapping(at int) procmem.Mapping {
	if address := v.address + uint64(at); address < v.last.Start || v.last.End <= address {
		v.last, _ = procmem.At(v.pid, address)
	}
	return v.last
}

// Page is the smallest unit in which memory can be shared, in bytes. Some systems have larger pages.
const Page = 4096

// Apart counts the bytes of the pages of a that do not show changes of b, or that b does not show.
func Apart(a, b []byte) int { return apart(local(a), local(b)) }

func apart(a, b *view) (bytes int) {
	for at := 0; at < a.size; at += Page {
		if at >= b.size || !sharesByte(a, b, at) || !sharesByte(b, a, at) {
			bytes += min(Page, a.size-at)
		}
	}
	return bytes
}

// transfer reads or writes bytes of another process.
func (v *view) transfer(move func(*os.File, []byte, int64) (int, error), at int, b []byte) error {
	f, err := procmem.Open(v.pid)
	if err != nil {
		return err
	}
	_, err = move(f, b, int64(v.address)+int64(at))
	return errors.Join(err, f.Close())
}

// load returns a byte; 0 if the process has ended.
func (v *view) load(at int) byte {
	if v.here != nil {
		return v.here[at]
	}
	b := []byte{0}
	_ = v.transfer((*os.File).ReadAt, at, b)
	return b[0]
}

func (v *view) store(at int, b byte) {
	if v.here != nil {
		v.here[at] = b
		return
	}
	_ = v.transfer((*os.File).WriteAt, at, []byte{b})
}

// frame returns the number of the page frame of a byte; false if the system does not show it.
func (v *view) frame(at int) (uint64, bool) {
	frames, shown := procmem.Frames(v.pid, v.address+uint64(at), 1)
	return frames[0], shown
}
