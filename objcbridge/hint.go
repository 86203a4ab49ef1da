package objcbridge

var reasonHints = map[Reason]string{
	ReasonArgument: "correct the argument",
	ReasonShort:    "make the surface at least as large as Batches*BatchStride of the symbol",
	ReasonOffset:   "give every tensor a surface of its own, or slice a larger one in the MIL program",
	ReasonIndex:    "take procedure and indices from the attributes",
	ReasonBudget:   "start a new process, or load programs that are compiled already",
	ReasonCrowded:  "unload a program first",
	ReasonFile:     "make room in the temporary directory, or point TMPDIR, on Linux TEMP, to one that can be written",
	ReasonReload:   "close this program and create it again",
}

var codeHints = map[int64]string{
	1:  "use a QoS other than 0 and no restricted options",
	2:  "use a QoS other than 0",
	3:  "try again when fewer programs are being loaded",
	7:  "sign the binary: codesign -s - BINARY",
	9:  "create the program again",
	16: "create the program again",
	53: "unload programs, free memory, and try again",
}

var statusHints = map[uint32]string{
	StatusShort:       "compare surfaces and indices with the attributes",
	StatusIndex:       "compare surfaces and indices with the attributes",
	StatusNoMemory:    "unload programs, free memory, and try again",
	StatusNoResources: "unload a program, or try again",
	StatusCancelled:   "try again",
	StatusAborted:     "try again",
}

// A NO without an NSError: the message says what it can have been.
var noHints = map[Stage]string{
	StageCompile:  "check that the temporary directory can be written, and create the program again",
	StageLoad:     "create the program again",
	StageEvaluate: "load the program, and create the request again",
}

// hint is what to do next, or empty.
func (e *Error) hint() string {
	switch e.Kind {
	case KindRefused:
		return reasonHints[e.Reason]
	case KindNo:
		return noHints[e.Stage]
	case KindMissing:
		if e.Stage == StageOpen {
			return "name a framework that is there in Options.Framework; Apple's is on macOS only"
		}
		return "`ane-roundtrip info` lists what this framework has"
	case KindException:
		return "the call had no effect that can be relied on: close the program"
	case KindNSError, KindContradiction:
		if e.Domain == DomainCompiler {
			return "the soft engine names the operator that is at fault"
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
