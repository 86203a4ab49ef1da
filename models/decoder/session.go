package decoder

import (
	"context"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/kv"
)

// Session is one conversation. One goroutine at a time uses it.
type Session struct {
	model  *Model
	cache  *kv.Cache
	tokens []int // whose keys and values are in the cache
	logits []float32
	copied int64
}

// Prefill takes tokens, in chunks. Afterwards Logits has those of the last one. Without tokens it does nothing.
//
// Errors: ErrVocabulary, ErrTooLong (nothing has run in both cases), those of ane.Request.Evaluate, after which the
// session is what it was before the chunk that failed.
func (s *Session) Prefill(ctx context.Context, tokens []int) error { return nil }

// Step takes one token. Errors are those of Prefill.
func (s *Session) Step(ctx context.Context, token int) error { return nil }

// Logits returns a number for each token of the vocabulary, the higher, the more likely it comes next: of the last
// token taken. They are valid until the next call of Prefill, Step or Truncate; nil before the first token, and after
// a restored snapshot.
func (s *Session) Logits() []float32 { return s.logits }

// Tokens returns the tokens taken so far. The caller must not change them.
func (s *Session) Tokens() []int { return s.tokens }

// Position is the position of the next token: the number of tokens taken.
func (s *Session) Position() int { return len(s.tokens) }

// Cache returns the keys and values of the tokens. The Session owns it.
func (s *Session) Cache() *kv.Cache { return s.cache }

// Copied is the number of bytes that the session has copied so far: rows of the embedding, rotations and masks into
// the inputs, keys and values into the cache, logits to float32, and what the cache itself has copied.
func (s *Session) Copied() int64 { return s.copied }

// Receipt describes the engine that runs the session.
func (s *Session) Receipt() ane.Receipt { return s.model.Receipt() }

// Truncate keeps the oldest n tokens. Logits is nil afterwards, unless n is Position.
func (s *Session) Truncate(n int) error { return nil }

// Close frees the session's requests and memory. Repeated calls do nothing.
func (s *Session) Close() error { return nil }
