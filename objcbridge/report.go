package objcbridge

import (
	"fmt"
	"strconv"
)

// CheckStatus is a result of the self-check. The numbers are those of enum aneb_status in src/bridge.h.
type CheckStatus int32

// The results of the self-check.
const (
	CheckOK CheckStatus = iota
	CheckNoClass
	CheckNoSelector
	CheckOtherEncoding
)

// String returns "ok", "no class", "no selector" or "other encoding".
func (s CheckStatus) String() string {
	switch s {
	case CheckOK:
		return "ok"
	case CheckNoClass:
		return "no class"
	case CheckNoSelector:
		return "no selector"
	case CheckOtherEncoding:
		return "other encoding"
	default:
		return "status " + strconv.Itoa(int(s))
	}
}

// MarshalText encodes the status as text, for JSON. The error is nil.
func (s CheckStatus) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses the output of MarshalText for the statuses above. Any other text is an error.
func (s *CheckStatus) UnmarshalText(b []byte) error {
	for known := CheckOK; known <= CheckOtherEncoding; known++ {
		if known.String() == string(b) {
			*s = known
			return nil
		}
	}
	return fmt.Errorf("objcbridge: unknown status of a check %q", b)
}

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
	Pending      int64 `json:"pending"`    // asynchronous runs in flight
	Forgotten    int64 `json:"forgotten"`  // pending runs abandoned by their caller
	Unexpected   int64 `json:"unexpected"` // completions that arrived twice or after an error
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
