package chip

import (
	"strings"

	"github.com/anekit/anekit/internal/near"
)

// Road is a way that a program takes to Apple's compiler. All roads end in the same compiler, but accept
// different operators and types.
type Road uint8

// The roads.
const (
	InMemory Road = iota + 1 // the private in-memory model class, which takes MIL text
	E5                       // the e5rt runtime
	CoreML                   // Core ML, which places what the engine refuses on CPU or GPU
)

// Roads lists the roads.
func Roads() []Road { return []Road{InMemory, E5, CoreML} }

// Valid reports whether r is one of Roads.
func (r Road) Valid() bool { return r >= InMemory && r <= CoreML }

// String returns the name that ParseRoad reads.
func (r Road) String() string {
	switch r {
	case InMemory:
		return "in-memory"
	case E5:
		return "e5"
	case CoreML:
		return "coreml"
	}
	return "no road"
}

// MarshalText returns the name, for JSON.
func (r Road) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// ParseRoad returns the Road called name: "in-memory" (also "memory", "mem"), "e5" (also "e5rt") or "coreml"
// (also "core-ml"), in any case. The error is an *Error.
func ParseRoad(name string) (Road, error) {
	word := strings.ToLower(strings.TrimSpace(name))
	switch strings.NewReplacer("-", "", " ", "", "_", "").Replace(word) {
	case "inmemory", "memory", "mem":
		return InMemory, nil
	case "e5", "e5rt":
		return E5, nil
	case "coreml", "cml":
		return CoreML, nil
	}
	choices := []string{"in-memory", "e5", "coreml"}
	return 0, &Error{"road", name, near.Choices(word, "choose one of", choices)}
}
