package broker

import (
	"errors"
	"os"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// weightAlign is where a weight file may begin in the memfd that all share: at a
// page, so that the broker can map one alone.
const weightAlign = 4096

// upload is a program as it is sent: its text in one memfd, all weight files that
// it names in a second one. Both stay for the life of the Executable, since a
// broker that has died needs them again; they are the one copy that is made of a
// file that Weights hands out, and the broker reads that copy.
type upload struct {
	request wire.Compile
	files   []*os.File
	missing error // why a weight file that the text names could not be read
}

// newUpload takes a copy of text and weights. A program that comes as a tree is printed.
func newUpload(src ane.Source) (*upload, error) {
	text, err := src.MIL()
	if err != nil {
		return nil, &ane.Error{Op: "compile", Engine: Name, Name: src.File, Err: ane.Because(ane.ErrCompile, err)}
	}
	u := &upload{request: wire.Compile{File: src.File, Function: src.Function, TextSize: uint64(len(text))}}
	weights := u.weigh(src)
	for _, content := range [][][]byte{{text}, weights} {
		if content == nil {
			continue
		}
		f, err := wire.Seal("program", content...)
		if err != nil {
			return nil, errors.Join(err, u.close())
		}
		u.files = append(u.files, f)
	}
	return u, nil
}

// weigh reads the weight files and returns what their memfd is to hold. What
// cannot be read is left out: the broker finds where the text needs it.
func (u *upload) weigh(src ane.Source) (content [][]byte) {
	return u.pack(weightPaths(src), 1, func(path string) ([]byte, error) {
		data, err := src.Weights.ReadFile(path)
		if err != nil {
			u.missing = errors.Join(u.missing, err)
		}
		return data, err
	})
}

// pack puts the files that read can read one after the other.
func (u *upload) pack(paths []string, descriptor uint32, read func(path string) ([]byte, error)) (content [][]byte) {
	end := 0
	for _, path := range paths {
		data, err := read(path)
		if err != nil {
			continue
		}
		u.request.Weights = append(u.request.Weights,
			wire.Weight{Name: path, Descriptor: descriptor, Offset: uint64(end), Size: uint64(len(data))})
		pad := -len(data) & (weightAlign - 1)
		content = append(content, data, make([]byte, pad))
		end += len(data) + pad
	}
	return content
}

// weightPaths lists the files that the text names, each once. A text that cannot
// be read names none; the broker says what is wrong with it.
func weightPaths(src ane.Source) []string {
	if src.Weights == nil {
		return nil
	}
	p, err := src.Tree()
	if err != nil {
		return nil
	}
	var paths []string
	for _, b := range p.Blobs() {
		path, err := b.Path.Strings()
		if err == nil && len(path) == 1 && !slices.Contains(paths, path[0]) {
			paths = append(paths, path[0])
		}
	}
	return paths
}

// descriptors are the numbers of the files, in the order of the request.
func (u *upload) descriptors() []int {
	var fds []int
	for _, f := range u.files {
		fds = append(fds, int(f.Fd()))
	}
	return fds
}

func (u *upload) close() error {
	var errs []error
	for _, f := range u.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// explain adds to a refusal why weight files that the text names could not be read.
func (u *upload) explain(err error) error {
	if u.missing == nil || !errors.Is(err, ane.ErrCompile) {
		return err
	}
	return ane.Because(err, u.missing)
}
