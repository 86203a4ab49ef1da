package build

import (
	"io"
	"os"
	"path/filepath"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/wholefile"
)

// Program is a built program: a tree, and the weight files that it names.
type Program struct {
	*mil.Program
	Weights blob.Writers
	// Notes are remarks that are not faults: what a real engine may refuse or compute
	// differently, and numbers out of the range of fp16. Each starts with file and line.
	Notes []string
	lent  map[string]any // tensors of WeightOf, by path
}

// Tree returns the tree, or nil for a nil Program.
func (p *Program) Tree() *mil.Program {
	if p == nil {
		return nil
	}
	return p.Program
}

// Remarks returns Notes, so that the Receipt of a Model of the program has them.
func (p *Program) Remarks() []string {
	if p == nil {
		return nil
	}
	return p.Notes
}

// ReadFile returns a weight file of the program by its path, so that an ane.Source needs no other Weights.
func (p *Program) ReadFile(path string) ([]byte, error) { return p.Weights.ReadFile(path) }

// Text returns the program as MIL text.
func (p *Program) Text() []byte { return mil.Print(p.Program) }

// TextFile is the name of the text in the directory of a model.
const TextFile = "model.mil"

// WriteDir writes the weights and then the text below dir, the directory of the model; blob.Dir(dir) reads the weights
// again. Streams of weights are copied through a small buffer.
func (p *Program) WriteDir(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := p.Weights.WriteDir(dir); err != nil {
		return err
	}
	return wholefile.Replace(filepath.Join(dir, TextFile), func(dst io.Writer) error {
		_, err := dst.Write(p.Text())
		return err
	})
}
