package decoder

import (
	"errors"
	"strings"
)

// The kinds of error of a call, for errors.Is.
var (
	// ErrConfig: config.json is missing, is no JSON, or has a value that this package does not know.
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
	ErrTokenizer = errors.New("no usable tokenizer")
	// ErrSampler: settings or a state of a Sampler that mean nothing.
	ErrSampler = errors.New("sampler cannot be used")
	// ErrLimits: the model does not keep within the limits of a chip or engine.
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
	Op     string // the call: "open", "load", "prefill", ...
	Name   string // the file, tensor or key of config.json at fault; may be empty
	Detail string // what is wrong, with numbers
	Hint   string // how to fix it; may be empty
	Err    error  // one of the sentinels of this package
	Cause  error  // the error of the file, the memory or the engine, or nil
}

// Error returns the text on one line.
func (e *Error) Error() string {
	parts := []string{"decoder: " + e.Op}
	if e.Name != "" {
		parts = append(parts, e.Name)
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	if e.Detail != "" {
		parts = append(parts, e.Detail)
	}
	if e.Cause != nil {
		parts = append(parts, strings.ReplaceAll(e.Cause.Error(), "\n", "; "))
	}
	text := strings.Join(parts, ": ")
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap returns the sentinel and the cause.
func (e *Error) Unwrap() (all []error) {
	for _, err := range []error{e.Err, e.Cause} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}
