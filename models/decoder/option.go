package decoder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/chip"
)

// Form is the form of the programs of a model.
type Form int

const (
	// Engine is the form that Apple's engine prefers: weights of fp16, 1x1 convolutions over columns of 32 tokens,
	// and programs within the limits of a chip.
	Engine Form = iota
	// Compact uses packed weights as stored, and has no limits: for the software engines. They may round what they
	// multiply by weights of 4 and 8 bits to 16 bits.
	Compact
	// EngineInt8 is Engine with matrices of int8: constexpr_affine_dequantize with a scale for each row of a matrix.
	// It rounds every weight to one of 255 steps of its row.
	EngineInt8
)

var formNames = [...]string{Engine: "engine", Compact: "compact", EngineInt8: "engine-int8"}

// Forms lists the forms.
func Forms() []Form { return []Form{Engine, EngineInt8, Compact} }

// String returns the name of the form: "engine", "engine-int8" or "compact".
func (f Form) String() string { return formNames[f] }

// ParseForm returns the Form of a name. The error for another name lists the forms.
func ParseForm(name string) (Form, error) {
	if i := slices.Index(formNames[:], name); i >= 0 {
		return Form(i), nil
	}
	return 0, fmt.Errorf("decoder: no form %q; the forms are %s", name, strings.Join(formNames[:], ", "))
}

// Option configures Load.
type Option func(*options)

type options struct {
	form    Form
	context int // rounded up to kv.Step
	tokens  int // as given
	reserve int // tokens; 0: all of context
	chunk   int
	chosen  bool // chunk was given
	chip    chip.Chip
	weights int64 // of a program, for tests; 0: the limit of the chips
}

// WithForm chooses the form of the programs. The default is Engine.
func WithForm(f Form) Option { return func(o *options) { o.form = f } }

// Context is the number of tokens that a session has room for. It is rounded up to kv.Step. The default is all
// positions of the model, at most 4096.
func Context(tokens int) Option { return func(o *options) { o.context = tokens } }

// Reserve is the number of tokens whose keys and values a session reserves at its start; the default is all of Context.
// When a pass needs more, the room doubles, up to Context: the keys and values move to new memory once, and programs of
// that room are compiled the first time. unimem.Warm of NewSession reserves physically. Only the form Compact on an
// engine without ane.Info.MinSurface can grow; elsewhere the session reserves all.
func Reserve(tokens int) Option { return func(o *options) { o.reserve = tokens } }

// Chunk is the number of tokens of a prompt that one pass takes: a multiple of 32. The default is 256 in the form
// Compact. In the forms of engines it is 64, or 32 where more programs cannot be loaded at once. A step takes 32
// columns too, so with chunks of 32 both have the same programs.
func Chunk(tokens int) Option { return func(o *options) { o.chunk = tokens } }

// Chip is the chip whose limits the programs of the forms of engines keep. Without it they keep those of every chip.
func Chip(c chip.Chip) Option { return func(o *options) { o.chip = c } }
