package decoder

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/internal/pages"
	"github.com/anekit/anekit/internal/sniff"
	"github.com/anekit/anekit/internal/wholefile"
	"github.com/anekit/anekit/models/decoder/tokenizer"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Folder is an open folder of a model: its description and its weights, mapped or read. Its methods are safe for
// concurrent use. The caller closes it after its Models.
type Folder struct {
	dir     string
	config  Config
	file    *safetensors.File
	mapped  bool               // file.Report says so, which allocates
	blocks  []*unimem.Block    // of the mapped files
	bare    bool               // names of tensors lack "model."
	weights map[string]*weight // by module, without ".weight"

	mu     sync.Mutex
	print  *kv.Fingerprint // nil until Fingerprint has read the weights
	users  int             // open Models
	closed bool
}

// Open reads config.json of the folder dir and maps its weights. It checks that every tensor of the model is there and
// has its shape; it does not read the numbers, which Load does.
//
// Errors: ErrConfig, ErrArchitecture, ErrWeights; all are *Error and name the file, key or tensor.
func Open(dir string) (*Folder, error) { return OpenAs(context.Background(), dir, safetensors.MapMode) }

// OpenAs is Open of a folder whose weights are mapped, read into memory of the Folder, or as safetensors.Auto chooses:
// File().Report() says which, and why. Programs compute with the weights where they are either way. Errors: those of
// Open, that of ctx, and those of unimem.Start for a read.
func OpenAs(ctx context.Context, dir string, mode safetensors.Mode) (*Folder, error) {
	c, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	file, err := openWeights(ctx, dir, mode)
	if err != nil {
		return nil, err
	}
	f := &Folder{dir: dir, file: file, mapped: file.Report().Access == safetensors.Mapped}
	if _, err := file.Tensor(embedding + ".weight"); err != nil {
		_, err = file.Tensor(strings.TrimPrefix(embedding, base) + ".weight")
		f.bare = err == nil
	}
	keyNorm := f.stored(layerName(0, "self_attn.k_norm"))
	if t, err := file.Tensor(keyNorm + ".weight"); err == nil && c.QKNorm && c.guessed {
		// the family has heads of another size than Hidden/Heads, and the norm of a head has that size
		if s := t.Shape(); len(s) == 1 && s[0] > 0 && s[0]%2 == 0 && s[0] <= maxNumber/c.Heads {
			c.HeadDim = s[0]
		}
	}
	if _, err := file.Tensor(head + ".weight"); err != nil && c.tieUntold {
		c.Tied = true // MLX omits the key if it ties
	}
	f.config = c
	if err := f.find(); err != nil {
		_ = file.Close() // nothing holds the mapping
		return nil, err
	}
	for _, w := range f.weights {
		for _, t := range w.tensors() {
			if b, _, err := t.Block(); err == nil && f.mapped && !slices.Contains(f.blocks, b) {
				f.blocks = append(f.blocks, b)
			}
		}
	}
	return f, nil
}

// guard calls do, which reads the mapped files. One that another process has made shorter is an error with its name.
func (f *Folder) guard(op string, do func() error) error {
	err := unimem.Guard(do, f.blocks...)
	if err == nil {
		return nil
	}
	if changed := f.changed(op); changed != nil {
		return changed
	}
	return err
}

// changed returns the error for a mapped file that another process has made shorter, or nil.
func (f *Folder) changed(op string) *Error {
	for _, w := range f.weights {
		for _, t := range w.tensors() {
			if info, err := os.Stat(t.File()); f.mapped && err == nil && info.Size() < t.Offset()+t.Size() {
				return &Error{Base: errtext.Base{Op: op, Err: unimem.ErrChanged, Detail: "it is shorter now",
					Hint: "write the file again, and leave it as it is while a model of it is open"}, Name: t.File()}
			}
		}
	}
	return nil
}

