package standin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/plist"
)

// The files with a program's text. Bridges write model.mil; the framework writes
// net.plist with the same text.
var textFiles = [...]string{"model.mil", "net.plist"}

// maxProcedures is the number of procedures that a request can name: _ANERequest
// rejects procedure indices above 128.
const maxProcedures = 129

// program is one compiled text.
type program struct {
	handle     uint64
	procedures []*procedure
	named      []*procedure // by the number in requests; nil for one that cannot run
	inputs     plist.Array  // names of the symbols; those of outputs have their suffix
	outputs    plist.Array
	attributes []byte // the modelAttributes as XML property list

	mu      sync.Mutex // serializes calls that an ane.Executable allows one at a time
	bounds  int        // number of bounds of all procedures
	dropped bool
}

// procedure is one function of a program.
type procedure struct {
	program *program
	index   uint32 // its index in named
	name    string
	exec    ane.Executable
	in, out []port // in ascending order of symbols
	bounds  int    // number of bounds, guarded by program.mu; the procedure is loaded while it is not 0
}

// port is one tensor of a procedure.
type port struct {
	tensor
	placement placement // its placement on its surface
	symbol    int       // its index among the inputs or outputs of the program
	place     int       // its index in the Executable's own order
}

// build reads and compiles the program in a directory. Weights are files in it; the
// owner of the directory may have linked them from elsewhere.
func (s *server) build(directory string) (*program, error) {
	weights := blob.Dir(directory)
	text, file, err := readText(weights)
	if err != nil {
		return nil, err
	}
	tree, err := mil.ParseTree(file, text)
	if err != nil {
		return nil, err
	}
	if err := reads(s.profile, file, tree); err != nil {
		return nil, err
	}
	if n := len(tree.Funcs); n > maxProcedures {
		return nil, &mil.Error{File: file, Pos: tree.Funcs[maxProcedures].Pos,
			Msg: fmt.Sprintf("%d functions, at most %d are allowed", n, maxProcedures), Hint: "split the program"}
	}
	p := &program{}
	for i, f := range tree.Funcs {
		exec, err := s.engine.Compile(context.Background(), ane.Source{File: file, Text: text, Function: f.Name,
			Weights: weights})
		if err != nil {
			return nil, err
		}
		own := &procedure{program: p, index: uint32(i), name: f.Name, exec: exec}
		p.procedures = append(p.procedures, own)
		if err := own.place(f); err != nil {
			return nil, err
		}
	}
	if len(p.procedures) == 0 {
		return nil, &mil.Error{File: file, Msg: "the program has no function",
			Hint: "write at least func main<ios18>(...)"}
	}
	p.inputs = p.order("", func(f *procedure) []port { return f.in })
	p.outputs = p.order(outputSuffix, func(f *procedure) []port { return f.out })
	p.named = p.procedures
	p.attributes, err = plist.XML(s.dump.describe(p))
	return p, err
}

// place sets the tensors of the procedure from its function and not from the
// Executable: the attributes are computed independently of package ane.
func (f *procedure) place(text *mil.Function) error {
	in, out, err := tensorsOf(text)
	if err != nil {
		return err
	}
	for side, list := range [][]tensor{in, out} {
		for i, t := range list {
			s, ok := placementOf(t)
			if !ok {
				return &mil.Error{Pos: text.Pos, Msg: fmt.Sprintf("%s needs more than 1 TiB with padded rows", t.name),
					Hint: "widen its last axis"}
			}
			p := port{tensor: t, placement: s, place: i}
			if side == 0 {
				f.in = append(f.in, p)
			} else {
				f.out = append(f.out, p)
			}
		}
	}
	return nil
}

// readText returns the program's text and the name of its file.
func readText(directory blob.Dir) ([]byte, string, error) {
	var missing error
	for _, name := range textFiles {
		text, err := directory.ReadFile(blob.ModelPath + name)
		if err == nil {
			return text, name, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, "", err
		}
		missing = errors.Join(missing, err)
	}
	return nil, "", missing
}

// order gives the tensors of all procedures their symbols, and returns the names of the symbols. They are sorted
// bytewise with their suffix: y2@output before y@output. A name in several functions is a symbol for each, as in the
// dump of a precompiled program. No dump shows what Apple's compiler does with such MIL.
func (p *program) order(suffix string, ports func(*procedure) []port) plist.Array {
	var all []*port
	for _, f := range p.procedures {
		list := ports(f)
		for i := range list {
			all = append(all, &list[i])
		}
	}
	slices.SortStableFunc(all, func(a, b *port) int { return cmp.Compare(a.name+suffix, b.name+suffix) })
	symbols := make(plist.Array, len(all))
	for i, t := range all {
		t.symbol = i
		symbols[i] = t.name + suffix
	}
	for _, f := range p.procedures {
		slices.SortFunc(ports(f), func(a, b port) int { return a.symbol - b.symbol })
	}
	return symbols
}

// drop closes the program now or after its last bound is closed.
func (p *program) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropped = true
	p.closeIdle()
}

// closeIdle closes a dropped program without bounds. The caller holds mu.
func (p *program) closeIdle() {
	if !p.dropped || p.bounds > 0 {
		return
	}
	for _, f := range p.procedures {
		logError("close", f.exec.Close())
	}
}

// tensor is an input or output in the program's text.
type tensor struct {
	name  string
	dtype mil.DType
	shape []int
}

// tensorsOf returns the inputs and outputs of a function in the order of the text.
func tensorsOf(f *mil.Function) (in, out []tensor, err error) {
	declared := map[string]mil.Var{}
	for _, v := range f.Params {
		declared[v.Name] = v
	}
	for _, op := range f.Body {
		for _, v := range op.Results {
			declared[v.Name] = v
		}
	}
	add := func(list *[]tensor, name string, at mil.Pos) error {
		v, ok := declared[name]
		shape, fixed := v.Type.Shape()
		if !ok || !fixed || len(shape) > len(order) || v.Type.DType.Size() == 0 {
			return &mil.Error{Pos: at, Msg: fmt.Sprintf("%s of function %s cannot be stored on a surface", name,
				f.Name),
				Hint: "give it a tensor type of fixed shape and at most 5 axes"}
		}
		*list = append(*list, tensor{name, v.Type.DType, slices.Clone(shape)})
		return nil
	}
	for _, v := range f.Params {
		if err := add(&in, v.Name, v.At); err != nil {
			return nil, nil, err
		}
	}
	for _, r := range f.Results {
		if err := add(&out, r.Name, r.Pos); err != nil {
			return nil, nil, err
		}
	}
	return in, out, nil
}

// systems are the releases of macOS whose compiler reads the old dialect of MIL alone, by their profiles.
var systems = map[string]chip.OS{"15": 12, "16.5": 13, "17": 14}

// reads refuses a text that the compiler of a profile does not know. Up to macOS 14 that is one with a later opset, or
// not wholly in the old dialect. Mixtures were never tried on such a system.
func reads(profile, file string, p *mil.Program) error {
	system, old := systems[profile]
	if !old {
		return nil
	}
	for _, f := range p.Funcs {
		if os, known := chip.Opset(f.Opset); !known || os > system {
			return &mil.Error{File: file, Pos: f.Pos, Msg: f.Opset + " is no opset of " + system.String(),
				Hint: "convert the program to the old dialect"}
		}
	}
	converted, err := mil.Convert(p, mil.OldText)
	if err != nil {
		return err
	}
	if !mil.Equal(p, converted) {
		return &mil.Error{File: file, Pos: p.Pos, Msg: "the program is not in the dialect of " + system.String(),
			Hint: "convert the program to the old dialect"}
	}
	return nil
}
