package decoder

import (
	"context"
	"fmt"
	"slices"
)

// Answer continues a Snapshot. It takes the tokens that the session has not taken, and chooses up to n further ones
// with t.Sampler (greedily without one). It appends each token to t.Answer and then calls each, which may be nil and
// may call SaveFile. Answer returns true after a token that ends a text, also if the Snapshot ends with one. With n 0
// it takes all tokens but the last one, which a restored session has to do as well.
//
// Step takes the last token, so a conversation continues with the same numbers, also if it was saved and restored.
//
// Errors: ErrTooLong (nothing has run), ErrClosed, ErrSnapshot (the session has taken other tokens), ErrNaN (all logits
// are NaN), that of each, and those of Prefill and Step. The Snapshot keeps the tokens chosen before the error.
func (s *Session) Answer(ctx context.Context, t *Snapshot, n int, each func(token int) error) (ended bool, err error) {
	const op = "answer"
	all := t.Tokens()
	if s.closed {
		return false, newError(op, ErrClosed, "", "")
	}
	if err := s.model.config.Room(len(all), n); err != nil {
		return false, err
	}
	if taken := len(all) + n - 1; taken > s.model.o.tokens { // the session does not take the last new token
		return false, s.noRoom(op, taken)
	}
	if len(all) == 0 {
		return false, newError(op, ErrVocabulary, "no token to start from", "give a prompt of at least one token")
	}
	if len(s.tokens) > len(all) || !slices.Equal(s.tokens, all[:len(s.tokens)]) {
		return false, newError(op, ErrSnapshot, fmt.Sprintf("the session has taken %d other tokens", len(s.tokens)), "")
	}
	last := len(all) - 1
	if len(s.tokens) < last {
		if err := s.Prefill(ctx, all[len(s.tokens):last]); err != nil {
			return false, err
		}
	}
	if len(t.Answer) > 0 && s.model.config.Ends(all[last]) {
		return true, nil
	}
	for range n {
		if len(s.tokens) == last+1 && !s.ready {
			if err := s.Truncate(last); err != nil {
				return false, err
			}
		}
		if len(s.tokens) == last {
			if err := s.Step(ctx, all[last]); err != nil {
				return false, err
			}
		}
		token := s.Next(t.Sampler)
		if token < 0 {
			return false, newError(op, ErrNaN, fmt.Sprintf("all logits after token %d are NaN", last),
				"numbers within the model went beyond 65504, the largest of fp16")
		}
		t.Answer, all = append(t.Answer, token), append(all, token)
		last++
		if each != nil {
			if err := each(token); err != nil {
				return false, err
			}
		}
		if s.model.config.Ends(token) {
			return true, nil
		}
	}
	return false, nil
}

// Room returns an ErrTooLong if n tokens after a conversation of taken tokens are more than the model has positions.
func (c Config) Room(taken, n int) error {
	if n < 0 || taken > c.Positions || n > c.Positions-taken {
		return newError("answer", ErrTooLong,
			fmt.Sprintf("%d tokens and %d new ones, the model has %d positions", taken, n, c.Positions),
			"give a shorter prompt, or ask for fewer tokens")
	}
	return nil
}
