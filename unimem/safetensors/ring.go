package safetensors

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/anekit/anekit/unimem/internal/huge"
	"github.com/anekit/anekit/unimem/internal/uring"
)

// ErrRing: io_uring is not available, or not for this memory or file. Report.Ring has the reason.
var ErrRing = uring.ErrUnavailable

// ringReads is the default of Workers with Ring: one thread needs more reads in flight than eight of which each
// begins its next read at once.
const ringReads = 32

// readRing is read through io_uring, with the span registered. Where that is not possible it is read, and the
// Report says why.
func (l *loading) readRing(ctx context.Context, file source, s *shard, span []byte, direct bool) error {
	f, ok := file.(*os.File)
	if !ok || !direct {
		l.f.report.Ring = &uring.Error{Call: "open", Err: errors.ErrUnsupported,
			Why: "the file system has no direct reads, or Buffered was given"}
		return l.read(ctx, file, s, span, direct)
	}
	workers := l.c.workers
	if workers <= 0 {
		workers = ringReads
	}
	if l.ring == nil {
		var err error
		if l.ring, err = l.c.newRing(workers); err != nil {
			l.f.report.Ring = err
			return l.read(ctx, file, s, span, direct)
		}
	}
	huge.Back(span) // pages that have never been touched, before they are pinned
	memory := 0
	if err := l.c.register(l.ring, span); err != nil {
		memory, l.f.report.Ring = -1, err
	}
	parts := cut(span)
	pieces, reads := make([]piece, len(parts)), make([]*uring.Read, len(parts))
	for i, x := range parts {
		pieces[i] = s.piece(x, direct)
		reads[i] = &uring.Read{Mem: pieces[i].rest(span), Off: int64(x.at), Memory: memory}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var failed error // why the rest is cancelled
	err := l.ring.Read(ctx, f, reads, func(i int) (again bool) {
		x, p := reads[i], &pieces[i]
		err := x.Err
		if err == nil && x.N == 0 {
			err = io.EOF
		}
		more, err := p.advance(x.N, err, s.size)
		switch {
		case err != nil:
			if failed == nil {
				failed = err
				cancel(err)
			}
		case more:
			x.Mem, x.Off = p.rest(span), int64(p.got)
		default:
			l.f.report.Ringed += int64(p.last - p.at)
		}
		return more
	})
	var refused *uring.Error
	switch {
	case failed != nil:
		return failed
	case errors.As(err, &refused) && !refused.InFlight: // nothing was read
		l.f.report.Ring = err
		return l.read(ctx, file, s, span, direct)
	}
	return err
}
