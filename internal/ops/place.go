package ops

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
)

// Where says where an operator runs.
type Where uint8

// The places.
const (
	OnEngine Where = iota
	OnCPU          // where Core ML runs what the engine does not take
	Refused        // nowhere: the compiler refuses the program
)

// Reason is something that keeps an operator from the engine, or may keep it.
type Reason struct {
	Rule    string // the rule of package lint that reports it: "kernel-width"
	Sure    bool   // false: it holds for another chip, or is not known
	Remark  bool   // it does not keep the operator from the engine
	Why     string // "kernel 31x31, at most 15x15"
	Instead string // what to write; empty where the rule says it
	Source  string // the project that published it, with the degree of evidence; empty where the rule says it
}

// Placement is where an operator runs, and all that speaks against the engine.
type Placement struct {
	Where   Where
	Reasons []Reason
}

// Place says where an operator runs on a chip if a program takes one of the ways to Apple's compiler. It looks at the
// operator, the shapes and types of its operands and results, and its settings, as far as the node has them: a node of
// a faulty statement is placed by the rest. Operators that Lookup does not know run on the engine unless they are
// known to be refused.
func Place(n *Node, c chip.Chip, via chip.Compiler) Placement {
	p := &placing{Node: n, spec: c.Spec(), via: via, support: foreign[n.Op.Kind]}
	if n.Def != nil {
		p.support = n.Def.support
	}
	if n.Def != nil && n.Def.limits != nil {
		n.Def.limits(p)
	}
	p.supported()
	p.integers()
	for _, v := range append(n.Operands(), n.Out...) {
		for _, r := range Fit(v, p.spec) {
			p.add(r)
		}
	}
	return p.Placement
}

// Fit returns the rules rank and axis-length for a tensor that is not known when compiling.
func Fit(v *Value, s chip.Spec) (reasons []Reason) {
	add := func(rule string, f chip.Fact[int], format string, args ...any) {
		reasons = append(reasons, Reason{Rule: rule, Sure: true, Source: cite(f.Source, f.Degree),
			Why: cut(v.Name) + fmt.Sprintf(format, args...)})
	}
	if v.Rank() > s.Rank.Value && s.Rank.Known() {
		add("rank", s.Rank, " has rank %d, at most %d", v.Rank(), s.Rank.Value)
	}
	if v.Folded {
		return reasons // weights have limits of their own
	}
	for i, n := range v.Shape {
		limit := s.Axis
		if i == v.Rank()-3 {
			limit = s.Channels
		}
		if n > limit.Value && limit.Known() {
			add("axis-length", limit, ": axis %d has length %d, at most %d", i, n, limit.Value)
		}
	}
	return reasons
}

// cite names a source with its evidence: "forge (M)".
func cite(source string, d chip.Degree) string { return source + " (" + d.Tag() + ")" }

// verdict says how far a refusal reaches.
type verdict uint8

const (
	taken   verdict = iota
	some            // refused on the chip where it was tried, taken by the compilers of others
	refused         // on every chip
)

// support tells which compilers take an operator, whatever its operands are.
type support struct {
	memory, e5 verdict
	cpu        bool   // Core ML runs it on the CPU
	instead    string // what to write
	contested  string // what to write where it is refused, for an operator that some projects run and others do not
	bridge     bool   // on M5 the engine hands it over at every call
}

// tried tells on which chips the refusals of a compiler were met.
var tried = map[chip.Compiler]chip.Fact[chip.Chip]{
	chip.InMemory: {Value: chip.M3, Degree: chip.Measured, Source: "ironmill, on M3 Pro"},
	chip.E5:       {Value: chip.M5, Degree: chip.Measured, Source: "forge"},
	chip.CoreML:   {Value: chip.M4, Degree: chip.Measured, Source: "study 5.2"},
}

// nowhere is an operator that no engine takes and Core ML runs on the CPU.
func nowhere(instead string) support {
	return support{memory: refused, e5: refused, cpu: true, instead: instead}
}

// OffEngine reports whether no compiler for the engine takes the operator, whatever its operands are.
func (d *Def) OffEngine() bool { return d.support.memory == refused && d.support.e5 == refused }

