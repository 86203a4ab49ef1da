package objcbridge

import "github.com/anekit/anekit/internal/engine/driverabi"

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
	DomainEngine   = driverabi.ErrorDomain
	DomainCompiler = driverabi.CompilerErrorDomain
	DomainEspresso = DomainEngine + ".espresso"
	DomainVirtual  = "com.apple.applevirtioneuralengine"
)

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
