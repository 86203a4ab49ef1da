package actor

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/models/decoder"
)

// talker is compiled from guest/talker.c.
//
//go:embed guest/talker.wasm
var talker []byte

// Talker returns the binary of a guest that gives the prompt to the model and then says what the sampler chooses, token
// by token. It keeps the tokens in its memory, at most 65,536.
func Talker() []byte { return talker }

// silent is what a guest's next returns when it has nothing more to say.
const silent = -100

// Host runs actors on one Model. Its methods are safe for concurrent use.
type Host struct {
	model *decoder.Model
	wasm  *wasm.Host
}

// NewHost makes a Host for actors that talk with m on d, the Device of m. Both stay the caller's: close them after the
// Host. opts are those of wasm.NewHost, for guests that use the engine themselves. Errors are those of wasm.NewHost.
func NewHost(ctx context.Context, d *ane.Device, m *decoder.Model, opts ...wasm.Option) (*Host, error) {
	h, err := wasm.NewHost(ctx, d, append([]wasm.Option{wasm.Functions(functions()...)}, opts...)...)
	if err != nil {
		return nil, err
	}
	return &Host{m, h}, nil
}

// Close frees the Host. The error matches wasm.ErrInUse while an Actor is open. Repeating it does nothing.
func (h *Host) Close(ctx context.Context) error { return h.wasm.Close(ctx) }

// Code is a guest that can be frozen. Several Actors may run it.
type Code struct {
	host    *Host
	binary  *wasm.Binary
	sum     [sha256.Size]byte // of the binary as Load got it
	globals []global
}

// Load compiles a guest with an export for each of its mutable globals. The error matches ErrGuest and says what a
// snapshot could not hold, or wasm.ErrCode. The caller closes the Code after its Actors.
func (h *Host) Load(ctx context.Context, text []byte) (*Code, error) {
	e, err := expose(text)
	if err != nil {
		return nil, &Error{Base: errtext.Base{Op: "load", Err: ErrGuest, Cause: err}}
	}
	b, err := h.wasm.Compile(ctx, e.text)
	if err != nil {
		return nil, err
	}
	return &Code{h, b, sha256.Sum256(text), e.globals}, nil
}

// Close frees the machine code. The error is that of wasm.Binary.Close.
func (c *Code) Close(ctx context.Context) error { return c.binary.Close(ctx) }

// actorKey is the key of the Actor in the context of its guest's calls.
type actorKey struct{}

// functions lists the functions that this package adds to the module anekit.
func functions() []wasm.Function {
	return []wasm.Function{
		function("prompt_length", 0, func(_ context.Context, a *Actor, _ []uint64) (int, error) {
			return len(a.prompt), nil
		}),
		function("prompt_read", 2, func(_ context.Context, a *Actor, p []uint64) (int, error) {
			return write(a, p, a.prompt, func(id int) uint32 { return uint32(id) })
		}),
		function("vocabulary", 0, func(_ context.Context, a *Actor, _ []uint64) (int, error) {
			return a.code.host.model.Config().Vocabulary, nil
		}),
		function("position", 0, func(_ context.Context, a *Actor, _ []uint64) (int, error) {
			return a.session.Position(), nil
		}),
		function("prefill", 2, prefill),
		function("step", 1, func(ctx context.Context, a *Actor, p []uint64) (int, error) {
			return 0, a.session.Step(ctx, int(int32(p[0])))
		}),
		function("choose", 0, func(ctx context.Context, a *Actor, _ []uint64) (int, error) {
			logits, err := a.logits(ctx)
			if err != nil {
				return 0, err
			}
			token := a.sampler.Next(logits)
			if token < 0 {
				return 0, &decoder.Error{Base: errtext.Base{Op: "choose", Err: decoder.ErrNaN,
					Detail: "no logit is a number"}}
			}
			return token, nil
		}),
		function("logits", 2, func(ctx context.Context, a *Actor, p []uint64) (int, error) {
			logits, err := a.logits(ctx)
			if err != nil {
				return 0, err
			}
			return write(a, p, logits, math.Float32bits)
		}),
		function("truncate", 1, func(_ context.Context, a *Actor, p []uint64) (int, error) {
			return 0, a.session.Truncate(int(int32(p[0])))
		}),
	}
}

// function is a function that the guest of an Actor calls. It gives errors of package decoder a Code.
func function(name string, params int, call func(context.Context, *Actor, []uint64) (int, error)) wasm.Function {
	return wasm.Function{Name: name, Params: params,
		Call: func(ctx context.Context, g *wasm.Guest, p []uint64) (int, error) {
			a, _ := ctx.Value(actorKey{}).(*Actor)
			if a == nil || a.guest != g {
				return 0, fmt.Errorf("%w: the actor does not run yet", wasm.CodeUnsupported)
			}
			n, err := call(ctx, a, p)
			for kind, code := range map[error]wasm.Code{decoder.ErrVocabulary: wasm.CodeArgument,
				decoder.ErrTooLong: wasm.CodeFull, decoder.ErrClosed: wasm.CodeClosed} {
				if errors.Is(err, kind) {
					return 0, fmt.Errorf("%w: %w", code, err)
				}
			}
			return n, err
		}}
}

// write writes up to p[1] numbers to the guest's memory at p[0], and returns how many.
func write[T any](a *Actor, p []uint64, all []T, bits func(T) uint32) (int, error) {
	n := min(uint64(len(all)), p[1])
	b, err := a.guest.Memory().Range(p[0], 4*n)
	if err != nil {
		return 0, err
	}
	for i, v := range all[:n] {
		binary.LittleEndian.PutUint32(b[4*i:], bits(v))
	}
	a.guest.AddCopied(int64(len(b)))
	return int(n), nil
}

// prefill gives the model p[1] tokens of the guest's memory at p[0].
func prefill(ctx context.Context, a *Actor, p []uint64) (int, error) {
	b, err := a.guest.Memory().Range(p[0], 4*p[1])
	if err != nil {
		return 0, err
	}
	if most := uint64(a.code.host.model.Config().Positions); p[1] > most { // before memory is taken for them
		return 0, &decoder.Error{Base: errtext.Base{Op: "prefill", Err: decoder.ErrTooLong,
			Detail: fmt.Sprintf("%d tokens, the model has %d positions", p[1], most)}}
	}
	tokens := make([]int, p[1])
	for i := range tokens {
		tokens[i] = int(int32(binary.LittleEndian.Uint32(b[4*i:])))
	}
	a.guest.AddCopied(int64(len(b)))
	return 0, a.take(ctx, tokens)
}
