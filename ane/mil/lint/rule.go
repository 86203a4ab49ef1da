package lint

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/near"
)

// Rule is one thing that lint looks for.
type Rule struct {
	ID        string          `json:"rule"`     // "gelu-mode"
	Severity  Severity        `json:"severity"` // the worst of its findings
	Compilers []chip.Compiler `json:"roads"`    // none: all
	Title     string          `json:"title"`    // what the program does
	Reason    string          `json:"reason"`   // what happens then, in one sentence
	Fix       string          `json:"fix"`      // what to do
	Source    string          `json:"source"`   // what found it, on which chips, by which compilers, and what disagrees
	Fixable   bool            `json:"fixable"`  // Fix can do it

	against []evidence // what disagrees: a finding that it concerns is a note
}

//go:embed rules.json
var ruleTexts []byte

// read holds the rules by ID. They are read once, and not changed. A sync.OnceValue would be made before main, and
// link the decoder of JSON into programs that never lint.
var read struct {
	sync.Once
	rules []*Rule
}

// table returns the rules by ID.
func table() []*Rule {
	read.Do(func() { read.rules = decoded() })
	return read.rules
}

func decoded() (all []*Rule) {
	var data []struct {
		Rule
		Evidence, Against []evidence
	}
	if err := json.Unmarshal(ruleTexts, &data); err != nil {
		panic(err)
	}
	for i := range data {
		d := &data[i]
		d.against = d.Against
		var found, other []string
		for _, e := range d.Evidence {
			found = append(found, e.String())
		}
		for _, e := range d.Against {
			other = append(other, e.String()+": "+e.Says)
		}
		if d.Source = strings.Join(found, "; "); other != nil {
			d.Source += "; against it " + strings.Join(other, "; ")
		}
		all = append(all, &d.Rule)
	}
	return all
}

// Rules lists the rules in alphabetical order.
func Rules() []Rule {
	var all []Rule
	for _, r := range table() {
		all = append(all, *r)
	}
	return all
}

// Lookup returns the rule called id. The error suggests the nearest rule.
func Lookup(id string) (Rule, error) {
	if r := byID(id); r != nil {
		return *r, nil
	}
	var ids []string
	for _, r := range table() {
		ids = append(ids, r.ID)
	}
	return Rule{}, fmt.Errorf("no rule %q; %sane-roundtrip lint --list lists the rules", id, near.Hint(id, ids))
}

// byID returns the shared rule called id, or nil.
func byID(id string) *Rule {
	i, ok := slices.BinarySearchFunc(table(), id, func(r *Rule, id string) int { return strings.Compare(r.ID, id) })
	if !ok {
		return nil
	}
	return table()[i]
}

// check is one rule while it is checked, for one compiler, and for all chips or for one.
type check struct {
	*run
	rule     *Rule
	compiler chip.Compiler
	chips    []chip.Chip
	spec     chip.Spec // of the chip, if the rule is checked for each
	edits    []Edit    // of the next report
	source   string    // of the next report, the rule's if empty
}

// on reports whether the rule is checked for one of the chips.
func (c *check) on(chips ...chip.Chip) bool { return slices.Contains(chips, c.spec.Chip) }

// error, warn and note add findings. fix may be empty: then the rule's Fix is given.
func (c *check) error(pos mil.Pos, fix, format string, args ...any) {
	c.report(Error, pos, fix, format, args...)
}

func (c *check) warn(pos mil.Pos, fix, format string, args ...any) {
	c.report(Warning, pos, fix, format, args...)
}

func (c *check) note(pos mil.Pos, fix, format string, args ...any) {
	c.report(Note, pos, fix, format, args...)
}

// report adds a finding. On chips where a published program or an answer disagrees with the rule it is a note.
func (c *check) report(s Severity, pos mil.Pos, fix, format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if fix == "" {
		fix = c.rule.Fix
	}
	found := Finding{Rule: c.rule, Severity: s, Pos: pos, Message: msg, Fix: fix, Edits: c.edits}
	source := cmp.Or(c.source, c.rule.Source)
	c.edits, c.source = nil, ""
	for _, on := range c.chips {
		one := found
		if e := c.rule.disputed(c.compiler, on); e != nil && s > Note {
			one.Severity, one.Message = Note, msg+"; but "+e.Says+" ("+e.Source+")"
		}
		c.found.add(one, on, c.compiler, source)
	}
}

// fixed sets the edits of the next report.
func (c *check) fixed(edits []Edit) *check {
	c.edits = edits
	return c
}
