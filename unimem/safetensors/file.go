package safetensors

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/internal/sniff"
	"github.com/anekit/anekit/internal/wholefile"
	"github.com/anekit/anekit/unimem"
)

// File is an open file, or several files with their index. Its methods are safe for concurrent
// use. A nil or zero File is closed and has no tensors.
type File struct {
	path   string
	shards []*shard
	order  []ref // the tensors in the order of their names
	report Report
	own    *unimem.Tape // of files that were read into memory of the File

	places    []placed // what the index says, in the order of the names, until it is compared
	indexPath string

	closed atomic.Bool
	mu     sync.Mutex // held by Close
}

// ref is a tensor of a File: a shard and an index of its records.
type ref struct{ shard, record uint32 }

// shard is one file.
type shard struct {
	path string
	*header
	size  int64         // of the file
	block *unimem.Block // nil for a file without tensors' bytes
	base  int           // offset of the file's first byte in block

	tape       *unimem.Tape // of Load, whose Block block is
	generation uint64
}

// Open opens a .safetensors file, an index *.safetensors.index.json with the files that it names, or
// a folder of either. It maps the files read-only and reads their headers; the system reads
// the tensors when they are touched. On systems where unimem maps no files it reads them into
// memory of the Go heap; Report has the reason.
//
// Every error is an *Error. Errors: ErrHeader, ErrTruncated, ErrOverlap, ErrHole, ErrDuplicate, ErrDType, ErrShape,
// ErrName (the index and the files do not agree), and those of the system and of unimem.
func Open(path string) (*File, error) {
	f := &File{path: path, report: Report{Access: Mapped, Why: "Open maps"}}
	if err := f.find("open"); err != nil {
		return nil, err
	}
	for _, s := range f.shards {
		if err := f.open(s); err != nil {
			return nil, errors.Join(named(err, "open", s.path), f.release())
		}
	}
	if err := f.join("open"); err != nil {
		return nil, errors.Join(err, f.release())
	}
	return f, nil
}

// named gives an error of a file its call and its path.
func named(err error, op, path string) error {
	var e *Error
	if errors.As(err, &e) {
		e.Op, e.File = op, cmp.Or(e.File, path)
		return err
	}
	return &Error{Base: errtext.Base{Op: op, Err: err}, File: path, Offset: -1}
}

// open maps a file and reads its header.
func (f *File) open(s *shard) error {
	file, err := s.openHeader()
	if err != nil {
		return err
	}
	defer file.Close() // it was only read; the mapping has a descriptor of its own
	s.block, err = unimem.MapFile(file)
	switch {
	case errors.Is(err, unimem.ErrShare):
		f.report.Access = Copied
		s.block, err = readWhole(file, s.size)
		return err
	case err == nil && int64(s.block.Size()) != s.size:
		return &Error{Base: errtext.Base{Err: ErrChanged, Detail: "its size changed while it was opened"}, Offset: -1}
	}
	return err
}

// unfit gives an error of wholefile its kind.
func unfit(err error) error {
	if !errors.Is(err, wholefile.ErrIrregular) && !errors.Is(err, wholefile.ErrLong) {
		return err
	}
	return &Error{Base: errtext.Base{Err: ErrHeader, Detail: err.Error(),
		Hint: "give a .safetensors file, its index, or a folder of either"}, Offset: -1}
}

// openHeader opens the file, and reads and checks its header.
func (s *shard) openHeader() (*os.File, error) {
	file, err := wholefile.Open(s.path)
	if err != nil {
		return nil, unfit(err)
	}
	if err := s.readHeader(file); err != nil {
		_ = file.Close() // it was only read
		return nil, err
	}
	return file, nil
}

// readHeader reads and checks the header. Of a file that is known to be of another kind it says of which.
func (s *shard) readHeader(file *os.File) error {
	err := s.parse(file)
	if fault := (*Error)(nil); errors.As(err, &fault) && fault.Err != ErrChanged {
		if found := sniff.File(file, s.path); found.Foreign(sniff.Safetensors) {
			kind := ErrHeader
			if found.Kind == sniff.Empty {
				kind = ErrTruncated
			}
			return &Error{Base: errtext.Base{Op: fault.Op, Err: kind, Detail: "it is " + found.What, Hint: found.Next},
				Offset: -1}
		}
	}
	return err
}

func (s *shard) parse(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	s.size = info.Size()
	var first [lead]byte
	if s.size < lead {
		return fault(ErrTruncated, 0, "", "the file has %d bytes, the length of its header has %d", s.size, lead)
	}
	if err := readAt(file, first[:], 0); err != nil {
		return err
	}
	n, err := headerLength(first[:], s.size)
	if err != nil {
		return err
	}
	text := make([]byte, n)
	if err := readAt(file, text, lead); err != nil {
		return err
	}
	s.header, err = parseHeader(text, s.size)
	return err
}

// readAt reads bytes that lie within the size that the caller has found. The error matches ErrChanged if the file has
// become shorter since.
func readAt(file *os.File, b []byte, at int64) error {
	_, err := file.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		return &Error{Base: errtext.Base{Err: ErrChanged, Detail: "it became shorter while it was opened",
			Hint: "open it again when its writer has ended"}, Offset: at}
	}
	return err
}

