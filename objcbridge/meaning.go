package objcbridge

import "github.com/anekit/anekit/internal/engine/driverabi"

// DriverStatus returns Status without the loading step. Up to macOS 26 failures of loading have one number for both,
// status<<16 | step. 0x50004 is status 5 in step 4 on macOS 27 (inferred from the two forms of the same failure).
func (e *Error) DriverStatus() uint32 {
	if e.Stage == StageLoad && e.Status > 0xffff && e.Status < 0xe0000000 {
		return e.Status >> 16
	}
	return e.Status
}

// NSError domains of the framework and of its compiler.
const (
	DomainEngine   = driverabi.ErrorDomain
	domainCompiler = driverabi.CompilerErrorDomain
)

// domainVirtual is the domain of the framework in a virtual machine.
const domainVirtual = "com.apple.applevirtioneuralengine"

// The domain of these codes is not known, so they have a meaning in both.
var virtualCodes = map[int64]bool{22: true, 27: true, 29: true}

// meaning explains domain, code and status: "a surface is shorter than the program needs" for code 8
// with status 0x1d. It is empty for errors from outside the framework and for numbers of unknown
// meaning.
func (e *Error) meaning() string {
	if e.Kind != KindNSError && e.Kind != kindContradiction {
		return ""
	}
	switch {
	case e.Domain == domainCompiler && e.Code == 1:
		return "the compiler rejects the MIL program"
	case e.Domain == domainVirtual && virtualCodes[e.Code]:
		return driverabi.ClientMeaning(e.Code)
	case e.Domain != DomainEngine:
		return ""
	}
	mapping := e.Code == 13 || e.Code == 14 // these codes' statuses have other meanings
	if m := driverabi.StatusMeaning(e.DriverStatus()); e.HasStatus && m != "" && !mapping {
		return m
	}
	return driverabi.ClientMeaning(e.Code)
}

var reasonHints = map[Reason]string{
	ReasonArgument: "correct the argument",
	ReasonShort:    "make the surface at least as large as Batches*BatchStride of the symbol",
	ReasonOffset:   "give every tensor a surface of its own, or slice a larger one in the MIL program",
	ReasonIndex:    "use the procedure and indices of the attributes",
	ReasonCrowded:  "unload a program first",
	ReasonFile: "make room in the temporary directory; macOS 27 takes no other TMPDIR than the user's own folder, which is used " +
		"without TMPDIR",
	ReasonReload: "close this program and create it again",
	ReasonHeld:   "wait for the other process, or give the call more time",
}

var codeHints = map[int64]string{
	1: "use a QoS other than 0 and no restricted options",
	2: "use a QoS other than 0",
	3: "try again when fewer programs are being loaded",
	7: "sign the binary: codesign -s - BINARY",
	9: "create the program again",
	10: "unset TMPDIR, because macOS 27 compiles only what is in the user's own folder for temporary files; put all " +
		"weights into one file",
	16: "create the program again",
	53: "unload programs, free memory, and try again",
}

var statusHints = map[uint32]string{
	driverabi.StatusBadGeometry: "compare surfaces and indices with the attributes",
	driverabi.StatusBadIndex:    "compare surfaces and indices with the attributes",
	driverabi.StatusNoMemory:    "unload programs, free memory, and try again",
	driverabi.StatusNoResources: "unload a program, or try again",
	driverabi.StatusCancelled:   "try again",
	driverabi.StatusAborted:     "try again",
}

// noHints are for a NO without an NSError, where the bridge's message has the
// usual cause.
var noHints = map[Stage]string{
	StageCompile:  "check that the temporary directory can be written, and create the program again",
	StageLoad:     "create the program again",
	StageEvaluate: "load the program, and create the request again",
}

// hint returns the next step, or "".
func (e *Error) hint() string {
	switch e.Kind {
	case KindRefused:
		return reasonHints[e.Reason]
	case KindNo:
		return noHints[e.Stage]
	case KindMissing:
		if e.Stage == stageOpen {
			return "set Options.Framework to an existing framework; Apple's is on macOS only"
		}
		return "`ane-roundtrip info` lists what this framework has"
	case kindException:
		return "the effect of the call is undefined: close the program"
	case KindNSError, kindContradiction:
		if e.Domain == domainCompiler {
			return "the soft engine reports the faulty operator"
		}
		if e.Domain == DomainEngine {
			if s := e.DriverStatus(); e.HasStatus && statusHints[s] != "" {
				return statusHints[s]
			}
			return codeHints[e.Code]
		}
	}
	return ""
}
