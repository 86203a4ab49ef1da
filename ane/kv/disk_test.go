package kv

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
)

// disk is files in memory that knows what a loss of power may leave. The bytes of a file are durable after Sync, the
// names of a folder after syncDir. What was done since may be there or not, each operation for itself, in any order.
type disk struct {
	names   map[string]*content // as the running process sees them
	durable map[string]*content
	pending []change // to names, since the last syncDir

	ops  int  // operations so far
	fail int  // the number of the operation that fails, from 1; 0 for none
	dead bool // the power is off: every operation fails
	cut  bool // the failing operation takes the power away
	held int  // files that are open
}

// content is the bytes of a file.
type content struct {
	data, synced []byte
}

// change is one entry of a folder that was set, or removed if it is nil. A rename removes another one with it.
type change struct {
	name string
	to   *content
	from string
}

var errDisk = errors.New("input/output error")

func newDisk() *disk { return &disk{names: map[string]*content{}, durable: map[string]*content{}} }

// step counts an operation and returns its failure.
func (d *disk) step() error {
	d.ops++
	if d.ops == d.fail {
		d.dead = d.cut
		return errDisk
	}
	if d.dead {
		return errDisk
	}
	return nil
}

func (d *disk) change(c change) {
	d.pending = append(d.pending, c)
	apply(d.names, c)
}

func (d *disk) create(path string) (file, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	if d.names[path] != nil {
		return nil, fs.ErrExist
	}
	c := &content{}
	d.change(change{name: path, to: c})
	d.held++
	return &diskFile{disk: d, content: c}, nil
}

func (d *disk) open(path string) (file, int64, error) {
	if err := d.step(); err != nil {
		return nil, 0, err
	}
	c := d.names[path]
	if c == nil {
		return nil, 0, fs.ErrNotExist
	}
	d.held++
	return &diskFile{disk: d, content: c, from: bytes.NewReader(c.data)}, int64(len(c.data)), nil
}

func (d *disk) rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	c := d.names[from]
	if c == nil {
		return fs.ErrNotExist
	}
	d.change(change{to, c, from})
	return nil
}

func (d *disk) remove(path string) error {
	if err := d.step(); err != nil {
		return err
	}
	if d.names[path] == nil {
		return fs.ErrNotExist
	}
	d.change(change{name: path})
	return nil
}

func (d *disk) sweep(path string) error { return d.remove(path) }

func (d *disk) syncDir(string) error {
	if err := d.step(); err != nil {
		return err
	}
	for _, c := range d.pending {
		apply(d.durable, c)
	}
	d.pending = nil
	return nil
}

func apply(names map[string]*content, c change) {
	delete(names, c.from)
	if c.to == nil {
		delete(names, c.name)
		return
	}
	names[c.name] = c.to
}

func (d *disk) list(dir string) (names []string, err error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	for n := range d.names {
		if filepath.Dir(n) == filepath.Clean(dir) {
			names = append(names, filepath.Base(n))
		}
	}
	slices.Sort(names)
	return names, nil
}

// after is a disk as a loss of power may leave it: of the bytes and the names that were not synced, some.
func (d *disk) after(r *rand.Rand) *disk {
	left := newDisk()
	was := map[string]*content{}
	for n, c := range d.durable {
		was[n] = c
	}
	for _, c := range d.pending {
		if r.IntN(2) == 0 {
			apply(was, c)
		}
	}
	for n, c := range was {
		data := bytes.Clone(c.synced)
		if !bytes.Equal(c.data, c.synced) {
			switch r.IntN(4) {
			case 0: // all of it arrived
				data = bytes.Clone(c.data)
			case 1: // a part
				data = bytes.Clone(c.data[:r.IntN(len(c.data)+1)])
			case 2: // the size, but not the bytes
				data = make([]byte, len(c.data))
			}
		}
		whole := &content{data: data, synced: data}
		left.names[n], left.durable[n] = whole, whole
	}
	return left
}

// clone is a disk of its own with the same files, all durable.
func (d *disk) clone() *disk {
	left := newDisk()
	for n, c := range d.names {
		whole := &content{data: bytes.Clone(c.data), synced: bytes.Clone(c.data)}
		left.names[n], left.durable[n] = whole, whole
	}
	return left
}

// diskFile is an open file of a disk.
type diskFile struct {
	disk *disk
	*content
	from *bytes.Reader
}

func (f *diskFile) Read(b []byte) (int, error) {
	if err := f.disk.step(); err != nil {
		return 0, err
	}
	return f.from.Read(b)
}

// Write of a failing disk writes a part, as a full disk does.
func (f *diskFile) Write(b []byte) (int, error) {
	if err := f.disk.step(); err != nil {
		f.data = append(f.data, b[:len(b)/2]...)
		return len(b) / 2, err
	}
	f.data = append(f.data, b...)
	return len(b), nil
}

func (f *diskFile) Sync() error {
	if err := f.disk.step(); err != nil {
		return err
	}
	f.synced = bytes.Clone(f.data)
	return nil
}

func (f *diskFile) Close() error {
	f.disk.held--
	return f.disk.step()
}

var _ io.ReadWriteCloser = (*diskFile)(nil)
