package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
)

// Severity says how bad a finding is. A higher Severity is worse.
type Severity uint8

// The severities.
const (
	Note    Severity = iota + 1 // costs time or accuracy
	Warning                     // may fail, may compute something else, or runs elsewhere than meant
	Error                       // does not compile, or computes wrong values
)

var severities = [...]string{Note: "note", Warning: "warning", Error: "error"}

// String returns "note", "warning" or "error".
func (s Severity) String() string {
	if s < Note || s > Error {
		return fmt.Sprintf("Severity(%d)", uint8(s))
	}
	return severities[s]
}

// MarshalText returns the word, for JSON. The error is nil.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word. Any other word is an error.
func (s *Severity) UnmarshalText(text []byte) error {
	i := slices.Index(severities[:], string(text))
	if i < int(Note) {
		return fmt.Errorf("no severity %q; choose one of note, warning, error", text)
	}
	*s = Severity(i)
	return nil
}

// Finding is one place of a program that breaks a rule.
type Finding struct {
	mil.Pos           // unknown for programs made in Go
	Rule     *Rule    `json:"rule"`
	Severity Severity `json:"severity"`
	File     string   `json:"file,omitempty"`
	Message  string   `json:"message"` // what is wrong here, with numbers
	Fix      string   `json:"fix"`     // what to do here
	// Source names the sources, how they found it, and on which chips, if these differ.
	Source string `json:"source"`
	// Chips are the chips of Options that the finding concerns, in order.
	Chips []chip.Chip `json:"chips"`
	// Compilers are the compilers of Options that the finding concerns, in order.
	Compilers []chip.Compiler `json:"roads"`
	// Edits fix the finding without changing what the program computes; nil when a person has to.
	Edits []Edit `json:"-"`

	sources []sourced
}

// String returns FILE:LINE:COL: severity: message [rule]; fix.
func (f *Finding) String() string {
	return (&mil.Error{File: f.File, Pos: f.Pos, Msg: fmt.Sprintf("%v: %s [%s]", f.Severity, f.Message, f.Rule.ID),
		Hint: f.Fix}).Error()
}

// Worst returns the worst severity of the findings, 0 for none.
func Worst(findings []Finding) (worst Severity) {
	for i := range findings {
		worst = max(worst, findings[i].Severity)
	}
	return worst
}

// maxFindings is the largest number of findings. Where there are more, the last one says so.
const maxFindings = 500

// perRule is the largest number of findings of one rule, so that one habit of a program hides no other fault.
const perRule = 50

// order sorts findings by place; the worst stands first at one place.
func order(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col),
		cmp.Compare(b.Severity, a.Severity), strings.Compare(a.Rule.ID, b.Rule.ID), strings.Compare(a.Message,
			b.Message))
}

// key identifies findings that differ in chips and compilers alone.
type key struct {
	rule, message string
	severity      Severity
	pos           mil.Pos
}

// collector merges findings.
type collector struct {
	file  string
	list  []Finding
	index map[key]int
	count map[string]int // findings of a rule
	all   bool           // no limits: Fix needs every finding
	full  bool
}

// add adds a finding for a chip and a compiler.
func (c *collector) add(f Finding, on chip.Chip, compiler chip.Compiler, source string) {
	id := key{f.Rule.ID, f.Message, f.Severity, f.Pos}
	i, known := c.index[id]
	if !known {
		if c.count[f.Rule.ID] >= perRule && !c.all {
			c.full = true
			return
		}
		c.count[f.Rule.ID]++
		i = len(c.list)
		c.index[id] = i
		f.File = c.file
		c.list = append(c.list, f)
	}
	at := &c.list[i]
	at.Chips = append(at.Chips, on)
	at.Compilers = append(at.Compilers, compiler)
	k := slices.IndexFunc(at.sources, func(s sourced) bool { return s.text == source })
	if k < 0 {
		k, at.sources = len(at.sources), append(at.sources, sourced{text: source})
	}
	at.sources[k].chips = append(at.sources[k].chips, on)
}

// sourced is a source of a finding, and the chips that it is for.
type sourced struct {
	text  string
	chips []chip.Chip
}

// cite sets Source.
func (f *Finding) cite() {
	var all []string
	for _, s := range f.sources {
		slices.Sort(s.chips)
		if len(f.sources) > 1 {
			s.text += " (" + strings.Trim(strings.ReplaceAll(fmt.Sprint(slices.Compact(s.chips)), " ", ", "), "[]") + ")"
		}
		all = append(all, s.text)
	}
	f.Source = strings.Join(all, "; ")
}

func (c *collector) findings() []Finding {
	for i := range c.list {
		f := &c.list[i]
		slices.Sort(f.Chips)
		slices.Sort(f.Compilers)
		f.Chips, f.Compilers = slices.Compact(f.Chips), slices.Compact(f.Compilers)
		f.cite()
	}
	slices.SortStableFunc(c.list, order)
	if len(c.list) > maxFindings && !c.all {
		c.list, c.full = c.list[:maxFindings-1], true
	}
	if c.full {
		c.list = append(c.list, Finding{Rule: byID("many"), Severity: Note, File: c.file, Source: byID("many").Source,
			Message: "more findings are left out", Fix: "fix these first"})
	}
	return c.list
}
