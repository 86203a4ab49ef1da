package driverabi

// ErrorDomain is the domain of NSErrors of the framework's clients and
// CompilerErrorDomain that of its compiler (facts, section 6).
const (
	ErrorDomain         = "com.apple.appleneuralengine"
	CompilerErrorDomain = "com.apple.appleneuralengine.compiler"
)

// ClientError is a code of an NSError in ErrorDomain.
type ClientError struct {
	Code    int
	Meaning string
}

// ClientErrors are the codes of section 6 of the facts. Code 28 is not documented.
//
// Its 25 is "unsupported", while the answer to usage type 2 is called the unsupported
// code 24 by the text below table 27.3; both are kept as they stand.
func ClientErrors() []ClientError {
	return []ClientError{
		{1, "entitlement or restricted access needed"},
		{2, "real-time priority refused"},
		{3, "timed out"},
		{4, "program creation failed"},
		{5, "program inference overflow"},
		{6, "program load failed"},
		{7, "code-signing identity missing"},
		{8, "program inference error"},
		{9, "file access failed"},
		{10, "invalid model"},
		{11, "invalid model key"},
		{12, "purge of a system model refused"},
		{13, "mapping surfaces failed"},
		{14, "unmapping surfaces failed"},
		{15, "chaining prepare"},
		{16, "file identifier not found"},
		{17, "model identifier not found"},
		{18, "base model of the new instance not found"},
		{19, "cacheURLIdentifier must be nil"},
		{20, "bad instance"},
		{21, "loading the new instance failed"},
		{22, "host or interface too old"},
		{23, "program not found"},
		{24, "no data"},
		{25, "unsupported"},
		{26, "bad argument"},
		{27, "virtualisation data error"},
		{29, "virtualisation host error"},
	}
}

// Statuses of a processed request (facts, section 6). 0xb and 0x15 were seen too; what
// they mean is unknown.
const (
	StatusBadIndex    = 0x2  // bad indices or procedure, or no device
	StatusMapRefused  = 0x12 // map refused
	StatusBadGeometry = 0x1d // size or geometry of a surface
)

// Status types of a processed request (facts, section 6).
const (
	StatusTypeFinished = 8
	StatusTypeError    = 9
	StatusTypeOverflow = 19
)

// ClientErrorOf is the client error code that a code of the driver becomes, and false
// where that is not documented (facts, section 6).
func ClientErrorOf(driver int) (code int, known bool) {
	switch driver {
	case 14:
		return 23, true // program not found
	case 15:
		return 3, true // timed out
	}
	return 0, false
}
