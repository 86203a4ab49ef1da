package driverabi

// ErrorDomain is the domain of NSErrors of the framework's clients and
// CompilerErrorDomain that of its compiler (docs/FACTS.md, Errors).
const (
	ErrorDomain         = "com.apple.appleneuralengine"
	CompilerErrorDomain = "com.apple.appleneuralengine.compiler"
)

// clientErrors are the codes of docs/FACTS.md, Errors.
//
// Its 25 is "not supported", but the text below table 27.3 calls the answer to usage type 2 the unsupported code 24.
// Both are kept. The table is never written.
var clientErrors = map[int64]string{
	1:  "needs an entitlement or restricted access",
	2:  "real-time priority is not granted",
	3:  "timed out in the framework or its broker",
	4:  "the program could not be created",
	5:  "too many results returned at once",
	6:  "the program could not be loaded",
	7:  "this process has no code-signing identity",
	8:  "the run failed",
	9:  "a file of the program cannot be read",
	10: "the model is invalid",
	11: "the model's key is invalid",
	12: "a system model may not be purged",
	13: "surfaces could not be mapped",
	14: "surfaces could not be unmapped",
	15: "chaining could not be prepared",
	16: "no file has this identifier",
	17: "no model has this identifier",
	18: "the base model of a new instance was not found",
	19: "a cache URL identifier is not allowed here",
	20: "bad instance of a model",
	21: "a new instance of the model could not be loaded",
	22: "the host system or its interface is too old",
	23: "the driver does not have this program",
	24: "no data",
	25: "not supported",
	26: "bad argument",
	27: "the virtual machine's data is invalid",
	28: "the virtual machine's kernel call failed",
	29: "the virtual machine's host failed",
	34: "a power transition cancelled the request",
	42: "a surface is shorter than the program needs",
	47: "the request was aborted",
	53: "the program could not be loaded for lack of memory",
	54: "no engine resources are free for the program",
}

// ClientMeaning explains a code of ErrorDomain; "" for an unknown one.
func ClientMeaning(code int64) string { return clientErrors[code] }

// Statuses of a processed request (docs/FACTS.md, Errors). 0xb and
// 0x16 were seen too; what they mean is unknown.
const (
	StatusNoMemory    = 0x01 // no memory
	StatusBadIndex    = 0x02 // bad indices or procedure, no device, or wired memory near its limit
	StatusNoResources = 0x05 // no engine resources are free
	StatusNotFound    = 0x0e // the driver's 14: program not found
	StatusCancelled   = 0x12 // a run: the request was cancelled; a map: refused
	StatusAborted     = 0x15 // the request was aborted
	StatusBadGeometry = 0x1d // size or geometry of a surface
)

// StatusMeaning explains a status of a processed request; "" for an unknown one. Three numbers
// are returns of IOKit. The statuses were measured on M1 to M5 by public projects, and the
// framework of macOS 27 describes them.
func StatusMeaning(status uint32) string {
	switch status {
	case StatusNoMemory:
		return "no memory"
	case StatusBadIndex:
		return "symbol indices or procedure that the program does not have, no device, or wired memory near its limit"
	case StatusNoResources:
		return "no engine resources are free"
	case StatusCancelled:
		return "the request was cancelled"
	case StatusAborted:
		return "the request was aborted"
	case StatusBadGeometry:
		return "a surface is shorter than the program needs"
	case uint32(BadArgument):
		return "the kernel rejects an argument"
	case uint32(Unsupported): // here: no entitlement
		return "an entitlement is missing"
	case uint32(NotPermitted):
		return "the kernel does not trust the program's signature"
	}
	return ""
}
