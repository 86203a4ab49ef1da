package safetensors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/internal/huge"
	"github.com/anekit/anekit/unimem/internal/uring"
)

const (
	// block is the granule of direct reads: the sector of a disk is 512 or 4096 bytes.
	block = 4096
	// part is the length of one read. A multiple of block.
	part = 4 << 20
	// readers is the default of Workers.
	readers = 8
)

// Load reads a file, or the files of an index or folder, into spans of tape: each whole, at a multiple of 4096 bytes.
// Where the file system permits direct I/O (O_DIRECT; F_NOCACHE on macOS), one transfer goes from the disk to the tape.
// Otherwise it goes through the page cache. A span is as long as its file, rounded up to 4096 bytes. Tensors start at
// the offsets of the file, so Aligned has the same result as for Open. After tape.Clear the tensors have no bytes. The
// File retains the tape's Block until its Close. Load allocates pages of the tape that nothing has touched, on Linux
// huge ones where the kernel makes them, so the tape needs no Warm.
//
// With Auto, Load maps the files instead, as Open does, if the tape has no room for them, or if they need more than 80 %
// of the available memory. It maps files of less than 1 MiB too. It reads larger ones if the system states memory
// pressure: tasks waited for memory for more than 10 % of ten seconds (Linux), a warning (macOS). Without pressure it
// maps if a tenth of the files is in the page cache, or if that is unknown. Report has the decision and its reason.
//
// If ctx ends, the error matches its cause, after the reads in flight have returned. After an
// error the spans stay taken: clear the tape. Options: Auto, Buffered, Ring, Workers.
//
// Errors: those of Open, unimem.ErrTapeFull, ErrTruncated (a file that ends early), ErrChanged
// (a file whose size or time changed during Load), and those of the system.
func Load(ctx context.Context, path string, tape *unimem.Tape, opts ...Option) (*File, error) {
	if tape == nil {
		return nil, &Error{Base: errtext.Base{Op: "load", Err: ErrClosed, Detail: "nil Tape"}, File: path, Offset: -1}
	}
	return load(ctx, path, tape, configure(opts))
}

// load is Load, for a nil tape into one of the File's own.
func load(ctx context.Context, path string, tape *unimem.Tape, c config) (*File, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	l := &loading{c: c, tape: tape, f: &File{path: path, report: Report{Access: Direct, Why: "Load reads"}}}
	if err := l.f.find("load"); err != nil {
		return nil, err
	}
	if l.c.auto {
		maps, why := l.surroundings().decide()
		l.f.report.Why = why
		if maps {
			f, err := Open(path)
			if err != nil {
				return nil, err
			}
			f.report.Why = why
			return f, nil
		}
	}
	err := l.run(ctx)
	if l.ring != nil {
		err = errors.Join(err, l.ring.Close())
	}
	if err != nil {
		return nil, errors.Join(err, l.f.Close())
	}
	return l.f, nil
}

// source is a file that is being read.
type source interface {
	io.ReaderAt
	Stat() (fs.FileInfo, error)
	Close() error
}

// loading is a call of Load.
type loading struct {
	c    config
	tape *unimem.Tape
	f    *File
	ring *uring.Ring // nil until the first use, or without
}

// run reads all files. After an error the caller closes l.f.
func (l *loading) run(ctx context.Context) error {
	for _, s := range l.f.shards {
		file, err := s.openHeader()
		if err != nil {
			return named(err, "load", s.path)
		}
		_ = file.Close() // it was only read
	}
	if err := l.f.join("load"); err != nil {
		return err
	}
	if l.tape == nil {
		if err := l.own(); err != nil {
			return err
		}
	}
	generation := l.tape.Generation()
	for _, s := range l.f.shards {
		s.generation = generation
		if err := l.fill(ctx, s); err != nil {
			return named(err, "load", s.path)
		}
	}
	return nil
}

// own starts a Tape for the files, which belongs to the File.
func (l *loading) own() (err error) {
	size := int64(0)
	for _, s := range l.f.shards {
		if s.size > 1<<62-size {
			return named(unimem.ErrTapeFull, "load", s.path)
		}
		size += rounded(s.size)
	}
	if l.tape, err = l.c.start(int(size)); err != nil {
		return named(err, "load", l.f.path)
	}
	l.f.own = l.tape
	return nil
}

// rounded is the length of the span of a file.
func rounded(size int64) int64 { return (size + block - 1) / block * block }

