package objcbridge

// Weight is a file that a MIL text names. Data is used in place, not copied: the bridge reads it
// until Program.Close, so it must neither change nor be unmapped before.
type Weight struct {
	Path string // as the text names it: "@model_path/weights/weight.bin"
	Data []byte
}

// Binding ties a surface to a symbol.
type Binding struct {
	Surface *Surface
	Index   int // of the symbol, 0 to 254
	Bytes   int // that the symbol needs; a shorter surface is refused with ReasonShort
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
	PerfStats    uint32 // the mask of performance statistics
	Recovered    *Error // what the latest load was refused with before it succeeded, or nil
}
