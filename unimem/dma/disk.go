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

// Writable opens a disk's file for writing too. Disk.Write refuses a disk without it. A file that is not whole blocks
// of 4096 bytes is then opened through the page cache: writes past it cannot keep its length.
func Writable() Option { return func(c *config) { c.write = true } }

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
// Sector, ScatterGather, SmallPages, Writable.
//
// Errors: ErrUnavailable (d is not a simulated Device), ErrClosed, ErrExhausted (no addresses for the queues), ErrRange
// (an empty file, a wrong Sector), those of opening the file, and the cause of ctx.
func OpenDisk(ctx context.Context, d *Device, path string, opts ...Option) (*Disk, error) {
	file, info, direct, err := openDiskFile(path, configure(opts).write)
	if err != nil {
		return nil, &Error{Op: "disk", Offset: -1, Err: ErrRefused, Cause: err}
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

// openDiskFile opens the file of a disk.
func openDiskFile(path string, write bool) (f *os.File, info os.FileInfo, direct bool, err error) {
	flags := os.O_RDONLY
	if write {
		flags = os.O_RDWR
	}
	if f, direct, err = openFile(path, flags); err != nil {
		return nil, nil, false, err
	}
	if info, err = f.Stat(); err != nil {
		return nil, nil, false, errors.Join(err, f.Close())
	}
	if !direct || !write || info.Size()%mediaAlign == 0 {
		return f, info, direct, nil
	}
	if err := f.Close(); err != nil {
		return nil, nil, false, err
	}
	f, err = os.OpenFile(path, flags, 0)
	return f, info, false, err
}

// mediaAlign is a multiple of what direct reads and writes have to be aligned to.
const mediaAlign = 4096

// media is the file of a disk.
type media interface {
	io.ReaderAt
	nvme.Store
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
	about := nvme.Config{Table: d.model.table, Media: m, Size: size, Sector: c.sector, Align: align,
		Interrupt: k.host.Interrupt}
	if c.write {
		about.Store = m
	}
	k.controller, err = nvme.NewController(about)
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

// Direct reports whether reads and writes bypass the page cache.
func (k *Disk) Direct() bool { return k.direct }

// Bounced is the number of bytes that went through memory of the controller instead of straight to or from a Block:
// those whose address, offset or length a direct access of the file cannot have. It is 0 for whole pages.
func (k *Disk) Bounced() int64 { return int64(k.controller.Stats().Bounced) }

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
	if errors.Is(err, ErrNotMapped) || errors.Is(err, ErrClosed) { // the Device was closed during the call
		err = nil
	}
	k.err = errors.Join(err, k.queues.Close())
	if k.media != nil {
		k.err = errors.Join(k.err, k.media.Close())
	}
	k.d.model.remove(k)
}
