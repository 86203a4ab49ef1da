package standin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/plist"
)

// The files that hold a program's text. Bridges write model.mil; the framework
// itself writes net.plist, whose content is the same text.
var textFiles = [...]string{"model.mil", "net.plist"}

// maxProcedures is how many procedures a request can name: _ANERequest refuses
// procedure indices above 128.
const maxProcedures = 129

// program is one compiled text.
type program struct {
	handle     uint64
	procedures []*procedure
	named      []*procedure // as requests number them; nil for one that cannot be run
	inputs     plist.Array  // names of the symbols, outputs with their suffix
	outputs    plist.Array
	attributes []byte // its modelAttributes, an XML property list

	mu      sync.Mutex // orders what an ane.Executable wants one at a time
	bounds  int        // bound to any procedure
	dropped bool
}

// procedure is one function of a program.
type procedure struct {
	program *program
	index   uint32 // its place in named
	name    string
	exec    ane.Executable
	in, out []port // by rising symbol index
	bounds  int    // guarded by program.mu; loaded while it is not 0
}

// port is one tensor of a procedure.
type port struct {
	tensor
	spot   spot // where it stands on its surface
	symbol int  // its index among the inputs or outputs of the whole program
	place  int  // its index in the Executable's own order
}

// build reads and compiles what stands in a directory. Weights are files inside
// it; the owner of the directory may have linked them from elsewhere.
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
	if n := len(tree.Funcs); n > maxProcedures {
		return nil, &mil.Error{File: file, Pos: tree.Funcs[maxProcedures].Pos,
			Msg: fmt.Sprintf("%d functions, at most %d", n, maxProcedures), Hint: "split the program"}
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

// place takes the tensors of the procedure from its function, and not from the
// Executable: what the attributes say is written down apart from package ane.
func (f *procedure) place(text *mil.Function) error {
	in, out, err := tensorsOf(text)
	if err != nil {
		return err
	}
	for side, list := range [][]tensor{in, out} {
		for i, t := range list {
			s, ok := spotOf(t)
			if !ok {
				return &mil.Error{Pos: text.Pos, Msg: fmt.Sprintf("%s needs more than 1 TiB with padded rows", t.name),
					Hint: "widen its last axis"}
			}
			p := port{tensor: t, spot: s, place: i}
			if side == 0 {
				f.in = append(f.in, p)
			} else {
				f.out = append(f.out, p)
			}
		}
	}
	return nil
}

// readText returns the program's text and the name of the file that has it.
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

// order gives the tensors of all procedures their symbols, and returns the names
// of the symbols, sorted bytewise with their suffix: y2@output stands before y@output.
// A name that several functions have is one symbol; what Apple's compiler does with
// such MIL has not been dumped.
func (p *program) order(suffix string, ports func(*procedure) []port) plist.Array {
	var names []string
	for _, f := range p.procedures {
		for _, t := range ports(f) {
			names = append(names, t.name+suffix)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, f := range p.procedures {
		list := ports(f)
		for i := range list {
			list[i].symbol, _ = slices.BinarySearch(names, list[i].name+suffix)
		}
		slices.SortFunc(list, func(a, b port) int { return a.symbol - b.symbol })
	}
	symbols := make(plist.Array, len(names))
	for i, name := range names {
		symbols[i] = name
	}
	return symbols
}

// drop has the program closed, at once or when nothing is bound to it any more.
func (p *program) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropped = true
	p.closeIdle()
}

// closeIdle closes a dropped program that is in no use. The caller holds mu.
func (p *program) closeIdle() {
	if !p.dropped || p.bounds > 0 {
		return
	}
	for _, f := range p.procedures {
		complain("close", f.exec.Close())
	}
}
