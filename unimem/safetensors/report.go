package safetensors

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
