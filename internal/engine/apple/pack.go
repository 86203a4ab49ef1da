package apple

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/objcbridge"
)

// On macOS 27 no public program with several weight files compiles. All of them give the framework's copies one
// name, so whether the names that the bridge gives make a difference is not known. The engine tries several files,
// and packs them into one if the framework refuses them.

// codeInvalid is the code of a program whose files the framework refuses.
const codeInvalid = 10

// refusesFiles reports whether the framework refused to compile because of the program's files.
func refusesFiles(err error) bool {
	var b *objcbridge.Error
	return errors.As(err, &b) && b.Stage == objcbridge.StageCompile && b.Kind == objcbridge.KindNSError &&
		b.Domain == objcbridge.DomainEngine && b.Code == codeInvalid
}

// sources are what the framework gets: a text, and the weights that it names.
type sources struct {
	text    []byte
	weights []objcbridge.Weight
}

// pack returns the program with one weight file. It has the entries that the text names, and the text has their new
// places.
func pack(file string, in sources) (to sources, err error) {
	p, err := mil.ParseTree(file, in.text)
	if err != nil {
		return to, err
	}
	files := map[string]*packing{}
	for _, w := range in.weights {
		r, err := blob.NewReader(bytes.NewReader(w.Data), int64(len(w.Data)), w.Path)
		if err != nil {
			return to, err
		}
		files[w.Path] = &packing{file: r, data: w.Data, moved: map[uint64]uint64{}}
	}
	var all blob.Writer
	for _, b := range p.Blobs() {
		path, offset, err := b.Entry()
		if err != nil {
			return to, err
		}
		from := files[path]
		if from == nil {
			return to, fmt.Errorf("%s: no such file", path)
		}
		if offset, err = from.move(offset, &all); err != nil {
			return to, err
		}
		now := mil.BlobValue(mil.Type{}, blob.WeightFile, offset).Blob()
		b.Path.Literal, b.Offset.Literal = now.Path.Literal, now.Offset.Literal // the types are of the text's dialect
	}
	return sources{mil.Print(p), []objcbridge.Weight{{Path: blob.WeightFile, Data: all.Bytes()}}}, nil
}

// packing is one of the files to be packed.
type packing struct {
	file  *blob.File
	data  []byte
	moved map[uint64]uint64 // new offsets of entries
}

// move adds the entry at offset to the packed file unless it is there, and returns its offset in it.
func (p *packing) move(offset uint64, to *blob.Writer) (uint64, error) {
	if now, ok := p.moved[offset]; ok {
		return now, nil
	}
	e, err := p.file.Entry(offset)
	if err != nil {
		return 0, err
	}
	now, err := to.AddTag(e.Tag, p.data[e.DataOffset:e.DataOffset+e.Size], e.UnusedBits)
	p.moved[offset] = now
	return now, err
}
