package coreml

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/wholefile"
)

// maxCompiled is how deep folders of compiled pipelines nest.
const maxCompiled = 8

// openCompiled opens a compiled model: model.mil, or the folders model0, model1 .. of a pipeline's parts.
func openCompiled(dir, name string) (*Model, error) { return compiled(dir, name, 0) }

func compiled(dir, name string, depth int) (*Model, error) {
	m := &Model{Name: name, dir: dir}
	info, err := m.info(dir)
	if err != nil {
		return nil, err
	}
	m.Kind = info.kind()
	if has(dir, "encryptionInfo") {
		return nil, encrypted(dir)
	}
	if text := filepath.Join(dir, "model.mil"); has(dir, "model.mil") {
		return m, m.parse(text, info)
	}
	if depth < maxCompiled && isDir(filepath.Join(dir, "model0")) {
		return m, m.compiledParts(info, depth)
	}
	switch {
	case has(dir, "model.espresso.net"):
		if m.Kind == "" {
			m.Kind = "neuralNetwork"
		}
		if net, err := contents(filepath.Join(dir, "model.espresso.net")); err == nil && !utf8.Valid(net) {
			return nil, encrypted(dir)
		}
	case m.Kind == "" && has(dir, "coremldata.bin"):
		return nil, refused(dir, ErrKind, again, "a compiled model without model.mil, so no ML program")
	case m.Kind == "", m.Kind == Program:
		return nil, refused(dir, ErrFormat, "copy the folder with all its files", "the compiled model has no model.mil")
	}
	return nil, unprogrammed(dir, m.Kind)
}

func has(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

func encrypted(dir string) *Error {
	return refused(dir, ErrEncrypted, "take the package that it was compiled from, or compile it without --encrypt",
		"an encrypted model, which Apple's system alone can read")
}

// parse reads model.mil. Its description is that of metadata.json, as far as there is one.
func (m *Model) parse(file string, info *metadata) error {
	data, err := contents(file)
	if err != nil {
		return err
	}
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return encrypted(m.dir)
	}
	if m.tree, err = mil.Parse(file, data); err != nil {
		return err
	}
	m.Kind = Program
	m.Description = info.description(inferred(m.tree))
	if remark := m.order(); remark != "" {
		m.remarks = append(m.remarks, remark)
	}
	return nil
}

// compiledParts opens the parts of a compiled pipeline. Those without a program have the kind that metadata.json says.
func (m *Model) compiledParts(info *metadata, depth int) error {
	if m.Kind == "" || m.Kind == Program {
		m.Kind = "pipeline"
	}
	for i := 0; ; i++ {
		name := "model" + strconv.Itoa(i)
		dir := filepath.Join(m.dir, name)
		if !isDir(dir) {
			break
		}
		p, err := compiled(dir, name, depth+1)
		switch fault, ok := err.(*Error); { //nolint:errorlint // made above
		case err == nil:
		case ok && fault.Err == ErrKind:
			p = &Model{Name: name, dir: dir, Kind: info.part(i)}
			if own, err := p.info(dir); err == nil && own.kind() != "" {
				p.Kind = own.kind()
			}
		default:
			return err
		}
		m.parts = append(m.parts, p)
	}
	nameParts(m.parts, m.partNames())
	m.Description = info.description(Description{})
	m.link()
	if m.first() == nil {
		return unprogrammed(m.dir, m.Kind)
	}
	return nil
}

// partNames reads the names of a compiled pipeline's parts: their number, and of each the length and the bytes. It is
// empty if the file is missing or has another form.
func (m *Model) partNames() (all []string) {
	data, err := wholefile.Read(filepath.Join(m.dir, "modelNames", "coremldata.bin"), maxNames)
	if err != nil || len(data) < 8 {
		return nil
	}
	count, rest := binary.LittleEndian.Uint64(data), data[8:]
	for range min(count, uint64(len(m.parts))) {
		if len(rest) < 8 {
			return nil
		}
		n := binary.LittleEndian.Uint64(rest)
		if rest = rest[8:]; n > uint64(len(rest)) {
			return nil
		}
		all, rest = append(all, string(rest[:n])), rest[n:]
	}
	return all
}

// maxNames is how many bytes a file of names has at most.
const maxNames = 1 << 20

// metadata is what metadata.json says of a compiled model.
type metadata struct {
	schema
	Functions []struct {
		Name string `json:"name"`
		schema
	} `json:"functions"`
	Default   string            `json:"defaultFunctionName"`
	Version   string            `json:"version"`
	Summary   string            `json:"shortDescription"`
	Author    string            `json:"author"`
	License   string            `json:"license"`
	Spec      loose             `json:"specificationVersion"`
	User      map[string]string `json:"userDefinedMetadata"`
	ModelType struct {
		Name      string `json:"name"`
		Structure []struct {
			Name string `json:"name"`
		} `json:"structure"`
	} `json:"modelType"`
}

// schema has the features of a model or of a function.
type schema struct {
	Inputs  []schemaFeature `json:"inputSchema"`
	Outputs []schemaFeature `json:"outputSchema"`
	States  []schemaFeature `json:"stateSchema"`
}