// openWeights opens the weights of a folder: those that are called as published, or all that the folder has.
func openWeights(ctx context.Context, dir string, mode safetensors.Mode) (*safetensors.File, error) {
	path := dir
	for _, name := range []string{"model.safetensors", "model.safetensors.index.json"} {
		if full := filepath.Join(dir, name); exists(full) {
			path = full
		}
	}
	file, err := safetensors.OpenAs(ctx, path, mode)
	if err == nil {
		return file, nil
	}
	if ctx.Err() != nil || errors.Is(err, unimem.ErrExhausted) {
		return nil, &Error{Base: errtext.Base{Op: "open", Cause: err}, Name: path} // the folder may be as it should
	}
	fault := &Error{Base: errtext.Base{Op: "open", Err: ErrWeights, Cause: err}, Name: path}
	at := (*safetensors.Error)(nil)
	switch missing := errors.Is(err, os.ErrNotExist); {
	case missing && path == dir:
		fault.Hint = "put model.safetensors, or its shards with model.safetensors.index.json, beside " + configFile
		if found := sniff.Path(dir); found.Kind == sniff.PyTorch {
			fault.Cause, fault.Detail = os.ErrNotExist, "the folder has no safetensors, but PyTorch files"
			fault.Hint = "save the model with save_pretrained(.., safe_serialization=True)"
		}
	case missing && errors.As(err, &at):
		fault.Name, fault.Detail = at.File, "the shard is missing"
		fault.Hint = "download all files that " + filepath.Base(path) + " names"
	}
	return nil, fault
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// find looks up every tensor of the model.
func (f *Folder) find() error {
	f.weights = map[string]*weight{}
	var first error
	more := 0
	for _, m := range f.config.modules() {
		w, err := f.module(m)
		switch {
		case err == nil:
			f.weights[m.name] = w
		case first == nil:
			first = err
		default:
			more++
		}
	}
	if fault := (*Error)(nil); more > 0 && errors.As(first, &fault) {
		fault.Detail = strings.TrimPrefix(fmt.Sprintf("%s; %d more do not fit", fault.Detail, more), "; ")
	}
	if first != nil {
		return first
	}
	return f.unused()
}

// unused refuses tensors that the model of config.json does not use: without them it would compute wrong numbers.
func (f *Folder) unused() error {
	used := f.config.used()
	names := slices.DeleteFunc(slices.Clone(f.file.Names()), func(name string) bool {
		if f.bare && !strings.HasPrefix(name, head) {
			name = base + name
		}
		return used(name)
	})
	if len(names) == 0 {
		return nil
	}
	detail := fmt.Sprintf("a %s of %d layers has no such tensor", f.config.Architecture, f.config.Layers)
	if more := len(names) - 1; more > 0 {
		detail += fmt.Sprintf(", nor %d more that are there", more)
	}
	return &Error{Base: errtext.Base{Op: "open", Err: ErrWeights, Detail: detail,
		Hint: "take the " + configFile + " that was published with the weights"}, Name: names[0]}
}

// Config returns the description of the model. The caller must not change what it points to.
func (f *Folder) Config() Config { return f.config }

// File returns the weights. The Folder owns it.
func (f *Folder) File() *safetensors.File { return f.file }

// release returns the pages of tensors of a mapped file to the system: what is read once, or rarely,
// does not stay resident.
func (f *Folder) release(all ...safetensors.Tensor) {
	if !f.mapped {
		return
	}
	for _, t := range all {
		if b, offset, err := t.Block(); err == nil {
			pages.Release(b, offset, len(t.Bytes()))
		}
	}
}

// Bytes is the size of the model's weights as stored.
func (f *Folder) Bytes() (n int64) {
	for _, w := range f.weights {
		n += w.bytes()
	}
	return n
}

// Fingerprint identifies the model: hashes of its description, of all its weights, which the first call reads, and of
// tokenizer.json, if there is one. Numerics, Engine and OS are empty; Model.Fingerprint has them. Errors: ErrClosed,
// ErrWeights and ErrTokenizer (a file cannot be read), and that of ctx.
func (f *Folder) Fingerprint(ctx context.Context) (kv.Fingerprint, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.print != nil {
		return *f.print, nil
	}
	if f.closed {
		return kv.Fingerprint{}, &Error{Base: errtext.Base{Op: "fingerprint", Err: ErrClosed}, Name: f.dir}
	}
	sums := map[string]uint64{}
	var mu sync.Mutex
	err := f.file.Check(ctx, func(name string, data []byte) error {
		sum := xxh3.Hash(data)
		mu.Lock()
		sums[name] = sum
		mu.Unlock()
		t, err := f.file.Tensor(name)
		f.release(t)
		return err
	})
	if err != nil {
		return kv.Fingerprint{}, &Error{Base: errtext.Base{Op: "fingerprint", Err: ErrWeights, Cause: err},
			Name: f.file.Path()}
	}
	all := xxh3.New()
	for _, name := range f.file.Names() {
		t, err := f.file.Tensor(name)
		if err != nil {
			return kv.Fingerprint{}, &Error{Base: errtext.Base{Op: "fingerprint", Err: ErrWeights, Cause: err},
				Name: name}
		}
		fmt.Fprintf(all, "%s %v %v %016x\n", name, t.DType(), t.Shape(), sums[name])
	}
	words, err := hashWords(f.dir)
	if err != nil {
		return kv.Fingerprint{}, err
	}
	f.print = &kv.Fingerprint{Model: text128(xxh3.Hash128(f.config.text())), Weights: text128(all.Sum128()),
		Tokenizer: words}
	return *f.print, nil
}

// hashWords returns the hash of the tokenizer.json of a folder, empty without one.
func hashWords(dir string) (string, error) {
	sum, err := hashFile(filepath.Join(dir, tokenizerFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", nil
	case err != nil:
		return "", &Error{Base: errtext.Base{Op: "fingerprint", Err: ErrTokenizer, Cause: err}, Name: tokenizerFile}
	}
	return sum, nil
}

// hashFile returns the hash of a regular file of any size.
func hashFile(path string) (string, error) {
	f, err := wholefile.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() // it was only read
	h := xxh3.New()
	_, err = io.Copy(h, f)
	return text128(h.Sum128()), err
}

func text128(sum xxh3.Uint128) string {
	b := sum.Bytes()
	return hex.EncodeToString(b[:])
}

// text is the description as text: equal for equal models.
func (c Config) text() []byte {
	q := c.quantization
	c.quantization, c.BOS, c.EOS = nil, 0, nil // the quantization is visible in the tensors
	if q != nil {
		return fmt.Appendf(nil, "%+v %d %d", c, q.Size, q.Bits)
	}
	return fmt.Appendf(nil, "%+v", c)
}

// use counts a Model of the Folder; the caller calls the returned function when it is closed.
func (f *Folder) use() (func(), error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, &Error{Base: errtext.Base{Op: "load", Err: ErrClosed}, Name: f.dir}
	}
	f.users++
	return sync.OnceFunc(func() {
		f.mu.Lock()
		f.users--
		f.mu.Unlock()
	}), nil
}

// Close unmaps the weights. The error is ErrInUse while a Model of the Folder is open. Repeated calls do nothing.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	if f.users > 0 {
		return &Error{Base: errtext.Base{Op: "close", Err: ErrInUse, Detail: fmt.Sprintf("%d models are open", f.users),
			Hint: "close the models first"}, Name: f.dir}
	}
	if err := f.file.Close(); err != nil {
		kind := ErrWeights
		if errors.Is(err, unimem.ErrInUse) {
			kind = ErrInUse
		}
		return &Error{Base: errtext.Base{Op: "close", Err: kind, Cause: err}, Name: f.dir}
	}
	f.closed = true
	return nil
}

