package chip

import (
	"strings"

	"github.com/anekit/anekit/internal/near"
)

// Compiler is an interface to Apple's compiler. All lead to the same one, but take different operators and types.
type Compiler uint8

// The compilers.
const (
	InMemory Compiler = iota + 1 // the private in-memory model class, which takes MIL text
	E5                           // the e5rt runtime
	CoreML                       // Core ML, which places what the engine refuses on CPU or GPU
)

// Compilers lists them.
func Compilers() []Compiler { return []Compiler{InMemory, E5, CoreML} }

// String returns the name that ParseCompiler reads.
func (c Compiler) String() string {
	switch c {
	case InMemory:
		return "in-memory"
	case E5:
		return "e5"
	case CoreML:
		return "coreml"
	}
	return "no compiler"
}

// MarshalText returns the name, for JSON. The error is nil.
func (c Compiler) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText sets c to what [ParseCompiler] makes of a text. The error is that of ParseCompiler.
func (c *Compiler) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCompiler(string(text))
	return err
}

// ParseCompiler returns the Compiler called name: "in-memory" (also "memory", "mem"), "e5" (also "e5rt") or "coreml"
// (also "core-ml"), in any case. The error is an *Error.
func ParseCompiler(name string) (Compiler, error) {
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
	return 0, &Error{"compiler", name, near.Choices(word, "choose one of", choices)}
}
