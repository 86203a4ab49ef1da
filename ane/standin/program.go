package standin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
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
	attributes []byte // its modelAttributes, an XML property list

	mu      sync.Mutex // orders what an ane.Executable wants one at a time
	bounds  int        // bound to any procedure
	dropped bool
}

// procedure is one function of a program.
type procedure struct {
	program *program
	index   uint32 // its place in the program's text
	name    string
	exec    ane.Executable
	in, out []port // by rising symbol index
	bounds  int    // guarded by program.mu; loaded while it is not 0
}

// port is one tensor of a procedure.
type port struct {
	layout ane.Layout
	symbol int // its index among the inputs or outputs of the whole program
	place  int // its index in the Executable's own order
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
		exec, err := s.engine.Compile(context.Background(), ane.Source{File: file, Text: text, Function: f.Name, Weights: weights})
		if err != nil {
			return nil, err
		}
		p.procedures = append(p.procedures, &procedure{program: p, index: uint32(i), name: f.Name, exec: exec})
	}
	if len(p.procedures) == 0 {
		return nil, &mil.Error{File: file, Msg: "the program has no function", Hint: "write at least func main<ios18>(...)"}
	}
	p.attributes = p.describe()
	return p, nil
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
// of the symbols: bytewise sorted, shared by the procedures. Outputs are sorted
// without the suffix that their names carry elsewhere.
func (p *program) order(layouts func(ane.Executable) []ane.Layout, ports func(*procedure) *[]port) []string {
	var names []string
	for _, f := range p.procedures {
		for _, l := range layouts(f.exec) {
			names = append(names, l.Name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, f := range p.procedures {
		list := ports(f)
		for place, l := range layouts(f.exec) {
			symbol, _ := slices.BinarySearch(names, l.Name)
			*list = append(*list, port{l, symbol, place})
		}
		slices.SortFunc(*list, func(a, b port) int { return strings.Compare(a.layout.Name, b.layout.Name) })
	}
	return names
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