// module is a part of the model with a tensor of its own.
type module struct {
	name  string // of the tensor, without ".weight"
	shape []int
	bias  bool // it has a bias beside the weight
	dense bool // it is never quantized
}

// modules lists the parts of the model.
func (c Config) modules() []module {
	q, kv, d := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim, c.HeadDim
	all := []module{
		{name: embedding, shape: []int{c.Vocabulary, c.Hidden}},
		{name: finalNorm, shape: []int{c.Hidden}, dense: true},
	}
	if !c.Tied {
		all = append(all, module{name: head, shape: []int{c.Vocabulary, c.Hidden}})
	}
	for i := range c.Layers {
		for _, m := range []module{
			{name: "input_layernorm", shape: []int{c.Hidden}, dense: true},
			{name: "self_attn.q_proj", shape: []int{q, c.Hidden}, bias: c.AttentionBias},
			{name: "self_attn.k_proj", shape: []int{kv, c.Hidden}, bias: c.AttentionBias},
			{name: "self_attn.v_proj", shape: []int{kv, c.Hidden}, bias: c.AttentionBias},
			{name: "self_attn.o_proj", shape: []int{c.Hidden, q}, bias: c.OutputBias},
			{name: "self_attn.q_norm", shape: []int{d}, dense: true},
			{name: "self_attn.k_norm", shape: []int{d}, dense: true},
			{name: "post_attention_layernorm", shape: []int{c.Hidden}, dense: true},
			{name: "mlp.gate_proj", shape: []int{c.Intermediate, c.Hidden}, bias: c.MLPBias},
			{name: "mlp.up_proj", shape: []int{c.Intermediate, c.Hidden}, bias: c.MLPBias},
			{name: "mlp.down_proj", shape: []int{c.Hidden, c.Intermediate}, bias: c.MLPBias},
		} {
			if !c.QKNorm && slices.Contains([]string{"self_attn.q_norm", "self_attn.k_norm"}, m.name) {
				continue
			}
			m.name = layerName(i, m.name)
			all = append(all, m)
		}
	}
	return all
}

// used reports whether the model uses a tensor, or may ignore it. Frequencies of rotations follow from config.json. The
// matrix of the logits may be that of the embedding. Parts beside the layers, such as vision, are not of the language
// model.
func (c Config) used() func(tensor string) bool {
	biased := map[string]bool{} // by module
	for _, m := range append(c.modules(), module{name: head}) {
		biased[m.name] = m.bias
	}
	return func(tensor string) bool {
		dot := strings.LastIndexByte(tensor, '.')
		bias, known := biased[tensor[:max(dot, 0)]]
		if known && tensor[dot:] == ".bias" {
			return bias
		}
		return known || !strings.HasPrefix(tensor, inLayers) || strings.Contains(tensor, ".rotary_emb.")
	}
}

// stored is the name of a tensor in the files.
func (f *Folder) stored(name string) string {
	if f.bare {
		return strings.TrimPrefix(name, base)
	}
	return name
}

// Names of tensors, without ".weight".
const (
	base      = "model." // begins all names but that of the head; files of a base model omit it
	embedding = "model.embed_tokens"
	finalNorm = "model.norm"
	head      = "lm_head"
	inLayers  = "model.layers." // begins the names of a layer's tensors
)

func layerName(layer int, module string) string {
	return fmt.Sprintf(inLayers+"%d.%s", layer, module)
}

// Tokenizer reads tokenizer.json of the folder. The error matches ErrTokenizer.
func (f *Folder) Tokenizer() (*tokenizer.Tokenizer, error) {
	return tokenizer.Read(filepath.Join(f.dir, tokenizerFile))
}
