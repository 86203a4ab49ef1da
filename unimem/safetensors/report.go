package safetensors

// Access is what has been done with the bytes of a tensor.
type Access string

// What can be done with the bytes of a tensor.
const (
	Mapped Access = "mapped" // pages of the file, read when they are touched
	Direct Access = "direct" // read past the page cache, from the disk to memory in one transfer
	Read   Access = "read"   // read through the page cache
	Copied Access = "copied" // copied by the processor
)

// Report says how a File was opened and what happened to each tensor.
type Report struct {
	Access Access // of the File: Mapped, Direct, Read or Copied
	Why    string // the reason, on one line
	// Mapped, Loaded and Copied are sums in bytes.
	Mapped, Loaded, Copied int64
	// Ringed is what was read through io_uring. Ring is why, with the option Ring, not everything was, or not to
	// registered memory: an error that matches ErrRing.
	Ringed int64
	Ring   error
	// Usable is the number of bytes of tensors that View can view as their type, of Bytes in all.
	Usable, Bytes int64
	Tensors       []TensorReport // in the order of the names, without those of Align
}

// TensorReport is the report on one tensor.
type TensorReport struct {
	Name    string
	Access  Access
	Bytes   int64
	Offset  int64 // in its file
	Aligned bool
}

// Report returns the report. It is valid after Close.
func (f *File) Report() Report {
	if f == nil {
		return Report{}
	}
	r := Report{Access: f.access, Why: f.why, Ringed: f.ringed, Ring: f.ring}
	for i := range f.count() {
		t := f.tensor(i)
		if Padding(t.Name()) {
			continue
		}
		one := TensorReport{t.Name(), t.shard.access, t.Size(), t.Offset(), t.Aligned()}
		switch one.Access {
		case Mapped:
			r.Mapped += one.Bytes
		case Direct, Read:
			r.Loaded += one.Bytes
		case Copied:
			r.Copied += one.Bytes
		}
		if one.Aligned {
			r.Usable += one.Bytes
		}
		r.Bytes += one.Bytes
		r.Tensors = append(r.Tensors, one)
	}
	return r
}
