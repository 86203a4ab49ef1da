package ops

import (
	"cmp"
	"fmt"
	"slices"
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

// Reason is something that keeps a value or an operator from the engine, or may keep it.
type Reason struct {
	Pos     mil.Pos // of the value or of the operator
	Rule    string  // the rule of package lint that reports it: "kernel-width"
	Sure    bool    // false: it holds for another chip, or is not known
	Remark  bool    // it does not keep the operator from the engine
	Why     string  // "kernel 31x31, at most 15x15"
	Instead string  // what to write; empty where the rule says it
	Source  string  // the project that published it, with the degree of evidence; empty where the rule says it
}

// Placement is where the statements of a function run, and all that speaks against the engine.
type Placement struct {
	Where   map[*Node]Where // OnEngine for those that it does not have
	Reasons []Reason
}

// Place says where the statements of a Survey run on a chip if a program takes one of the ways to Apple's compiler. It
// looks at each operator, the shapes and types of its operands and results, and its settings. A faulty statement is
// placed by those that its node has. An operator runs where its operands, its results and the constexpr operators of
// its weights can be. A statement that compiling computes runs nowhere and has no place. Operators that Lookup does not
// know run on the engine unless they are known to be refused.
func Place(g *Graph, c chip.Chip, via chip.Compiler) Placement {
	spec := c.Spec()
	p := &placing{Placement: Placement{Where: map[*Node]Where{}}, spec: &spec, via: via, of: map[*Value]Where{}}
	for _, v := range slices.Concat(g.Inputs, g.States) {
		p.value(v)
	}
	for _, n := range g.Statements {
		for _, v := range n.Out {
			p.value(v)
		}
		if !n.Folded() || n.Def == nil && n.Op.Kind != "const" || n.Def != nil && n.Def.constexpr() {
			p.Where[n] = p.statement(n)
		}
	}
	if p.whole {
		for _, n := range g.Statements {
			p.Where[n] = max(p.Where[n], OnCPU)
		}
	}
	return p.Placement
}

// statement places a statement whose operands and results are placed.
func (p *placing) statement(n *Node) Where {
	p.Node, p.support, p.pos, p.here = n, foreign[n.Op.Kind], n.Op.Pos, OnEngine
	if n.Def != nil {
		p.support = n.Def.support
		if n.Def.limits != nil {
			n.Def.limits(p)
		}
	}
	if n.Within != nil {
		p.here = max(p.here, p.block())
	} else if p.supported(); p.here == OnEngine { // one reason says enough
		p.integers()
	}
	for v := range n.operands {
		p.after(v)
	}
	for _, v := range n.Out {
		p.after(v)
	}
	return p.here
}

// after places a statement where an operand or a result of it is, or the constexpr operator that makes that.
func (p *placing) after(v *Value) {
	p.here = max(p.here, p.of[v])
	if v.Made != nil && v.Made.Def != nil && v.Made.Def.constexpr() {
		p.here = max(p.here, p.Where[v.Made])
	}
}

// block is where a statement of a block runs: what the statement around it says, which comes after it.
func (p *placing) block() Where {
	if p.via == chip.CoreML {
		return OnCPU
	}
	return Refused
}

// cited names the source of a fact with its evidence: "forge: measured".
func cited[T any](f chip.Fact[T]) string { return f.Source + ": " + f.Degree.String() }

// verdict says how far a refusal reaches.
type verdict uint8

const (
	taken   verdict = iota
	some            // refused on the chip where it was tried, taken by the compilers of others
	refused         // on every chip
	untried         // no source tried it; it is like operators that are refused
)

// support tells which compilers take an operator, whatever its operands are.
type support struct {
	memory, e5 verdict
	cpu        bool   // Core ML runs it on the CPU
	inferred   string // why, for an operator that the study did not measure
	instead    string // what to write
	contested  string // what to write where it is refused, for an operator that some projects run and others do not
	bridge     bool   // on M5 the engine hands it over at every call
}

// tried tells on which chips the refusals of a compiler were met.
var tried = map[chip.Compiler]chip.Fact[chip.Chip]{
	chip.InMemory: {Value: chip.M3, Degree: chip.Measured, Source: ironmill},
	chip.E5:       {Value: chip.M5, Degree: chip.Measured, Source: forge},
	chip.CoreML:   {Value: chip.M4, Degree: chip.Measured, Source: study},
}

// nowhere is an operator that the compilers of the engine refused and Core ML runs on the CPU.
func nowhere(instead string) support {
	return support{memory: refused, e5: refused, cpu: true, instead: instead}
}

// like is an operator that no source tried with a compiler of the engine. why tells what it has in common with those
// that are refused.
func like(why, instead string) support {
	return support{memory: untried, e5: untried, cpu: true, inferred: why, instead: instead}
}

// kin tells why an operator that the study did not measure is taken to run on the CPU.
func (s support) kin(why string) support { s.inferred = why; return s }

// OffEngine reports whether the compilers for the engine refused the operator, whatever its operands are.
func (d *Def) OffEngine() bool { return d.support.memory == refused && d.support.e5 == refused }

// Sources of several reasons.
const (
	ironmill = "ironmill: measured in memory on an M3 Pro"
	forge    = "forge: measured by e5 on an M5"
	study    = "study 5.2: measured through Core ML on an M4, compiled for H18G"
)

// onStudy are the operators that the study found on the CPU, where it does not depend on their operands.
var onStudy = strings.Fields("argsort reduce_argmax asin acos tan sinh cosh atanh mod reduce_prod cumsum lstm gru rnn " +
	"band_part one_hot non_zero range_1d random_normal sliding_windows crop_resize gather slice_by_index slice_by_size " +
	"scatter scatter_along_axis")

const (
	onHost   = "compute it on the host"
	gathered = "gather on the host, or multiply by a one-hot matrix"
	drawn    = "make the numbers on the host"
	placed   = "like gather, it reads at places that are computed"
	chosen   = "return the scores and choose on the host"
)

// foreign are operators of other engines that Lookup does not know.
var foreign = map[string]support{
	"sort": {bridge: true}, "cross_correlation": {bridge: true}, "minmax_norm": {bridge: true},
}

// Foreign reports whether an operator that Lookup does not know is one of another engine.
func Foreign(kind string) bool { _, ok := foreign[kind]; return ok }

// anyChip has no facts.
var anyChip = new(chip.Spec)

// placing is a Placement in the making.
type placing struct {
	Placement
	spec  *chip.Spec
	via   chip.Compiler
	of    map[*Value]Where
	whole bool           // a reason holds for the whole program
	made  map[*Node]bool // on the CPU, because they compute indices; nil without any

	// Of the statement or value that is being placed.
	*Node
	support
	pos  mil.Pos
	here Where
}

func (p *placing) add(r Reason) {
	r.Pos = p.pos
	p.Reasons = append(p.Reasons, r)
	switch {
	case r.Remark || !r.Sure:
	case p.via == chip.CoreML:
		p.here = max(p.here, OnCPU)
	default:
		p.here = Refused
	}
}

// refuse adds a reason of a source.
func (p *placing) refuse(rule, source, format string, args ...any) {
	p.add(Reason{Rule: rule, Sure: true, Why: fmt.Sprintf(format, args...), Source: source})
}

// doubt adds a reason that is not known to hold.
func (p *placing) doubt(rule, source, format string, args ...any) {
	p.add(Reason{Rule: rule, Why: fmt.Sprintf(format, args...), Source: source})
}

// most refuses a size n above a limit.
func (p *placing) most(n int, limit chip.Fact[int], rule, format string, args ...any) {
	if over(n, limit) {
		p.refuse(rule, cited(limit), format+", at most %d", append(args, limit.Value)...)
	}
}

// over reports whether n is above a limit.
func over(n int, limit chip.Fact[int]) bool { return limit.Known() && n > limit.Value }

// supported adds what holds for the operator with any operands.
func (p *placing) supported() {
	kind, at := p.Op.Kind, tried[p.via]
	reach := map[chip.Compiler]verdict{chip.InMemory: p.memory, chip.E5: p.e5}[p.via]
	r := Reason{Rule: "refused-operator", Instead: p.instead, Source: at.Source}
	switch {
	case reach == refused || reach == some && p.spec.Chip == at.Value:
		r.Sure, r.Why = true, fmt.Sprintf("%s is refused by the %v compiler", kind, p.via)
		p.add(r)
	case reach == some:
		r.Why = fmt.Sprintf("%s is refused by the %v compiler of %v, where it was tried", kind, p.via, at.Value)
		p.add(r)
	case reach == untried:
		r.Why = fmt.Sprintf("%s was not tried with the %v compiler", kind, p.via)
		r.Source = "inferred: " + p.inferred + ", not tried"
		p.add(r)
	case p.via == chip.CoreML && p.cpu:
		p.onCPU(p.instead, "%s runs on the CPU", kind)
	}
	if p.contested != "" && p.via != chip.CoreML {
		p.add(Reason{Rule: "contested-operator", Why: kind + " is refused in some projects", Instead: p.contested})
	}
	if p.bridge && p.spec.Chip == chip.M5 {
		p.add(Reason{Rule: "slow-bridge", Sure: true, Remark: true, Why: kind + " takes 20 to 140 ms",
			Source: forge})
	}
}

// onCPU adds that Core ML does not place an operator on the engine.
func (p *placing) onCPU(instead, format string, args ...any) {
	p.add(Reason{Rule: "cpu-operator", Sure: true, Why: fmt.Sprintf(format, args...), Instead: instead,
		Source: p.support.foundOnCPU(p.Op.Kind)})
}

// foundOnCPU says why Core ML is taken to run an operator on the CPU.
func (s support) foundOnCPU(kind string) string {
	if slices.Contains(onStudy, kind) {
		return study
	}
	return "inferred: " + cmp.Or(s.inferred, "as operators of its kind in study 5.2")
}

// integers adds the whole-number types that keep an operator from the engine.
func (p *placing) integers() {
	if p.Def != nil && p.Def.constexpr() {
		return
	}
	all := append(p.Operands(), p.Out...)
	whole := func(v *Value) bool {
		return !v.Folded && v.Written == nil && (slices.Contains(unfit[chip.CoreML].refused, v.DType) ||
			p.Op.Kind == "cast" && v.DType == mil.Int8)
	}
	if i := slices.IndexFunc(all, whole); i >= 0 && p.via == chip.CoreML {
		p.refuse("cpu-int32", study, "%s with %v runs on the CPU", p.Op.Kind, all[i].DType)
	}
	if i := slices.IndexFunc(all, func(v *Value) bool { return narrow(v.DType) && !v.input }); i >= 0 {
		verb := "takes"
		if i >= len(all)-len(p.Out) {
			verb = "gives"
		}
		p.refuse("int4-operand", ironmill, "%s %s %v", p.Op.Kind, verb, all[i].DType)
	}
}
