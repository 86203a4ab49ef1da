package dma

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/anekit/anekit/internal/nvme"
	"github.com/anekit/anekit/unimem"
)

// Sector is the logical block of a simulated disk in bytes, 512 or 4096, default 512.
func Sector(n int) Option { return func(c *config) { c.sector = n } }

// ScatterGather makes a disk's commands describe memory by SGLs instead of PRP entries.
func ScatterGather() Option { return func(c *config) { c.sgl = true } }

// SmallPages makes a disk's controller use memory pages of 4 KiB, as the one in Apple's chips does, instead of
// 16 KiB: four PRP entries for each page of the DART.
func SmallPages() Option { return func(c *config) { c.small = true } }

// Disk is a simulated NVMe controller with one namespace, whose blocks are the bytes of a file. All methods are
// safe for concurrent use.
type Disk struct {
	d          *Device
	controller *nvme.Controller
	host       *nvme.Host
	queues     *unimem.Block
	media      io.Closer
	sgl        bool
	direct     bool
	once       sync.Once
	done       chan struct{} // closed when Close has ended
	err        error
}

// OpenDisk makes a disk of the file at path behind the DART of a simulated Device. The file is opened past the
// page cache where Linux and the file system permit that (O_DIRECT); Direct reports whether it does. Options:
// Sector, ScatterGather, SmallPages.
//
// Errors: ErrUnavailable (d is no simulated Device), ErrClosed, ErrExhausted (no addresses for the queues), ErrRange
// (an empty file, a wrong Sector), those of opening the file, and the cause of ctx.
func OpenDisk(ctx context.Context, d *Device, path string, opts ...Option) (*Disk, error) {
	file, direct, err := OpenFile(path)
	if err != nil {
		return nil, &Error{Op: "disk", Offset: -1, Err: ErrRefused, Cause: err}
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(&Error{Op: "disk", Offset: -1, Err: ErrRefused, Cause: err}, file.Close())
	}
	align := 1
	if direct {
		align = mediaAlign
	}
	k, err := openDisk(ctx, d, file, info.Size(), align, opts)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	k.direct = direct
	return k, nil
}

// mediaAlign is a multiple of what direct reads have to be aligned to.
const mediaAlign = 4096

// media is the file of a disk.
type media interface {
	io.ReaderAt
	io.Closer
}

var _ media = (*os.File)(nil)

// openDisk is OpenDisk of size bytes. The Disk owns m.
func openDisk(ctx context.Context, d *Device, m media, size int64, align int, opts []Option) (*Disk, error) {
	fail := func(err, cause error, hint string) (*Disk, error) {
		return nil, &Error{Op: "disk", Offset: -1, Err: err, Cause: cause, Hint: hint}
	}
	if d == nil || d.model == nil {
		return fail(ErrUnavailable, nil, "a disk needs a Device of Simulate")
	}
	c := configure(opts)
	switch {
	case size <= 0:
		return fail(ErrRange, nil, "the file is empty")
	case c.sector != 512 && c.sector != 4096:
		return fail(ErrRange, nil, fmt.Sprintf("a sector has 512 or 4096 bytes, not %d", c.sector))
	}
	k := &Disk{d: d, media: m, sgl: c.sgl, host: nvme.NewHost(), done: make(chan struct{})}
	var err error
	k.controller, err = nvme.NewController(nvme.Config{Table: d.model.table, Media: m, Size: size, Sector: c.sector,
		Align: align, Interrupt: k.host.Interrupt})
	if err != nil {
		return fail(ErrRefused, err, "")
	}
	if k.queues, err = unimem.Open(nvme.HostPages * nvme.HostPage); err != nil {
		return fail(ErrRefused, err, "")
	}
	segments, err := d.Segments(k.queues)
	if err != nil {
		return nil, errors.Join(err, k.queues.Close())
	}
	var pages []nvme.Memory
	for _, s := range segments {
		for at := s.Address; at < s.Address+s.Length; at += PageSize {
			pages = append(pages, nvme.Memory{Bytes: k.queues.Bytes()[PageSize*len(pages):][:PageSize], At: at})
		}
	}
	shift := uint32(2)
	if c.small {
		shift = 0
	}
	start, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	if err = k.host.Start(start, k.controller, pages, shift); err != nil {
		k.media = nil // the caller's
		return nil, errors.Join(k.fail("disk", nil, -1, err), k.Close())
	}
	if !d.model.add(k) {
		k.media = nil
		return nil, errors.Join(&Error{Op: "disk", Offset: -1, Err: ErrClosed}, k.Close())
	}
	return k, nil
}

// Sector is the logical block in bytes.
func (k *Disk) Sector() int { return k.host.Sector }

// Blocks is the size of the disk in sectors. The last one has zeros after the end of the file.
func (k *Disk) Blocks() int64 { return int64(k.host.Blocks) }

// Direct reports whether reads bypass the page cache.
func (k *Disk) Direct() bool { return k.direct }

// Bounced is the number of bytes that went through memory of the controller instead of straight to a Block: those
// whose address, offset or length a direct read of the file cannot have. It is 0 for reads of whole pages.
func (k *Disk) Bounced() int64 { return int64(k.controller.Stats().Bounced) }

