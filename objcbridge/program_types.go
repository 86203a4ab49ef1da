package objcbridge

// Weight is a file that a MIL text names. Data is used in place, not copied: the bridge reads it
// until Program.Close, so it must neither change nor be unmapped before.
type Weight struct {
	Path string // as the text names it: "@model_path/weights/weight.bin"
	Data []byte
}

// Description is the interface of one procedure of a loaded program.
type Description struct {
	Procedure int
	Inputs    []Symbol // by rising index
	Outputs   []Symbol // likewise
}

// Symbol is an input or output as the compiler laid it out. Strides are in bytes: element (c, h, w)
// of the first batch is at c*PlaneStride + h*RowStride + w*size of the type. A surface for it has
// at least Batches*BatchStride bytes.
type Symbol struct {
	Name  string // without the framework's suffix "@output"
	Type  string // "Float16"
	Index int    // for Binding

	Batches, Channels, Depth, Height, Width          int
	BatchStride, PlaneStride, DepthStride, RowStride int
	PlaneCount, Interleave                           int
}

// Binding ties a surface to a symbol.
type Binding struct {
	Surface *Surface
	Index   int
}

// Facts is what the framework tells of a program.
type Facts struct {
	Identity     string // the key of its cache entry and the name of its directory
	Path         string // of its directory of files
	Handle       uint64 // the driver's; 0 when not loaded
	Intermediate uint64 // handle of the intermediate buffer; 0 for small programs
	State        uint64 // the framework's own state; it is not reset by unloading
	Loaded       bool   // the bridge's own account
	QueueDepth   int    // asynchronous runs that may be in flight
}
