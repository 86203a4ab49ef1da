package safetensors

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/internal/wholefile"
)

// Repack writes the tensors and the metadata of f to one file at path, each tensor at a multiple of align bytes. It
// returns the number of bytes of tensors written. Any reader accepts the file. Tensors whose length is a multiple of
// align come first, since none of them needs padding. Before each of the others is a tensor of zeros (see Padding),
// which other readers list. Padding that f has is left out. Options are those of Create but Align and Expect.
//
// Errors: os.ErrExist for a path that is the index of f or one of several files of f, which f would lose, and for one
// that makes a further file of the folder f, which would have every tensor twice; those of Create and
// Writer.Add, ErrChanged, ErrClosed, and the cause of ctx.
func Repack(ctx context.Context, path string, f *File, align int, opts ...Option) (moved int64, err error) {
	if err := f.keeps(path); err != nil {
		return 0, err
	}
	var all []Tensor
	for i := range f.order {
		if t := f.tensor(i); !padding(t.Name()) {
			all = append(all, t)
		}
	}
	rest := func(t Tensor) int {
		if t.Size()%int64(max(align, 1)) == 0 {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(rest(a), rest(b)), cmp.Compare(a.File(), b.File()),
			cmp.Compare(a.Offset(), b.Offset()))
	})
	w, err := Create(path, f.Metadata(), append([]Option{Align(align), Expect(2*len(all) + 1)}, opts...)...)
	if err != nil {
		return 0, err
	}
	defer w.Abort()
	for _, t := range all {
		if ctx != nil && ctx.Err() != nil {
			return moved, context.Cause(ctx)
		}
		err := t.guard("repack", func(b []byte) error { return w.Add(t.Name(), t.DType(), t.Shape(), b) })
		if err != nil {
			return moved, err
		}
		moved += t.Size()
	}
	return moved, w.Close()
}

// keeps refuses a path that is the index of f or one of several files: f would lose the other tensors. It refuses a
// new file that readers of the folder f would take for a part of it.
func (f *File) keeps(path string) error {
	if f == nil || len(f.shards) == 0 {
		return &Error{Base: errtext.Base{Op: "repack", Err: ErrClosed, Detail: "nil or zero File"}, File: path,
			Offset: -1}
	}
	out, err := os.Stat(path)
	if err != nil {
		if f.joins(path) {
			return &Error{Base: errtext.Base{Op: "repack", Err: os.ErrExist,
				Detail: "it would be a further file of the folder " + f.path + ", with every tensor again",
				Hint:   "name a file in another folder"}, File: path, Offset: -1}
		}
		return nil // Create tells what is wrong with it
	}
	var parts []string
	if f.indexPath != "" {
		parts = append(parts, f.indexPath)
	}
	if len(f.shards) > 1 {
		for _, s := range f.shards {
			parts = append(parts, s.path)
		}
	}
	for _, part := range parts {
		if info, err := os.Stat(part); err == nil && os.SameFile(info, out) {
			return &Error{Base: errtext.Base{Op: "repack", Err: os.ErrExist,
				Detail: "it is a part of " + f.path + ", which is read", Hint: "name another file"}, File: path,
				Offset: -1}
		}
	}
	return nil
}

// joins reports whether a reader of the folder f would take a new file at path, or where it leads, for a part of it.
func (f *File) joins(path string) bool {
	target, err := wholefile.Target(path)
	if err != nil {
		return false // Create tells what is wrong with it
	}
	dir, err := os.Stat(filepath.Dir(target))
	own, err2 := os.Stat(f.path)
	name := filepath.Base(target)
	return err == nil && err2 == nil && os.SameFile(dir, own) && !strings.HasPrefix(name, ".") &&
		(f.indexPath == "" && strings.HasSuffix(name, extension) || strings.HasSuffix(name, indexExtension))
}
