package mil

import (
	"context"
	"slices"
)

// Validate checks what needs no table of operators. Functions, parameters and values have unique names, and every name
// is defined before its use. Every function has results. No argument of a statement is given twice. Literals fit their
// types, and MIL text can express the tree. It returns an ErrorList whose faults carry the name file. A program made in
// Go has no positions; its faults name the function instead.
func Validate(file string, p *Program) error { return ValidateContext(context.Background(), file, p) }

// ValidateContext is Validate. It returns the error of ctx once that has ended.
func ValidateContext(ctx context.Context, file string, p *Program) error {
	f := faults{file: file}
	v := validator{faults: &f, during: &watch{ctx: ctx}}
	if p == nil {
		f.add(&Error{Msg: "no program", Hint: "pass the result of Parse or Builder.Program"})
		return f.err()
	}
	v.program(p)
	if v.during.err != nil {
		return v.during.err
	}
	return f.err()
}

// validator walks a program in the order of its text.
type validator struct {
	*faults
	cur     *Function          // the function being checked
	partial bool               // parts of the tree could not be read
	lost    map[*Function]bool // functions with names that could not be read
	names   map[string]value   // those that the statement sees
	bodies  []*Block           // the function and the blocks around the statement
	hidden  []hidden           // see block
	all     map[string]Pos     // see below
	depth   int
	during  *watch
	// attributes is set inside brackets, where values have a type.
	attributes bool
}

// value is a parameter or a result: its name's place, and how many bodies are around it.
type value struct {
	at    Pos
	level int
}

// hidden is a name that a block defines, and what the name means outside of it. The level is 0 if nothing.
type hidden struct {
	name string
	value
}

func (v *validator) fault(pos Pos, msg, hint string) { v.report(pos, msg, hint, nil) }

// misnamed reports a fault of names.
func (v *validator) misnamed(pos Pos, msg, hint string) { v.report(pos, msg, hint, errNames) }

func (v *validator) report(pos Pos, msg, hint string, err error) {
	if !pos.Known() && v.cur != nil {
		msg = "function " + shorten(v.cur.Name) + ": " + msg
	}
	v.add(&Error{Pos: pos, Msg: msg, Hint: hint, Err: err})
}

func (v *validator) program(p *Program) {
	if !v.partial && !decimalVersion(p.Version) {
		v.fault(p.Pos, "version "+quoteShort(p.Version)+" is not a version number", `write "1.3" or "1.0"`)
	}
	v.lists(nil, p.Attrs)
	seen := map[string]Pos{}
	for _, f := range p.Funcs {
		if f == nil {
			v.fault(p.Pos, "the program holds a nil function", "remove it")
			continue
		}
		v.unique(seen, f.Name, f.Pos, "function")
		v.function(f)
	}
}

// unique adds a name to seen, and reports it if seen already has it.
func (v *validator) unique(seen map[string]Pos, name string, pos Pos, what string) {
	if first, doubled := seen[name]; doubled {
		v.doubled(name, first, pos, what)
		return
	}
	seen[name] = pos
}

// doubled reports the second definition of a name.
func (v *validator) doubled(name string, first, pos Pos, what string) {
	switch {
	case v.full: // no fault is added any more: save the message
	case first.Known():
		v.misnamed(pos, what+" "+quoteShort(name)+" is defined twice", "the first is at "+first.String()+"; rename one")
	default:
		v.misnamed(pos, what+" "+quoteShort(name)+" is defined twice", "rename one")
	}
}

func (v *validator) function(f *Function) {
	v.cur = f
	v.named(f.Name, f.Pos, "function name")
	v.named(f.Opset, f.Pos, "opset")
	v.names, v.all = make(map[string]value, len(f.Params)+len(f.Body)), nil
	v.lists(nil, f.Attrs)
	v.body(&Block{Pos: f.Pos, Params: f.Params, Body: f.Body})
	if len(f.Results) == 0 && !v.lost[f] {
		v.misnamed(f.Pos, "function "+quoteShort(f.Name)+" has no results", "name its results: } -> (y);")
	}
	results := map[string]Pos{}
	for _, r := range f.Results {
		v.unique(results, r.Name, r.Pos, "result")
		v.use(r)
	}
	v.cur, v.bodies = nil, v.bodies[:0]
}

// body checks the parameters and the statements of a function or a block. The caller removes b from v.bodies.
func (v *validator) body(b *Block) {
	v.bodies = append(v.bodies, b)
	for _, p := range b.Params {
		v.variable(p)
	}
	for _, op := range b.Body {
		if v.during.ended() {
			return
		}
		if op == nil {
			v.fault(b.Pos, "the body holds a nil statement", "remove it")
			continue
		}
		v.statement(op)
	}
}

// block checks a block, and takes its names from those that the statements after it see. A block may return a value
// twice, and one that it does not define.
func (v *validator) block(b *Block, pos Pos) {
	if !v.enter(pos) {
		return
	}
	defer v.leave()
	if b == nil {
		v.fault(pos, "the statement holds a nil block", "remove it")
		return
	}
	if b.Name != "" {
		v.named(b.Name, b.Pos, "block name")
	}
	known := len(v.hidden)
	v.body(b)
	for _, r := range b.Results {
		v.use(r)
	}
	for _, h := range slices.Backward(v.hidden[known:]) {
		if h.level == 0 {
			delete(v.names, h.name)
		} else {
			v.names[h.name] = h.value
		}
	}
	v.hidden = v.hidden[:known]
	v.bodies, v.all = v.bodies[:len(v.bodies)-1], nil
}

// named reports a name that MIL text cannot express.
func (v *validator) named(name string, pos Pos, what string) {
	if !v.partial && (!identifier(name) || reserved(name)) {
		v.fault(pos, what+" "+quoteShort(name)+" is not a name",
			"a name is ASCII letters, digits and _, does not start with a digit and is not a reserved word")
	}
}

func (v *validator) variable(x Var) {
	first, level := v.names[x.Name], len(v.bodies)
	if first.level == level {
		v.doubled(x.Name, first.at, x.At, "value")
	} else {
		if level > 1 { // a block restores it; nothing restores the names of a function
			v.hidden = append(v.hidden, hidden{x.Name, first})
		}
		v.names[x.Name] = value{x.At, level}
	}
	v.named(x.Name, x.At, "value name")
	if !v.unread(x.Type) {
		v.typ(x.Type, x.Pos)
	}
}

func (v *validator) statement(op *Op) {
	if !v.partial && (!identifier(op.Kind) || reserved(op.Kind) && op.Kind != "const" || typeWord(op.Kind)) {
		v.fault(op.Pos, "operator "+quoteShort(op.Kind)+" is not a name", "name an operator, such as mul")
	}
	if op.Opset != "" {
		v.named(op.Opset, op.Pos, "opset")
	}
	v.lists(op.Args, op.Attrs)
	for _, b := range op.Blocks {
		v.block(b, op.Pos)
	}
	for _, r := range op.Results {
		v.variable(r)
	}
}
