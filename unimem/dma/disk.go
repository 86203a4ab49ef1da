package dma

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/anekit/anekit/internal/nvme"
	"github.com/anekit/anekit/unimem"
)

// Sector is the logical block of a Disk in bytes, as on the disks inside Macs.
const Sector = nvme.Sector

// Writable opens a disk's file for writing too; without it Disk.Write returns ErrReadOnly. A file that is not whole
// sectors is then opened through the page cache, because writes past the cache cannot keep its length.
func Writable() Option { return func(c *config) { c.write = true } }

// Disk is a simulated NVMe controller with one namespace, whose sectors are the bytes of a file. All methods are
// safe for concurrent use.
type Disk struct {
	d          *Device
	controller *nvme.Controller
	host       *nvme.Host
	queues     *unimem.Block
	media      io.Closer
	direct     bool
	once       sync.Once
	done       chan struct{} // closed when Close has ended
	err        error
}

// OpenDisk makes a disk of the file at path behind the DART of a simulated Device. The file is opened past the
// page cache where Linux and the file system permit that (O_DIRECT); Direct reports whether it does. The only option
// is Writable. The caller closes the Disk, or the Device.
//
// Errors: ErrUnavailable (d is not a simulated Device), ErrClosed, ErrExhausted (no addresses for the queues), ErrRange
// (an empty file), ErrRefused with that of opening the file or the cause of ctx.
func OpenDisk(ctx context.Context, d *Device, path string, opts ...Option) (*Disk, error) {
	file, size, direct, err := openDiskFile(path, configure(opts).write)
	if err != nil {
		return nil, failure("disk", nil, -1, ErrRefused, err, "")
	}
	k, err := openDisk(ctx, d, file, size, opts)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	k.direct = direct
	return k, nil
}

// openDiskFile opens the file of a disk, past the page cache if direct is true.
func openDiskFile(path string, write bool) (f *os.File, size int64, direct bool, err error) {
	flags := os.O_RDONLY
	if write {
		flags = os.O_RDWR
	}
	if f, direct, err = openFile(path, flags); err != nil {
		return nil, 0, false, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, false, errors.Join(err, f.Close())
	}
	if direct && write && info.Size()%Sector != 0 {
		if err := f.Close(); err != nil {
			return nil, 0, false, err
		}
		f, err = os.OpenFile(path, flags, 0)
		return f, info.Size(), false, err
	}
	return f, info.Size(), direct, nil
}

// media is the file of a disk.
type media interface {
	io.ReaderAt
	nvme.Store
	io.Closer
}

var _ media = (*os.File)(nil)

// openDisk is OpenDisk of size bytes. The Disk owns m.
func openDisk(ctx context.Context, d *Device, m media, size int64, opts []Option) (*Disk, error) {
	fail := func(err, cause error, hint string) (*Disk, error) {
		return nil, failure("disk", nil, -1, err, cause, hint)
	}
	switch {
	case d == nil || d.model == nil:
		return fail(ErrUnavailable, nil, "a disk needs a Device of Simulate")
	case size <= 0:
		return fail(ErrRange, nil, "the file is empty")
	}
	k := &Disk{d: d, media: m, host: nvme.NewHost(), done: make(chan struct{})}
	about := nvme.Config{Table: d.model.table, Media: m, Size: size, Interrupt: k.host.Interrupt}
	if configure(opts).write {
		about.Store = m
	}
	var err error
	if k.controller, err = nvme.NewController(about); err != nil {
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
	start, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	if err = k.host.Start(start, k.controller, pages); err != nil {
		k.media = nil // the caller's
		return nil, errors.Join(k.fail("disk", nil, -1, err), k.Close())
	}
	if !d.model.add(k) {
		k.media = nil
		return nil, errors.Join(failure("disk", nil, -1, ErrClosed, nil, ""), k.Close())
	}
	return k, nil
}

// Blocks is the size of the disk in sectors. The last one has zeros after the end of the file.
func (k *Disk) Blocks() int64 { return int64(k.host.Blocks) }

// Direct reports whether reads and writes bypass the page cache.
func (k *Disk) Direct() bool { return k.direct }

// Status is the status of a command that failed, as the NVMe specification numbers it. It is the Cause of an Error.
type Status struct {
	Type, Code uint8 // the fields SCT and SC
	Text       string
}

// Error returns the text after "NVMe status: ".
func (s *Status) Error() string { return "NVMe status: " + s.Text }

// Close ends the controller and closes the file, once. Reads in flight end with ErrClosed. When Close has returned nil,
// the disk accesses no memory. It waits for accesses that have begun, at most for the Device's Timeout. If they take
// longer, the error matches context.DeadlineExceeded, and the caller calls Close again. Closing the Device closes its
// disks.
//
// Errors: ErrRefused with context.DeadlineExceeded, and those of closing the file.
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
	case <-k.done: // the wait and the timer ended together
		return k.err
	default:
		return failure("close", nil, -1, ErrRefused, context.DeadlineExceeded, "an access to the file has not returned")
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