const (
	onHost   = "compute it on the host"
	gathered = "gather on the host, or multiply by a one-hot matrix"
	drawn    = "make the numbers on the host"
	chosen   = "return the scores and choose on the host"
)

// foreign are operators of other engines that Lookup does not know.
var foreign = map[string]support{
	"non_maximum_suppression": nowhere("unfold with slices"),
	"while_loop":              nowhere(onHost), "cond": nowhere(onHost), "make_list": nowhere(onHost),
	"list_gather": nowhere(onHost), "list_length": nowhere(onHost), "list_read": nowhere(onHost),
	"list_scatter": nowhere(onHost), "list_write": nowhere(onHost),
	"sort": {bridge: true}, "cross_correlation": {bridge: true}, "minmax_norm": {bridge: true},
}

// Foreign reports whether an operator that Lookup does not know is one of another engine.
func Foreign(kind string) bool { _, ok := foreign[kind]; return ok }

// placing is a Placement in the making.
type placing struct {
	*Node
	Placement
	support
	spec chip.Spec
	via  chip.Compiler
}

func (p *placing) add(r Reason) {
	p.Reasons = append(p.Reasons, r)
	switch {
	case r.Remark || !r.Sure:
	case p.via == chip.CoreML:
		p.Where = max(p.Where, OnCPU)
	default:
		p.Where = Refused
	}
}

// refuse adds a reason that f supports.
func (p *placing) refuse(rule string, f chip.Fact[int], format string, args ...any) {
	p.add(Reason{Rule: rule, Sure: true, Why: fmt.Sprintf(format, args...), Source: cite(f.Source, f.Degree)})
}

// over reports whether n is above a limit.
func over(n int, limit chip.Fact[int]) bool { return limit.Known() && n > limit.Value }

// supported adds what holds for the operator with any operands.
func (p *placing) supported() {
	kind, at := p.Op.Kind, tried[p.via]
	reach := map[chip.Compiler]verdict{chip.InMemory: p.memory, chip.E5: p.e5}[p.via]
	r := Reason{Rule: "refused-operator", Instead: p.instead, Source: cite(at.Source, at.Degree)}
	switch {
	case reach == refused || reach == some && p.spec.Chip == at.Value:
		r.Sure, r.Why = true, fmt.Sprintf("%s is refused by the %v compiler", kind, p.via)
		p.add(r)
	case reach == some:
		r.Why = fmt.Sprintf("%s is refused by the %v compiler of %v, where it was tried", kind, p.via, at.Value)
		p.add(r)
	case p.via == chip.CoreML && p.cpu:
		p.onCPU(p.instead, "%s runs on the CPU", kind)
	}
	if p.contested != "" && p.via != chip.CoreML {
		p.add(Reason{Rule: "contested-operator", Why: kind + " is refused in some projects", Instead: p.contested})
	}
	if p.bridge && p.spec.Chip == chip.M5 {
		p.add(Reason{Rule: "slow-bridge", Sure: true, Remark: true, Why: kind + " takes 20 to 140 ms",
			Source: cite("forge, on M5", chip.Measured)})
	}
}

// onCPU adds that Core ML never places an operator on the engine.
func (p *placing) onCPU(instead, format string, args ...any) {
	at := tried[chip.CoreML]
	p.add(Reason{Rule: "cpu-operator", Sure: true, Why: fmt.Sprintf(format, args...), Instead: instead,
		Source: cite(at.Source, at.Degree)})
}

// integers adds the whole-number type that keeps an operator on the CPU under Core ML.
func (p *placing) integers() {
	if p.via != chip.CoreML || strings.HasPrefix(p.Op.Kind, "constexpr_") {
		return
	}
	for _, v := range append(p.Operands(), p.Out...) {
		if !v.Folded && (v.DType == mil.Int32 || p.Op.Kind == "cast" && v.DType == mil.Int8) {
			p.add(Reason{Rule: "cpu-int32", Sure: true,
				Why: fmt.Sprintf("%s with %v runs on the CPU", p.Op.Kind, v.DType)})
			return
		}
	}
}
