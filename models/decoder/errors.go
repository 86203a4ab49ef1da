package decoder

import (
	"errors"

	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/models/decoder/tokenizer"
)

// The kinds of error of a call, for errors.Is.
var (
	// ErrConfig: config.json is missing, is not JSON, or has a value that this package does not know.
	ErrConfig = errors.New("config.json cannot be used")
	// ErrArchitecture: a model that is not of the family.
	ErrArchitecture = errors.New("unknown architecture")
	// ErrWeights: a shard or a tensor is missing, or a tensor has another shape or type than config.json implies.
	ErrWeights = errors.New("weights do not fit the model")
	// ErrNaN: a weight is NaN or infinite, or all logits are NaN.
	ErrNaN = errors.New("number is not finite")
	// ErrVocabulary: a token that the model does not have.
	ErrVocabulary = errors.New("no such token")
	// ErrTooLong: more tokens than the model has positions, or than the session has room for.
	ErrTooLong = errors.New("too many tokens")
	// ErrTokenizer: text without a tokenizer.json, or with one that cannot be used.
	ErrTokenizer = tokenizer.ErrUnusable
	// ErrSampler: invalid settings or an invalid state of a Sampler.
	ErrSampler = errors.New("sampler cannot be used")
	// ErrLimits: the model exceeds a limit of a chip or engine.
	ErrLimits = errors.New("limit of the chip exceeded")
	// ErrSnapshot: a snapshot that does not belong to the session.
	ErrSnapshot = errors.New("snapshot does not fit")
	// ErrClosed: use after Close.
	ErrClosed = errors.New("closed")
	// ErrInUse: Close of a Folder or Model while something that depends on it is open.
	ErrInUse = errors.New("in use")
)

// Error is the error type of this package.
type Error struct {
	errtext.Base        // Op, Err (a sentinel of this package), Detail, Cause (of file, memory, engine) and Hint
	Name         string // the file, tensor or key of config.json at fault; may be empty
}

// newError returns an Error without a cause; detail and hint may be empty.
func newError(op string, kind error, detail, hint string) *Error {
	return &Error{Base: errtext.Base{Op: op, Err: kind, Detail: detail, Hint: hint}}
}

// Error returns the text on one line.
func (e *Error) Error() string {
	call := "decoder: " + e.Op
	if e.Name != "" {
		call += ": " + e.Name
	}
	return e.Line(call)
}
