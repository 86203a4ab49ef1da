package trial

import (
	"context"
	"errors"
	"os"
	"reflect"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/procmem"
)

// view is the bytes of a tensor as the caller or the engine maps them, in this process or in another.
type view interface {
	size() int
	// frame returns the number of the page frame of a byte; false if the system does not show it.
	frame(at int) (uint64, bool)
}

// accessible is a view that can be read and written.
type accessible interface {
	view
	load(at int) byte
	store(at int, b byte)
}

// engineSide returns the engine's view of an input or output of a request; nil if the engine does not
// expose it. Memory of another process is read where the system permits it, and is else what that process reports.
func engineSide(ctx context.Context, r *ane.Request, t *ane.Tensor, input bool) view {
	name := t.Layout().Name
	mapped, peer, report := r.OutputView, r.PeerOutput, r.ReportOutput
	if input {
		mapped, peer, report = r.InputView, r.PeerInput, r.ReportInput
	}
	if v := mapped(name); v != nil {
		return local(v)
	}
	if pid, address := peer(name); pid != 0 {
		p := remote{pid, int64(address) + int64(t.Offset()), len(t.Bytes())}
		if p.transfer((*os.File).ReadAt, 0, make([]byte, 1)) == nil {
			return p
		}
	}
	v := &reported{at: t.Offset(), n: len(t.Bytes())}
	v.ask = func(q ane.PeerQuery) (ane.PeerReport, error) { return report(ctx, name, q) }
	var err error
	if v.first, err = patiently(v.ask); err != nil || v.first.Address == 0 {
		return nil
	}
	return v
}

// sharesByte reports whether b sees a change of a byte of a. It undoes the change. Where one of them is reported, it
// compares what is mapped.
func sharesByte(from, to view, at int) bool {
	for _, pair := range [][2]view{{from, to}, {to, from}} {
		if r, ok := pair[0].(*reported); ok {
			l, here := pair[1].(local)
			return here && r.shares(l, at)
		}
	}
	a, b := from.(accessible), to.(accessible)
	old := a.load(at)
	a.store(at, ^old)
	ok := b.load(at) == ^old
	a.store(at, old)
	return ok && b.load(at) == old
}

// sharesBytes is sharesByte both ways.
func sharesBytes(a, b view, at int) bool { return sharesByte(a, b, at) && sharesByte(b, a, at) }

// Page is the smallest unit in which memory can be shared, in bytes. Some systems have larger pages.
const Page = 4096

// Apart counts the bytes of the pages of a that do not show changes of b, or that b does not show.
func Apart(a, b []byte) (bytes int) {
	return apart(len(a), func(at int) bool { return at < len(b) && sharesBytes(local(a), local(b), at) })
}

// apart counts the bytes of the pages of n bytes that are not shared.
func apart(n int, shared func(at int) bool) (bytes int) {
	for at := 0; at < n; at += Page {
		if !shared(at) {
			bytes += min(Page, n-at)
		}
	}
	return bytes
}

// local is memory of this process.
type local []byte

func (l local) size() int            { return len(l) }
func (l local) load(at int) byte     { return l[at] }
func (l local) store(at int, b byte) { l[at] = b }

func (l local) address(at int) uint64 { return uint64(reflect.ValueOf(l[at:]).Pointer()) }

func (l local) frame(at int) (uint64, bool) {
	frames, shown := procmem.Frames(0, l.address(at), 1)
	return frames[0], shown
}

// remote is memory of another process.
type remote struct {
	pid     int
	address int64
	n       int
}

func (p remote) transfer(move func(*os.File, []byte, int64) (int, error), at int, b []byte) error {
	f, err := procmem.Open(p.pid)
	if err != nil {
		return err
	}
	_, err = move(f, b, p.address+int64(at))
	return errors.Join(err, f.Close())
}

func (p remote) size() int { return p.n }

// load returns 0 if the process has ended.
func (p remote) load(at int) byte {
	b := []byte{0}
	_ = p.transfer((*os.File).ReadAt, at, b)
	return b[0]
}

func (p remote) store(at int, v byte) { _ = p.transfer((*os.File).WriteAt, at, []byte{v}) }

func (p remote) frame(at int) (uint64, bool) {
	frames, shown := procmem.Frames(p.pid, uint64(p.address)+uint64(at), 1)
	return frames[0], shown
}

// reported is a tensor in an engine's process whose memory this process may not open. The engine's process reports what
// it has mapped there, and its word is taken: the same bytes of the same memory are the caller's own.
type reported struct {
	ask   func(ane.PeerQuery) (ane.PeerReport, error)
	first ane.PeerReport
	at, n int             // of the tensor in its surface, in bytes
	own   procmem.Mapping // of this process, in which the last byte was
}

// patiently asks for amounts of memory, again while the engine's process reports to others.
func patiently(ask func(ane.PeerQuery) (ane.PeerReport, error)) (p ane.PeerReport, err error) {
	const times = 10
	for range times {
		if p, err = ask(ane.PeerQuery{Memory: true}); !errors.Is(err, ane.ErrExhausted) {
			break
		}
	}
	return p, err
}

func (v *reported) size() int { return v.n }

func (v *reported) frame(at int) (uint64, bool) {
	p, err := v.ask(ane.PeerQuery{Page: (v.at + at) / os.Getpagesize(), Pages: 1})
	if err != nil || len(p.Frames) != 1 {
		return 0, false
	}
	return p.Frames[0], p.Frames[0] != 0
}

// shares reports whether a byte of l is the same byte of the same memory as that of v, where writes of either side
// reach the other.
func (v *reported) shares(l local, at int) bool {
	address := l.address(at)
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
