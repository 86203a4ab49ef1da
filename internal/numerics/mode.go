package numerics

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/chip"
)

// Mode is the arithmetic of one chip. The zero Mode is Reference.
type Mode uint8

// The modes.
const (
	Reference Mode = iota // sums in fp32 or wider, one rounding to nearest even, no chip
	M1                    // H13
	M2                    // H14
	M4                    // H16g
	M5                    // H17
	M6                    // H18g, the best measured one
)

// modes is the name, the chip and the rules of each Mode, in their order.
var modes = [...]struct {
	name, chip string
	rules      Rules
}{
	{"reference", "", 0},
	{"m1", "H13", common | Fours | BiasLast | SliceTimes16},
	{"m2", "H14", common | HalfAway | SliceTimes16},
	{"m4", "H16g", common | HalfAway | SoftplusEnds},
	{"m5", "H17", common | HalfAway | RoundInHalf | SoftplusEnds},
	{"m6", "H18g", common | HalfAway},
}

// common are the rules that all chips share.
const common = Exponent31 | ProductRounding | ProductDropped | Range | Tables | Int8Sums | ReduceAway | Steps

// Modes lists every Mode, Reference first.
func Modes() []Mode {
	all := make([]Mode, len(modes))
	for i := range all {
		all[i] = Mode(i)
	}
	return all
}

// Names lists the names that Parse accepts, in the order of Modes.
func Names() []string {
	var all []string
	for _, m := range modes {
		all = append(all, m.name)
	}
	return all
}

// Parse returns the Mode of a name: reference, m1, m2, m4, m5 or m6.
func Parse(name string) (Mode, error) {
	if i := slices.Index(Names(), name); i >= 0 {
		return Mode(i), nil
	}
	return Reference, fmt.Errorf("there is no numerics mode %q; choose one of %s", name, strings.Join(Names(), ", "))
}

// Of returns the Mode of a chip, and Reference for the zero Chip. The error names the chips that have been measured.
func Of(c chip.Chip) (Mode, error) {
	if c == 0 {
		return Reference, nil
	}
	m, err := Parse(c.String())
	if err != nil {
		return Reference, fmt.Errorf("the arithmetic of %s is not known; choose one of %s", c,
			strings.Join(Names()[1:], ", "))
	}
	return m, nil
}

// Chip returns the chip of m, none for Reference.
func (m Mode) Chip() chip.Chip {
	c, _ := chip.Parse(m.String()) // Reference is no chip's name
	return c
}

// String returns the name of m.
func (m Mode) String() string {
	if int(m) < len(modes) {
		return modes[m].name
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// MarshalText returns the name of m, and an error for a Mode that does not exist.
func (m Mode) MarshalText() ([]byte, error) {
	if int(m) >= len(modes) {
		return nil, fmt.Errorf("there is no numerics mode %d", uint8(m))
	}
	return []byte(modes[m].name), nil
}

// UnmarshalText sets m to the Mode of a name.
func (m *Mode) UnmarshalText(name []byte) (err error) {
	*m, err = Parse(string(name))
	return err
}

// Rules returns the properties in which the chip differs from Reference; none for Reference and for a Mode
// that does not exist.
func (m Mode) Rules() Rules {
	if int(m) < len(modes) {
		return modes[m].rules
	}
	return 0
}

// Describe is one sentence about the arithmetic, as an engine gives it on receipts.
func (m Mode) Describe() string {
	switch {
	case m == Reference || int(m) >= len(modes):
		return "reference: sums in fp32 or wider, one rounding to nearest even per stored value"
	case m == M1:
		return "m1: emulates the H13: sums in Q15.16, in groups of four with 12 bits from 4096, to nearest even, " +
			"table functions"
	}
	return m.String() + ": emulates the " + modes[m].chip +
		": sums in Q15.16 with sticky overflow, halves away from zero, table functions"
}
