package objcbridge

import (
	"errors"
	"strconv"
)

// Answer is yes, no or unknown.
type Answer int32

// The answers. In JSON they are null, false and true.
const (
	AnswerUnknown Answer = -1
	AnswerNo      Answer = 0
	AnswerYes     Answer = 1
)

// String returns "yes", "no" or "unknown".
func (a Answer) String() string {
	switch a {
	case AnswerNo:
		return "no"
	case AnswerYes:
		return "yes"
	default:
		return "unknown"
	}
}

// MarshalJSON returns true, false or null. The error is nil.
func (a Answer) MarshalJSON() ([]byte, error) {
	switch a {
	case AnswerNo:
		return []byte("false"), nil
	case AnswerYes:
		return []byte("true"), nil
	default:
		return []byte("null"), nil
	}
}

// CheckStatus is a result of the self-check. The numbers are those of enum aneb_status in src/bridge.h.
type CheckStatus int32

// The results of the self-check. String has their words.
const (
	checkOK CheckStatus = iota
	checkNoClass
	checkNoSelector
	checkOtherEncoding
)

// String returns "ok", "no class", "no selector" or "other encoding".
func (s CheckStatus) String() string {
	switch s {
	case checkOK:
		return "ok"
	case checkNoClass:
		return "no class"
	case checkNoSelector:
		return "no selector"
	case checkOtherEncoding:
		return "other encoding"
	default:
		return "status " + strconv.Itoa(int(s))
	}
}

// MarshalText encodes the status as text, for JSON. The error is nil.
func (s CheckStatus) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Check is one row of the self-check: a method that the bridge sends, and the method in the framework.
type Check struct {
	Class       string      `json:"class"`
	Selector    string      `json:"selector"`
	ClassMethod bool        `json:"class_method"`
	Expected    string      `json:"expected"` // type encoding without frame offsets
	Found       string      `json:"found"`    // without frame offsets; empty if missing
	NeededFor   string      `json:"needed_for"`
	Required    bool        `json:"required"`
	Status      CheckStatus `json:"status"`
}

// Device is the framework's facts about the machine. Unknown numbers are -1 and unknown strings empty.
type Device struct {
	HasANE         Answer `json:"has_ane"`
	VirtualMachine Answer `json:"virtual_machine"`
	InternalBuild  Answer `json:"internal_build"`
	Engines        int    `json:"engines"`
	Cores          int    `json:"cores"` // frameworks before 382.7.4 guess the number for unknown chips; see Registry
	Board          int64  `json:"board"`
	Architecture   string `json:"architecture"` // "h13g"
	Subtype        string `json:"subtype"`
	Variant        string `json:"variant"`
	Product        string `json:"product"`
	Build          string `json:"build"` // build of the system:  "25E246"
}

// Property is an entry of DeviceProperties of a service of the IORegistry.
type Property struct {
	Service string `json:"service"` // "H11ANEIn", or "H1xANELoadBalancer", its root
	Name    string `json:"name"`
	Value   string `json:"value"`
}

// Usage is this process's usage and live objects, over all frameworks opened through one bridge library.
type Usage struct {
	Compiles     int64 `json:"compiles"`
	Loaded       int64 `json:"loaded"`
	ProgramLimit int64 `json:"program_limit"`
	Programs     int64 `json:"programs"`   // alive
	Surfaces     int64 `json:"surfaces"`   // alive
	Requests     int64 `json:"requests"`   // alive
	Identities   int64 `json:"identities"` // directories of programs in use
}

// Report is everything known of a bridge and its framework without compiling.
type Report struct {
	Library   string     `json:"library"` // path of the bridge library; empty if it is part of the binary
	Framework string     `json:"framework"`
	Checks    []Check    `json:"checks"`
	Device    *Device    `json:"device"`                   // nil if a required check failed
	Registry  []Property `json:"registry"`                 // empty if it cannot be read
	Unread    string     `json:"registry_error,omitempty"` // the reason for an empty Registry
	Usage     Usage      `json:"usage"`
}

// Inspect opens a bridge, collects all facts that need no compiling, and closes it. The Report
// holds the available facts even if the error is not nil, for example the self-check of a framework
// that lacks a class.
func Inspect(o Options) (Report, error) {
	report := Report{Framework: o.withDefaults().Framework}
	b, err := open(o)
	if err != nil {
		return report, err
	}
	report.Library = b.lib.path
	report.Checks, err = b.selfCheck()
	if err == nil {
		var device Device
		if device, err = b.Device(); err == nil {
			report.Device = &device
		}
		var unread error
		if report.Registry, unread = b.registry(); unread != nil {
			report.Unread = unread.Error()
		}
	}
	report.Usage = b.Usage()
	return report, errors.Join(err, b.Close())
}
