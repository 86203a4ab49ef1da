package objcbridge

// Statuses of the driver that callers handle.
const (
	StatusNoMemory    uint32 = 0x01
	StatusIndex       uint32 = 0x02
	StatusNoResources uint32 = 0x05
	StatusCancelled   uint32 = 0x12
	StatusAborted     uint32 = 0x15
	StatusShort       uint32 = 0x1d
)

// DriverStatus returns Status without the loading step. Up to macOS 26 failures of loading have one
// number for both, status<<16 | step: 0x50004 is status 5 in step 4 on macOS 27 (inferred from the two
// forms of the same failure).
func (e *Error) DriverStatus() uint32 {
	if e.Stage == StageLoad && e.Status > 0xffff && e.Status < 0xe0000000 {
		return e.Status >> 16
	}
	return e.Status
}

// NSError domains of the framework. Those of the compiler and the translator are the first with a
// suffix.
const (
	DomainEngine   = "com.apple.appleneuralengine"
	DomainCompiler = DomainEngine + ".compiler"
	DomainEspresso = DomainEngine + ".espresso"
	DomainVirtual  = "com.apple.applevirtioneuralengine"
)

// Driver statuses: measured on M1 to M5 by public projects, and described by the framework of macOS
// 27. 0xb and 0x16 have been observed too; their meaning is unknown.
var statusMeanings = map[uint32]string{
	StatusNoMemory:    "no memory",
	StatusIndex:       "symbol indices or procedure that the program does not have, or no device",
	StatusNoResources: "no engine resources are free",
	StatusCancelled:   "the request was cancelled",
	StatusAborted:     "the request was aborted",
	StatusShort:       "a surface is shorter than the program needs",
	0xe00002c2:        "the kernel rejects an argument",
	0xe00002c7:        "an entitlement is missing",
	0xe00002e2:        "the kernel does not trust the program's signature",
}

// Codes of DomainEngine, from decompiled and measured framework code of macOS 15 to 26.
var engineMeanings = map[int64]string{
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
	42: "a surface is shorter than the program needs", // this and the next two: macOS 27
	47: "the request was aborted",
	53: "the program could not be loaded for lack of memory",
}

// The domain of these codes is not known, so they have a meaning in both.
var virtualCodes = map[int64]bool{22: true, 27: true, 29: true}

// Meaning explains domain, code and status: "a surface is shorter than the program needs" for code 8
// with status 0x1d. It is empty for errors from outside the framework and for numbers of unknown
// meaning.
func (e *Error) Meaning() string {
	if e.Kind != KindNSError && e.Kind != KindContradiction {
		return ""
	}
	switch {
	case e.Domain == DomainCompiler && e.Code == 1:
		return "the compiler rejects the MIL program"
	case e.Domain == DomainVirtual && virtualCodes[e.Code]:
		return engineMeanings[e.Code]
	case e.Domain != DomainEngine:
		return ""
	}
	mapping := e.Code == 13 || e.Code == 14 // these codes' statuses have other meanings
	if m := statusMeanings[e.DriverStatus()]; e.HasStatus && m != "" && !mapping {
		return m
	}
	return engineMeanings[e.Code]
}