// fill reads a file into a span.
func (l *loading) fill(ctx context.Context, s *shard) error {
	if s.size > 1<<62 {
		return unimem.ErrTapeFull
	}
	span, err := l.tape.Take(int(rounded(s.size)), block)
	if err != nil {
		return &Error{Base: errtext.Base{Err: err, Detail: fmt.Sprintf("the tape has %d free bytes, the file %d",
			l.tape.Free(), s.size), Hint: "start the tape with the size of the files and 8 KiB for each"}, Offset: -1}
	}
	b, base, err := l.tape.Place(span)
	if err != nil {
		return err
	}
	if l.f.own == nil {
		if err := b.Retain(); err != nil {
			return err
		}
	}
	s.block, s.tape, s.base = b, l.tape, base
	open := l.c.open
	if open == nil {
		open = openSource
	}
	file, direct, err := open(s.path, !l.c.buffered)
	if err != nil {
		return err
	}
	defer file.Close() // it was only read
	before, err := file.Stat()
	if err != nil {
		return err
	}
	if !direct {
		l.f.report.Access = Read
	}
	read := l.read
	if l.c.ring {
		read = l.readRing
	}
	if err := read(ctx, file, s, span, direct); err != nil {
		return err
	}
	after, err := file.Stat()
	if err != nil {
		return err
	}
	if before.Size() != s.size || after.Size() != s.size || !after.ModTime().Equal(before.ModTime()) {
		return &Error{Base: errtext.Base{Err: ErrChanged, Detail: "another process wrote to it while it was loaded",
			Hint: "load it again"}, Offset: -1}
	}
	return nil
}

// read reads the parts of a file with several goroutines.
func (l *loading) read(ctx context.Context, file source, s *shard, span []byte, direct bool) error {
	parts := cut(span)
	return each(ctx, cmp.Or(max(l.c.workers, 0), readers), len(parts), func(i int) error {
		return s.part(file, span, parts[i], direct)
	})
}

// extent is the bytes [at, end) of a span.
type extent struct{ at, end int }

// cut divides a span into the extents of single reads, which end where a huge page does.
func cut(span []byte) (parts []extent) {
	for at, end := 0, huge.Skew(span)+part; at < len(span); at, end = end, end+part {
		parts = append(parts, extent{at, min(end, len(span))})
	}
	return parts
}

// piece is an extent that is being read.
type piece struct {
	extent
	last   int // after the bytes that the file has of it
	got    int // read up to here
	direct bool
}

// piece begins an extent.
func (s *shard) piece(x extent, direct bool) piece {
	return piece{extent: x, last: min(x.end, int(s.size)), got: x.at, direct: direct}
}

// rest is what the next read asks for. A direct read has whole blocks and ends at the end of the file.
func (p *piece) rest(span []byte) []byte {
	if p.direct {
		return span[p.got:p.end:p.end]
	}
	return span[p.got:p.last:p.last]
}

// advance takes the result of a read of rest, and reports whether more is needed.
func (p *piece) advance(n int, err error, size int64) (more bool, _ error) {
	p.got += n
	switch {
	case p.got >= p.last:
		return false, nil
	case errors.Is(err, io.EOF):
		return false, &Error{Base: errtext.Base{Err: ErrTruncated, Detail: fmt.Sprintf("it ends at byte %d of %d",
			p.got, size)}, Offset: int64(p.got)}
	case err != nil:
		return false, &Error{Base: errtext.Base{Err: err}, Offset: int64(p.got)}
	case n == 0:
		return false, &Error{Base: errtext.Base{Err: io.ErrNoProgress}, Offset: int64(p.got)}
	case p.direct: // the next read starts at a block
		p.got -= p.got % block
	}
	return true, nil
}

// part reads an extent of a file.
func (s *shard) part(file source, span []byte, x extent, direct bool) error {
	huge.Back(span[x.at:x.end:x.end]) // pages that have never been touched
	p := s.piece(x, direct)
	for more := true; more; {
		n, err := file.ReadAt(p.rest(span), int64(p.got))
		if more, err = p.advance(n, err, s.size); err != nil {
			return err
		}
	}
	return nil
}

// each calls f for 0 to n-1 with several goroutines, until one fails or ctx ends. It returns when all have ended, with
// the error of the least number.
func each(ctx context.Context, goroutines, n int, f func(i int) error) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	var mu sync.Mutex // guards the error and its number
	var failed error
	least := n
	fails := func(i int, err error) bool {
		mu.Lock()
		defer mu.Unlock()
		if err != nil && i < least {
			least, failed = i, err
		}
		return i >= least
	}
	for range min(n, goroutines) {
		wg.Go(func() {
			for {
				i := int(next.Add(1) - 1)
				if fails(i, context.Cause(ctx)) || fails(i, f(i)) {
					return
				}
			}
		})
	}
	wg.Wait()
	return failed
}
