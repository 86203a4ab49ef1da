package objcbridge

// Weight is a file that a MIL text names. The bridge reads Data in place until Program.Close, so
// Data must not change or be unmapped before.
type Weight struct {
	Path string // path in the text:  "@model_path/weights/weight.bin"
	Data []byte
}

// Binding binds a surface to a symbol.
type Binding struct {
	Surface *Surface
	Index   int // of the symbol, 0 to 254
	Bytes   int // bytes that the symbol needs; a shorter surface is rejected with ReasonShort
}

// Folders are the folders for temporary files. A framework that verifies, 382.11 of macOS 27 and later, compiles only
// programs whose files are in the user's folder.
type Folders struct {
	Process  string // of this process, where the framework puts programs' files; TMPDIR changes it
	User     string // DARWIN_USER_TEMP_DIR; empty if the system has none
	Foreign  bool   // Process is another folder than User
	Verifies bool   // the framework compares a program's files with their hashes
}

// Facts are the framework's facts about a program.
type Facts struct {
	Identity     string // the key of its cache entry and the name of its directory
	Path         string // path of its directory of files
	Handle       uint64 // the driver's handle; 0 if not loaded
	Intermediate uint64 // handle of the intermediate buffer; 0 for small programs
	State        uint64 // the framework's state; unloading does not reset it
	Loaded       bool   // in the bridge's records
	QueueDepth   int    // asynchronous runs that may be in flight
	PerfStats    uint32 // the mask of performance statistics
	Recovered    *Error // error of the first try of the last load, which then succeeded, or nil
}

// Residency says whether the memory of a loaded program may be paged out. The numbers are those of enum
// aneb_residency in src/bridge.h.
type Residency int32

// The residencies.
const (
	ResidencyDefault Residency = iota // the framework's choice
	ResidencyWired
	ResidencyPageable
)
