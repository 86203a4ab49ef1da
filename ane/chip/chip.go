package chip

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/internal/near"
)

// Chip is a generation of the Neural Engine. The zero Chip is none.
type Chip uint8

// The generations, in order.
const (
	M1 Chip = iota + 1 // h13
	M2                 // h14, the twin of h13
	M3                 // h15
	M4                 // h16g
	M5                 // h17
	M6                 // h18g
)

// names lists for each Chip its marketing name, its compiler target, and other spellings of the target.
var names = [...][]string{
	M1: {"m1", "h13", "h13g", "h13s", "h13c", "h13d"},
	M2: {"m2", "h14", "h14g", "h14s", "h14c", "h14d"},
	M3: {"m3", "h15", "h15g", "h15s", "h15c", "h15d"},
	M4: {"m4", "h16g", "h16", "h16s", "h16c"},
	M5: {"m5", "h17", "h17s", "h17g", "h17c"},
	M6: {"m6", "h18g", "h18", "h18s", "h18c"},
}

// All lists the generations from M1 to M6.
func All() []Chip { return []Chip{M1, M2, M3, M4, M5, M6} }

// Valid reports whether c is one of All.
func (c Chip) Valid() bool { return c >= M1 && c <= M6 }

// String returns the marketing name, "m4".
func (c Chip) String() string {
	if !c.Valid() {
		return fmt.Sprintf("Chip(%d)", uint8(c))
	}
	return names[c][0]
}

// MarshalText returns the marketing name, for JSON; the empty text for no chip. The error is nil.
func (c Chip) MarshalText() ([]byte, error) {
	if c == 0 {
		return []byte{}, nil
	}
	return []byte(c.String()), nil
}

// UnmarshalText sets c to what [Parse] makes of a text, and to no chip for the empty one. The error is that of Parse.
func (c *Chip) UnmarshalText(text []byte) (err error) {
	*c = 0
	if len(text) > 0 {
		*c, err = Parse(string(text))
	}
	return err
}

// Target returns the target of Apple's compiler, "h16g".
func (c Chip) Target() string {
	if !c.Valid() {
		return ""
	}
	return names[c][1]
}

// Error is a word that names no chip, OS or compiler.
type Error struct {
	What string // "chip", "OS" or "compiler"
	Word string
	Hint string // how to fix it
}

func (e *Error) Error() string { return fmt.Sprintf("no %s %q; %s", e.What, near.Cut(e.Word), e.Hint) }

// Parse returns the Chip called name, in either spelling and in any case: "m4", "H16g". The error is an *Error
// that suggests the nearest name.
func Parse(name string) (Chip, error) {
	word := strings.ToLower(strings.TrimSpace(name))
	var choices, shown []string
	for _, c := range All() {
		if slices.Contains(names[c], word) {
			return c, nil
		}
		choices = append(choices, names[c][:2]...)
		shown = append(shown, names[c][0]+" ("+names[c][1]+")")
	}
	return 0, &Error{"chip", name, near.Hint(word, choices) + "choose one of " + strings.Join(shown, ", ")}
}

// ParseList returns the chips of a list such as "m1,h16g" or "m1-m4" or "all", without repetition, in the order of All.
// The error is an *Error for an item that names no chip, or a range in the wrong order.
func ParseList(list string) ([]Chip, error) {
	var found []Chip
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if strings.EqualFold(item, "all") {
			found = append(found, All()...)
			continue
		}
		low, high, ranged := strings.Cut(item, "-")
		from, err := Parse(low)
		if err != nil {
			return nil, err
		}
		to := from
		if ranged {
			if to, err = Parse(high); err != nil {
				return nil, err
			}
			if to < from {
				return nil, &Error{"chip", item, fmt.Sprintf("write %s-%s", to, from)}
			}
		}
		for c := from; c <= to; c++ {
			found = append(found, c)
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}
