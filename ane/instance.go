package ane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/near"
	"github.com/anekit/anekit/unimem"
)

// Instancer is an Executable that can make an Executable of the same program with other
// weights, without compiling it again.
type Instancer interface {
	// NewInstance returns an Executable with other weights. Each file of weights replaces the file of the same path.
	// For a path whose error matches fs.ErrNotExist the Executable uses the receiver's file. NewInstance asks weights
	// for every file of the program before it returns. Like Load, it is called one at a time. The receiver may be
	// closed before the instance.
	NewInstance(ctx context.Context, weights Weights) (Executable, error)
}

// WithWeights makes a Model of the same program with other weights, without compiling it
// again. Each file of weights replaces the file of the same path; for a path whose error
// matches fs.ErrNotExist the new Model uses the file of m. The new Model is not loaded and
// has its own requests. The caller closes it, before or after m. m does not change, and
// may itself be the result of WithWeights.
//
// The error matches ErrName if weights has none of the files that the program reads, which it names. So it is for every
// weights of a program whose constants are all in its text, and for nil. A file has to pass the checks of Compile;
// otherwise the error matches ErrCompile and has every fault with its place. The error matches ErrMismatch if a
// constant that determines the program, such as an axis, has changed. It matches errors.ErrUnsupported if the engine
// makes no instances, and ErrDenied if the engine's broker does not allow them.
func (m *Model) WithWeights(ctx context.Context, weights Weights) (*Model, error) {
	m = orZero(m)
	ctx = given(ctx)
	if err := m.begin(ctx, "instance"); err != nil {
		return nil, err
	}
	defer m.end()
	if err := ctx.Err(); err != nil {
		return nil, Deadline("instance", m.engine(), err)
	}
	if weights == nil {
		weights = Files{}
	}
	if err := m.device.hold("instance"); err != nil {
		return nil, err
	}
	asked := asked{Weights: inPlace(weights)}
	exec, err := instanceOf(ctx, m, &asked)
	if err == nil && !asked.found {
		err = errors.Join(m.unreplaced(weights, asked.missing), exec.Close())
	}
	made, err := m.device.model("instance", exec, err)
	if err == nil {
		made.receipt.Notes = remarked(made.receipt.Notes, weights)
	}
	return made, err
}

func instanceOf(ctx context.Context, m *Model, weights Weights) (Executable, error) {
	own, ok := m.exec.(Instancer)
	if !ok {
		return nil, m.fail("instance", errors.ErrUnsupported, "the engine makes no instances",
			"compile the program with these weights")
	}
	return own.NewInstance(ctx, weights)
}

// asked is Weights of any kind, and notes which of its files an engine gets.
type asked struct {
	Weights

	mu      sync.Mutex
	found   bool     // the Weights have a file that the engine asked for
	missing []string // paths that they do not have, each once
}

// note notes a call for path that returned err.
func (a *asked) note(path string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		a.found = true
	} else if errors.Is(err, fs.ErrNotExist) && !slices.Contains(a.missing, path) {
		a.missing = append(a.missing, path)
	}
}

func (a *asked) ReadFile(path string) ([]byte, error) {
	data, err := a.Weights.ReadFile(path)
	a.note(path, err)
	return data, err
}

// Constant implements Constants: Weights that are none leave every constant to ReadFile.
func (a *asked) Constant(path string, offset uint64, t mil.Type) ([]byte, error) {
	c, ok := a.Weights.(Constants)
	if !ok {
		return nil, fs.ErrNotExist
	}
	data, err := c.Constant(path, offset, t)
	a.note(path, err)
	return data, err
}

func (a *asked) Hold() (release func(), err error) {
	if c, ok := a.Weights.(Constants); ok {
		return c.Hold()
	}
	return func() {}, nil
}

// Blocks implements Mapped.
func (a *asked) Blocks() []*unimem.Block {
	if m, ok := a.Weights.(Mapped); ok {
		return m.Blocks()
	}
	return nil
}

// unreplaced is the error for weights that have none of the files that the program reads.
func (m *Model) unreplaced(weights Weights, reads []string) error {
	if len(reads) == 0 {
		return &Error{Op: "instance", Engine: m.engine(), Err: ErrName, Detail: "the program reads no weight file",
			Hint: "compile a program with other constants"}
	}
	e := &Error{Op: "instance", Engine: m.engine(), Err: ErrName,
		Detail: "the weights have no file that the program reads"}
	for _, path := range pathsOf(weights) {
		if e.Name == "" {
			e.Name = path
		}
		if like := alike(path, reads); like != "" {
			e.Name, e.Hint = path, "did you mean "+like+"? "
			break
		}
	}
	const most = 8 // paths that a message lists
	list := strings.Join(reads[:min(len(reads), most)], ", ")
	if n := len(reads) - most; n > 0 {
		list += fmt.Sprintf(" and %d more", n)
	}
	e.Hint += "it reads " + list
	return e
}

// pathsOf lists the files of Weights that are a map by path, such as Files.
func pathsOf(w Weights) []string {
	v := reflect.ValueOf(w)
	if v.Kind() != reflect.Map || v.Type().Key().Kind() != reflect.String {
		return nil
	}
	var paths []string
	for _, k := range v.MapKeys() {
		paths = append(paths, k.String())
	}
	slices.Sort(paths)
	return paths
}

// alike returns the path of a program that is like one that it does not have: without the folder, or misspelled.
func alike(path string, reads []string) string {
	for _, r := range reads {
		if path != "" && strings.HasSuffix(r, "/"+path) {
			return r
		}
	}
	return near.Word(path, reads)
}