// Read reads count sectors, from sector first on, to the bytes of b from offset on, by the segments that
// d.Segments has for b. It splits them into commands of at most 1 MiB, and keeps up to 32 of them in flight.
// offset is a multiple of Sector.
//
// After an error any of the bytes may be changed. If ctx ends, Read aborts the commands in flight and waits up
// to 2 s for them; an access that has begun holds the pages until it ends, also after Read has returned, and
// Release waits for it.
//
// Errors: ErrNotMapped, ErrRange, ErrFault (a mapping that was withdrawn meanwhile), ErrTransfer with a *Status,
// ErrClosed, and the cause of ctx.
func (k *Disk) Read(ctx context.Context, b *unimem.Block, offset int, first int64, count int) error {
	fail := func(err error, hint string) error {
		e := &Error{Op: "read", Offset: offset, Err: err, Hint: hint}
		if b != nil {
			e.Block = b.ID()
		}
		return e
	}
	if b == nil {
		return fail(ErrNotMapped, "the Block is nil")
	}
	segments := k.d.mappedSegments(b)
	switch {
	case segments == nil:
		return fail(ErrNotMapped, "call Segments first")
	case first < 0 || count < 1 || first > k.Blocks() || int64(count) > k.Blocks()-first:
		return fail(ErrRange, fmt.Sprintf("%d sectors from %d on, of %d", count, first, k.Blocks()))
	case offset < 0 || offset%k.Sector() != 0 || offset > b.Size() || count > (b.Size()-offset)/k.Sector():
		return fail(ErrRange, fmt.Sprintf("%d sectors of %d bytes, from byte %d on, of %d", count, k.Sector(), offset,
			b.Size()))
	}
	each := nvme.MaxTransfer / k.Sector()
	parts := (count + each - 1) / each
	errs := make([]error, parts)
	var wg sync.WaitGroup
	slots := make(chan struct{}, nvme.Depth)
	for i := range parts {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			from := offset + i*nvme.MaxTransfer
			n := min(each, count-i*each)
			err := context.Cause(ctx)
			if err == nil {
				err = k.host.Read(ctx, uint64(first)+uint64(i*each), n, cut(segments, from, n*k.Sector()), k.sgl)
			}
			if err != nil {
				errs[i] = k.fail("read", b, from, err)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// cut are the addresses of n bytes of a Block from byte from on.
func cut(segments []Segment, from, n int) (spans []nvme.Span) {
	at, left := uint64(from), uint64(n)
	for _, s := range segments {
		if left == 0 {
			break
		}
		if at >= s.Length {
			at -= s.Length
			continue
		}
		k := min(left, s.Length-at)
		spans = append(spans, nvme.Span{At: s.Address + at, Size: k})
		left, at = left-k, 0
	}
	return spans
}

// fail makes an Error of what the host returned.
func (k *Disk) fail(op string, b *unimem.Block, offset int, err error) error {
	e := &Error{Op: op, Offset: offset, Err: ErrTransfer, Cause: err}
	if b != nil {
		e.Block = b.ID()
	}
	var s nvme.Status
	switch {
	case errors.As(err, &s):
		e.Cause = &Status{Type: uint8(s >> 8 & 7), Code: uint8(s), Text: s.String()}
		if s == nvme.DataTransferError {
			e.Err = ErrFault
			e.Hint = "the mapping was withdrawn during the transfer: Release a Block after its reads"
		}
	case errors.Is(err, nvme.ErrHostClosed):
		e.Err, e.Cause = ErrClosed, nil
	}
	return e
}

// Status is the status of a completion, as the NVMe specification numbers it.
type Status struct {
	Type, Code uint8 // the fields SCT and SC
	Text       string
}

func (s *Status) Error() string { return "NVMe status: " + s.Text }

// Close ends the controller and closes the file, once. When it has returned nil, the disk accesses no memory; reads
// in flight end with ErrClosed. It waits for accesses that have begun, at most for the Device's Timeout: then the
// error matches context.DeadlineExceeded, and the caller calls Close again. Closing the Device closes its disks.
func (k *Disk) Close() error {
	k.once.Do(func() { go k.end() })
	end := time.NewTimer(k.d.timeout)
	defer end.Stop()
	select {
	case <-k.done:
		return k.err
	case <-end.C:
	}
	select {
	case <-k.done: // it ended at the same time
		return k.err
	default:
		return &Error{Op: "close", Offset: -1, Err: ErrRefused, Cause: context.DeadlineExceeded,
			Hint: "an access to the file has not returned"}
	}
}

// end is Close, however long it takes.
func (k *Disk) end() {
	defer close(k.done)
	k.host.Close()
	err := k.d.Release(k.queues)
	if errors.Is(err, ErrNotMapped) || errors.Is(err, ErrClosed) { // the Device was closed meanwhile
		err = nil
	}
	k.err = errors.Join(err, k.queues.Close())
	if k.media != nil {
		k.err = errors.Join(k.err, k.media.Close())
	}
	k.d.model.remove(k)
}