// readWhole reads a file into memory of the Go heap.
func readWhole(file *os.File, size int64) (*unimem.Block, error) {
	b, err := unimem.Open(int(size), unimem.OnHeap())
	if err != nil {
		return nil, err
	}
	if err := readAt(file, b.Bytes()[:size], 0); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// join sorts the tensors by name, refuses names that occur in two files, and compares the names with the index.
func (f *File) join(op string) error {
	n := 0
	for _, s := range f.shards {
		n += len(s.records)
	}
	f.order = make([]ref, 0, n)
	for i, s := range f.shards {
		for j := range s.records {
			f.order = append(f.order, ref{uint32(i), uint32(j)})
		}
	}
	if len(f.shards) > 1 {
		slices.SortFunc(f.order, func(a, b ref) int { return cmp.Compare(f.name(a), f.name(b)) })
	}
	for i := 1; i < len(f.order); i++ {
		a, b := f.order[i-1], f.order[i]
		if name := f.name(a); a.shard != b.shard && name == f.name(b) && !padding(name) {
			return &Error{Base: errtext.Base{Op: op, Err: ErrDuplicate, Detail: "also in " + f.shards[a.shard].path},
				File: f.shards[b.shard].path, Tensor: name, Offset: -1}
		}
	}
	return f.agree(op)
}

func (f *File) name(r ref) string {
	s := f.shards[r.shard]
	return s.name(&s.records[r.record])
}

// tensor returns tensor i in the order of the names, in which those of Align are too.
func (f *File) tensor(i int) Tensor {
	r := f.order[i]
	s := f.shards[r.shard]
	return Tensor{f, s, &s.records[r.record]}
}

// Path returns the path given to Open.
func (f *File) Path() string { return f.path }

// Names returns the names of all tensors, sorted, without those of Align.
func (f *File) Names() []string {
	if f == nil {
		return nil
	}
	names := make([]string, 0, len(f.order))
	for i := range f.order {
		if name := f.tensor(i).Name(); !padding(name) {
			names = append(names, name)
		}
	}
	return names
}

// Tensor returns the tensor called name. Errors: ErrName, ErrClosed.
func (f *File) Tensor(name string) (Tensor, error) {
	if f == nil || len(f.shards) == 0 || f.closed.Load() {
		return Tensor{}, &Error{Base: errtext.Base{Op: "tensor", Err: ErrClosed}, Tensor: name, Offset: -1}
	}
	i, ok := slices.BinarySearchFunc(f.order, name, func(r ref, name string) int {
		return cmp.Compare(f.name(r), name)
	})
	if !ok {
		return Tensor{}, &Error{Base: errtext.Base{Op: "tensor", Err: ErrName}, File: f.path, Tensor: name, Offset: -1}
	}
	return f.tensor(i), nil
}

// Metadata returns a copy of the metadata, empty if there is none. That of several files is
// merged; the first file wins.
func (f *File) Metadata() map[string]string {
	all := map[string]string{}
	if f == nil {
		return all
	}
	for _, s := range slices.Backward(f.shards) {
		maps.Copy(all, s.meta)
	}
	return all
}

// Close unmaps the files, or frees the memory of OpenAs, once; repeating it returns nil. The error is unimem.ErrInUse while a
// Block of Tensor.Block is retained, as by a bound request; then Close changes nothing. Close
// of a loaded File leaves its Tape to the caller.
func (f *File) Close() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed.Load() {
		return nil
	}
	if err := f.release(); err != nil {
		return &Error{Base: errtext.Base{Op: "close", Err: err}, File: f.path, Offset: -1}
	}
	f.closed.Store(true)
	return nil
}

// release closes the Blocks that belong to f, all or none.
func (f *File) release() error {
	if f.own != nil {
		return f.own.Close()
	}
	var own []*unimem.Block
	for _, s := range f.shards {
		if s.tape == nil && s.block != nil {
			own = append(own, s.block)
		}
	}
	if err := unimem.CloseAll(own...); err != nil {
		return err
	}
	for _, s := range f.shards {
		if s.tape != nil {
			s.block.Release()
		}
	}
	return nil
}

// Access is how the bytes of a File came to memory.
type Access string

// How the bytes of a File can come to memory.
const (
	Mapped Access = "mapped" // pages of the file, read when they are touched
	Direct Access = "direct" // read past the page cache, from the disk to memory in one transfer
	Read   Access = "read"   // read through the page cache
	Copied Access = "copied" // read into the Go heap, on a system that maps no files
)

// Report says how a File was opened.
type Report struct {
	Access Access // of several files: Direct or Mapped only if all are
	Why    string // the reason, on one line
	// Ringed is what was read through io_uring. Ring is why, with the option Ring, not everything was, or not to
	// registered memory: an error that matches ErrRing.
	Ringed int64
	Ring   error
}

// Report returns the report. It is valid after Close.
func (f *File) Report() Report {
	if f == nil {
		return Report{}
	}
	return f.report
}
