package trial

import (
	"context"
	"errors"
	"os"
	"reflect"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/procmem"
)

// view is the bytes of a tensor as the caller or the engine maps them: memory of this process, of another one that may
// be opened, or what the engine's process reports of memory that may not.
type view struct {
	size    int
	here    []byte // nil in another process
	pid     int    // of that process
	address uint64 // in the process that maps the bytes

	ask   func(ane.PeerQuery) (ane.PeerReport, error) // nil unless the memory is reported
	first ane.PeerReport
	at    int             // of the tensor in its surface, in bytes
	own   procmem.Mapping // of this process, in which the last byte was that was compared with a reported one
}

func local(b []byte) *view {
	return &view{size: len(b), here: b, address: uint64(reflect.ValueOf(b).Pointer())}
}

// engineSide returns the engine's view of an input or output of a request; nil if the engine does not
// expose it. Memory of another process is read where the system permits it, and is else what that process reports.
func engineSide(ctx context.Context, r *ane.Request, t *ane.Tensor, input bool) *view {
	name := t.Layout().Name
	mapped, peer, report := r.OutputView, r.PeerOutput, r.ReportOutput
	if input {
		mapped, peer, report = r.InputView, r.PeerInput, r.ReportInput
	}
	if b := mapped(name); b != nil {
		return local(b)
	}
	v := &view{size: len(t.Bytes()), at: t.Offset()}
	if pid, address := peer(name); pid != 0 {
		v.pid, v.address = pid, uint64(address)+uint64(t.Offset())
		if v.transfer((*os.File).ReadAt, 0, make([]byte, 1)) == nil {
			return v
		}
	}
	v.ask = func(q ane.PeerQuery) (ane.PeerReport, error) { return report(ctx, name, q) }
	var err error
	if v.first, err = v.ask(ane.PeerQuery{Memory: true}); err != nil || v.first.Address == 0 {
		return nil
	}
	return v
}

// sharesByte reports whether one view sees a change of a byte of the other. It undoes the change. Where one of them is
// reported, it compares what is mapped.
func sharesByte(from, to *view, at int) bool {
	switch {
	case from.ask != nil:
		return from.reports(to, at)
	case to.ask != nil:
		return to.reports(from, at)
	}
	old := from.load(at)
	from.store(at, ^old)
	ok := to.load(at) == ^old
	from.store(at, old)
	return ok && to.load(at) == old
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
	if v.ask == nil {
		frames, shown := procmem.Frames(v.pid, v.address+uint64(at), 1)
		return frames[0], shown
	}
	p, err := v.ask(ane.PeerQuery{Page: (v.at + at) / os.Getpagesize(), Pages: 1})
	if err != nil || len(p.Frames) != 1 {
		return 0, false
	}
	return p.Frames[0], p.Frames[0] != 0
}

// reports says whether a byte of memory of this process is the same byte of the same memory as that of v, where writes
// of either side reach the other. The word of the process that reports it is taken.
func (v *view) reports(l *view, at int) bool {
	if l.here == nil {
		return false
	}
	address := l.address + uint64(at)
	if address < v.own.Start || v.own.End <= address {
		v.own = procmem.Mapping{}
		_ = procmem.Mappings(0, func(m *procmem.Mapping) { // without them nothing is found to be shared
			if m.Start <= address && address < m.End {
				v.own = *m
			}
		})
	}
	return v.own.Shared && v.first.Shared && v.own.Inode != 0 &&
		v.own.Device == v.first.Device && v.own.Inode == v.first.Inode &&
		v.own.Offset+address-v.own.Start == v.first.Offset+uint64(v.at+at)
}
