package trial

import (
	"context"
	"errors"
	"os"
	"reflect"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/procmem"
)

// reported is a tensor in an engine's process whose memory this process may not open. The engine's process reports what
// it has mapped there, and its word is taken: the same bytes of the same memory are the caller's own.
type reported struct {
	ask   func(ane.PeerQuery) (ane.PeerReport, error)
	first ane.PeerReport
	at, n int             // of the tensor in its surface, in bytes
	own   procmem.Mapping // of this process, in which the last byte was
}

// reportedView returns the view of a tensor of a request; nil if the engine's process reports none.
func reportedView(ctx context.Context, r *ane.Request, t *ane.Tensor, input bool) view {
	name := t.Layout().Name
	v := &reported{at: t.Offset(), n: len(t.Bytes())}
	v.ask = func(q ane.PeerQuery) (ane.PeerReport, error) {
		if input {
			return r.ReportInput(ctx, name, q)
		}
		return r.ReportOutput(ctx, name, q)
	}
	var err error
	if v.first, err = patiently(v.ask); err != nil || v.first.Address == 0 {
		return nil
	}
	return v
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
	address := uint64(reflect.ValueOf(l[at:]).Pointer())
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