// schemaFeature is a feature. Apple's compiler writes numbers as texts.
type schemaFeature struct {
	Name       string `json:"name"`
	Summary    string `json:"shortDescription"`
	Type       string `json:"type"`
	DType      string `json:"dataType"`
	Optional   loose  `json:"isOptional"`
	Shape      loose  `json:"shape"`
	Range      loose  `json:"shapeRange"`
	Enumerated loose  `json:"enumeratedShapes"`
	Width      loose  `json:"width"`
	Height     loose  `json:"height"`
	Colour     string `json:"colorspace"`
}

// loose is a text, or the text of any other value.
type loose string

// UnmarshalJSON implements json.Unmarshaler.
func (l *loose) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) != nil {
		s = string(b)
	}
	*l = loose(s)
	return nil
}

// info reads metadata.json, a list of one model. A remark says so if it is malformed.
func (m *Model) info(dir string) (*metadata, error) {
	file := filepath.Join(dir, "metadata.json")
	if !has(dir, "metadata.json") {
		return &metadata{}, nil
	}
	data, err := contents(file)
	if err != nil {
		return nil, err
	}
	var all []metadata
	if err := json.Unmarshal(data, &all); err != nil || len(all) == 0 {
		m.remarks = append(m.remarks, "metadata.json is malformed and was not read")
		return &metadata{}, nil
	}
	return &all[0], nil
}

// kind returns the kind of the model in the words of Core ML's format.
func (i *metadata) kind() string { return strings.TrimPrefix(i.ModelType.Name, "MLModelType_") }

// part returns the kind of a pipeline's part.
func (i *metadata) part(n int) string {
	if n < len(i.ModelType.Structure) {
		return strings.TrimPrefix(i.ModelType.Structure[n].Name, "MLModelType_")
	}
	return "unknown"
}

// description adds what metadata.json says to the description of the program.
func (i *metadata) description(d Description) Description {
	d.Summary, d.Version, d.Author, d.License, d.Metadata = i.Summary, i.Version, i.Author, i.License, i.User
	d.Specification, _ = strconv.Atoi(string(i.Spec)) // 0 for none
	for _, f := range i.Functions {
		if f.Name == i.Default && d.Function(f.Name) != nil {
			d.Default = f.Name
		}
	}
	if len(d.Functions) == 0 {
		d.Functions, d.Default = []Function{{Name: "main"}}, "main"
	}
	byName := map[string]*Function{}
	for j := range d.Functions {
		byName[d.Functions[j].Name] = &d.Functions[j]
	}
	for _, f := range i.Functions {
		if own := byName[f.Name]; own != nil {
			f.schema.describe(own)
		}
	}
	if len(d.Functions) == 1 && len(i.Functions) == 0 {
		i.schema.describe(&d.Functions[0])
	}
	return d
}

// describe brings the features of a function into the order of the schema, and adds what that says of them.
func (s *schema) describe(f *Function) {
	for _, l := range []struct {
		from []schemaFeature
		to   *[]Feature
	}{{s.Inputs, &f.Inputs}, {s.Outputs, &f.Outputs}, {s.States, &f.States}} {
		if len(l.from) == 0 {
			continue
		}
		known := map[string]Feature{}
		for _, own := range *l.to {
			known[own.Name] = own
		}
		*l.to = nil
		for _, from := range l.from {
			own := known[from.Name]
			from.describe(&own)
			*l.to = append(*l.to, own)
		}
	}
}

func (s *schemaFeature) describe(f *Feature) {
	f.Name, f.Summary, f.Optional = s.Name, s.Summary, s.Optional == "1"
	words := map[string]string{"MultiArray": "multiArrayType", "Image": "imageType", "State": "stateType",
		"String": "stringType", "Dictionary": "dictionaryType", "Int64": "int64Type", "Double": "doubleType"}
	if f.Kind = s.Type; words[s.Type] != "" {
		f.Kind = words[s.Type]
	}
	types := map[string]mil.DType{"Float32": mil.FP32, "Float16": mil.FP16, "Double": mil.FP64, "Float64": mil.FP64,
		"Int32": mil.Int32, "Int8": mil.Int8}
	if d, ok := types[s.DType]; ok {
		f.DType = d
	}
	list(s.Shape, &f.Shape)
	list(s.Enumerated, &f.Shapes)
	list(s.Range, &f.Ranges)
	width, _ := strconv.Atoi(string(s.Width)) // 0 for none
	height, _ := strconv.Atoi(string(s.Height))
	if f.Kind == "imageType" && width > 0 && height > 0 {
		f.Image = &Image{Width: width, Height: height, Colour: strings.ToUpper(s.Colour)}
		f.Shape = []int{1, f.Image.channels(), height, width}
	}
}

// list reads a text such as "[1, 128]" into to, which it leaves alone if the text is another.
func list[T any](s loose, to *[]T) {
	var all []T
	if s != "" && json.Unmarshal([]byte(s), &all) == nil && len(all) > 0 {
		*to = all
	}
}
