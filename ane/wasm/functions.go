package wasm

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/anekit/anekit/ane/kv"
)

// Version is the number of the interface of the module anekit. A further function keeps it.
const Version = 1

// Function is a further function of the module anekit, for a host that offers more than this package. Its parameters
// and its result are i32.
type Function struct {
	Name   string
	Params int // how many
	// Call gets the parameters without a sign. The guest gets the result, or for an error its Code: the one that the
	// error wraps, or one that this package chooses. error_text has the error's text. ctx ends with the time of the
	// guest's call. A panic traps the guest.
	Call func(ctx context.Context, g *Guest, p []uint64) (int, error)
}

// functions lists the functions of the module anekit.
func functions() []Function {
	return []Function{
		{"version", 0, func(context.Context, *Guest, []uint64) (int, error) { return Version, nil }},
		{"alignment", 0, func(_ context.Context, g *Guest, _ []uint64) (int, error) { return g.host.alignment(), nil }},
		{"error_text", 2, errorText},
		{"print", 2, printText},
		{"program_open", 2, programOpen},
		{"program_compile", 2, programCompile},
		on("program_close", 1, programClose),
		on("tensor_bytes", 3, tensorBytes),
		on("tensor_stride", 4, tensorStride),
		on("request_open", 1, requestOpen),
		on("bind", 5, bindRange),
		on("bind_keys", 5, bindCache((*kv.Cache).Keys)),
		on("bind_values", 5, bindCache((*kv.Cache).Values)),
		on("evaluate", 1, evaluate),
		on("start", 1, start),
		on("wait", 1, wait),
		on("request_close", 1, requestClose),
		{"cache_open", 4, cacheOpen},
		on("cache_append", 5, cacheAppend),
		on("cache_advance", 2, func(_ context.Context, _ *Guest, c *cache, p []uint64) (int, error) {
			return 0, c.Advance(int(int32(p[1])))
		}),
		on("cache_length", 1, func(_ context.Context, _ *Guest, c *cache, _ []uint64) (int, error) {
			return c.Len(), nil
		}),
		on("cache_truncate", 2, func(_ context.Context, _ *Guest, c *cache, p []uint64) (int, error) {
			return 0, c.Truncate(int(int32(p[1])))
		}),
		on("cache_close", 1, cacheClose),
		{"gpu_alignment", 0, gpuAlignment},
		{"gpu_run", 6, gpuRun},
	}
}

// on is a function whose first parameter is the handle of an open object of type T.
func on[T any](name string, params int, call func(context.Context, *Guest, T, []uint64) (int, error)) Function {
	return Function{name, params, func(ctx context.Context, g *Guest, p []uint64) (int, error) {
		o, ok := g.objects[int32(p[0])].(T)
		if !ok {
			return 0, fmt.Errorf("%w: %d is not a %s", CodeHandle, int32(p[0]), kindOf(o))
		}
		return call(ctx, g, o, p)
	}}
}

func kindOf(o any) string {
	switch o.(type) {
	case *program:
		return "program"
	case *request:
		return "request"
	}
	return "cache"
}

// define describes the module anekit.
func (h *Host) define(r wazero.Runtime) wazero.HostModuleBuilder {
	b := r.NewHostModuleBuilder("anekit")
	own := functions()
	for i, f := range append(own, h.config.more...) {
		params := make([]api.ValueType, f.Params)
		for i := range params {
			params[i] = api.ValueTypeI32
		}
		b.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(ctx context.Context, stack []uint64) {
			g := guestOf(ctx, i >= len(own))
			stack[0] = api.EncodeI32(int32(g.answer(ctx, f, stack)))
		}), params, []api.ValueType{api.ValueTypeI32}).Export(f.Name)
	}
	return b
}

// guestOf is the guest whose code calls a function, which may keep ctx if it is lent.
func guestOf(ctx context.Context, lent bool) *Guest {
	if c, ok := ctx.(*callContext); ok {
		c.lent = c.lent || lent
		return c.guest
	}
	g, ok := ctx.Value(guestKey{}).(*Guest)
	if !ok {
		panic("called by no guest")
	}
	return g
}

// answer calls a function for the guest. It returns the result or a Code.
func (g *Guest) answer(ctx context.Context, f Function, stack []uint64) int {
	p := stack[:f.Params]
	for i := range p {
		p[i] &= 1<<32 - 1
	}
	call := f.Call
	if g.memory == nil { // the binary's start function runs
		call = early
	}
	n, err := call(ctx, g, p)
	if err == nil {
		return n
	}
	text := f.Name + ": " + err.Error()
	g.world.Failure = strings.ToValidUTF8(text[:min(len(text), maxFailure)], "")
	return int(codeOf(err))
}

// early is what a start function gets in place of each function.
func early(context.Context, *Guest, []uint64) (int, error) {
	return 0, fmt.Errorf("%w: the guest does not run yet; call it from %s", CodeUnsupported, initialize)
}

// text reads a text of the guest.
func (g *Guest) text(ptr, length uint64, most int) (string, error) {
	if length > uint64(most) {
		return "", fmt.Errorf("%w: a text of %d bytes, at most %d", CodeLimit, length, most)
	}
	b, err := g.memory.Range(ptr, length)
	if err == nil && !utf8.Valid(b) {
		err = fmt.Errorf("%w: the text is not UTF-8", CodeArgument)
	}
	return string(b), err
}

// name reads the name of a program or tensor.
func (g *Guest) name(ptr, length uint64) (string, error) { return g.text(ptr, length, 256) }

func errorText(_ context.Context, g *Guest, p []uint64) (int, error) {
	b, err := g.memory.Range(p[0], p[1])
	return copy(b, g.world.Failure), err
}

func printText(_ context.Context, g *Guest, p []uint64) (int, error) {
	b, err := g.memory.Range(p[0], p[1])
	if err == nil {
		_, err = g.limits.Output.Write(b)
	}
	return 0, err
}
