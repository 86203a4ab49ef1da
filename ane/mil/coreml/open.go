package coreml

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/sniff"
	"github.com/anekit/anekit/internal/wholefile"
)

// maxFile is the largest file of a model that is read: protobuf cannot be longer.
const maxFile = 1<<31 - 1

// Open opens a .mlpackage, with or without its Manifest.json, a .mlmodelc, of which model.mil is enough, a .mlmodel or
// a MIL text. It reads no weight files. The error is an *Error, or a mil.ErrorList for malformed MIL text.
func Open(path string, opts ...Option) (*Model, error) {
	m, err := open(path)
	if err != nil {
		return nil, err
	}
	for _, o := range opts {
		o(m)
	}
	for _, name := range slices.Sorted(maps.Keys(m.shapes)) {
		if !m.choose(name, m.shapes) {
			return nil, refused(path, ErrShape, m.allowed(name), "no input %s can take the shape %v", short(name),
				m.shapes[name])
		}
	}
	return m, nil
}

func open(path string) (*Model, error) {
	what := sniff.Path(path)
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	switch what.Kind {
	case sniff.Package:
		return openPackage(path, name)
	case sniff.Compiled, sniff.OldNet:
		if isDir(path) {
			return openCompiled(path, name)
		}
	case sniff.Model:
		return openSpec(path, name)
	case sniff.MIL:
		return openText(path, name)
	case sniff.Missing:
		return nil, refused(path, what.Err, what.Next, "no such model")
	}
	// A folder inside a package is one without a manifest.
	for _, spec := range []string{"model.mlmodel", filepath.Join("com.apple.CoreML", "model.mlmodel")} {
		if spec = filepath.Join(path, spec); what.Kind == sniff.Folder && isFile(spec) {
			return openSpec(spec, name)
		}
	}
	return nil, refused(path, ErrFormat, what.Next, "%s", what.What)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// start looks at the first bytes of a file.
func start(path string, data []byte) sniff.Found {
	return sniff.Start(path, data[:min(len(data), sniff.Enough)], int64(len(data)))
}

// contents reads a file of a model. It refuses what stands in its place, such as a Git LFS pointer.
func contents(path string) ([]byte, error) {
	data, err := wholefile.Read(path, maxFile)
	switch {
	case err == nil:
		if found := start(path, data); found.Absent() {
			return nil, refused(path, ErrFormat, found.Next, "%s", found.What)
		}
		return data, nil
	case errors.Is(err, wholefile.ErrLong):
		return nil, refused(path, ErrFormat, "convert it to a package, which has its weights in files of their own",
			"longer than a model can be")
	case errors.Is(err, fs.ErrNotExist):
		return nil, refused(path, err, "copy the model with all its files", "a file of the model is missing")
	default:
		return nil, refused(path, err, "", "%v", err)
	}
}

// openSpec opens the protobuf of a model. Weight files lie beside it, in weights.
func openSpec(path, name string) (*Model, error) {
	data, err := contents(path)
	if err != nil {
		return nil, err
	}
	m, err := read(path, name, data)
	if found := start(path, data); errors.Is(err, ErrFormat) && found.Foreign(sniff.Model) {
		return nil, refused(path, ErrFormat, found.Next, "%s", found.What)
	}
	if err != nil {
		return nil, err
	}
	m.in(filepath.Dir(path))
	return m, nil
}

// in sets what @model_path means in a model and its parts.
func (m *Model) in(dir string) {
	m.dir = dir
	for _, p := range m.parts {
		p.in(dir)
	}
}

// openPackage opens the model that the manifest of a package names, or the only one in its data.
func openPackage(path, name string) (*Model, error) {
	data := filepath.Join(path, "Data")
	file := filepath.Join(path, "Manifest.json")
	if !isFile(file) {
		return openOnly(path, filepath.Join(data, "com.apple.CoreML"), name)
	}
	content, err := contents(file)
	if err != nil {
		return nil, err
	}
	var manifest struct {
		Items map[string]struct {
			Path string `json:"path"`
		} `json:"itemInfoEntries"`
		Root string `json:"rootModelIdentifier"`
	}
	if err := json.Unmarshal(content, &manifest); err != nil {
		return nil, refused(file, ErrFormat, "copy the package again, or remove its Manifest.json", "malformed: %v",
			err)
	}
	item, ok := manifest.Items[manifest.Root]
	switch local := filepath.FromSlash(item.Path); {
	case !ok || item.Path == "":
		return openOnly(path, filepath.Join(data, "com.apple.CoreML"), name)
	case !filepath.IsLocal(local):
		return nil, refused(file, ErrFormat, "name a file inside the package", "its model lies outside: %s",
			short(item.Path))
	default:
		return openSpec(filepath.Join(data, local), name)
	}
}

// openOnly opens the only .mlmodel of a folder of a package.
func openOnly(path, dir, name string) (*Model, error) {
	files, _ := filepath.Glob(filepath.Join(escaped(dir), "*.mlmodel"))
	if len(files) == 1 {
		return openSpec(files[0], name)
	}
	return nil, refused(path, ErrFormat, "it has Data/com.apple.CoreML/model.mlmodel; copy it with all its files",
		"the package has no Manifest.json and %d models", len(files))
}

// escaped makes a pattern that matches a path alone.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// openText opens MIL text. Weight files lie in the folder of the text.
func openText(path, name string) (*Model, error) {
	data, err := contents(path)
	if err != nil {
		return nil, err
	}
	tree, err := mil.Parse(path, data)
	if err != nil {
		return nil, err
	}
	m := &Model{Name: name, Kind: Program, tree: tree, dir: filepath.Dir(path)}
	m.Description = inferred(tree)
	return m, nil
}
