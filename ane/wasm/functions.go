package wasm

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/unimem"
)

// Version is the number of the interface of the module anekit. A further function keeps it.
const Version = 1

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
	f32 = api.ValueTypeF32
)

// nameBytes bounds the names that guests pass.
const nameBytes = 256

// functions lists the functions of the module anekit.
func functions() []Function {
	return []Function{
		plain("version", 0, func(context.Context, *Guest, []uint64) (int32, error) { return Version, nil }),
		plain("alignment", 0, func(_ context.Context, g *Guest, _ []uint64) (int32, error) {
			return int32(g.host.Alignment()), nil
		}),
		plain("error_text", 2, errorText),
		plain("print", 2, printText),
		plain("program_open", 2, programOpen),
		plain("program_compile", 2, programCompile),
		plain("program_close", 1, programClose),
		plain("tensor_bytes", 3, tensorBytes),
		plain("tensor_stride", 4, tensorStride),
		plain("request_open", 1, requestOpen),
		plain("bind", 5, bindRange),
		plain("bind_keys", 5, func(_ context.Context, g *Guest, p []uint64) (int32, error) {
			return 0, g.bindCache("bind_keys", p, (*kv.Cache).Keys)
		}),
		plain("bind_values", 5, func(_ context.Context, g *Guest, p []uint64) (int32, error) {
			return 0, g.bindCache("bind_values", p, (*kv.Cache).Values)
		}),
		plain("evaluate", 1, func(ctx context.Context, g *Guest, p []uint64) (int32, error) {
			r, err := object[*request](g, "evaluate", p[0])
			if err != nil {
				return 0, err
			}
			return 0, g.evaluate(ctx, r)
		}),
		plain("start", 1, func(_ context.Context, g *Guest, p []uint64) (int32, error) {
			r, err := object[*request](g, "start", p[0])
			if err != nil {
				return 0, err
			}
			return 0, g.start(r)
		}),
		plain("wait", 1, func(ctx context.Context, g *Guest, p []uint64) (int32, error) {
			r, err := object[*request](g, "wait", p[0])
			if err != nil {
				return 0, err
			}
			return 0, g.wait(ctx, r)
		}),
		plain("request_close", 1, requestClose),
		plain("cache_open", 4, func(_ context.Context, g *Guest, p []uint64) (int32, error) {
			return g.openCache(uint32(p[0]), uint32(p[1]), uint32(p[2]), uint32(p[3]))
		}),
		plain("cache_append", 5, cacheAppend),
		plain("cache_advance", 2, onCache("cache_advance", func(c *cache, n int) (int, error) {
			return 0, c.Advance(n)
		})),
		plain("cache_length", 1, onCache("cache_length", func(c *cache, _ int) (int, error) { return c.Len(), nil })),
		plain("cache_truncate", 2, onCache("cache_truncate", func(c *cache, n int) (int, error) {
			return 0, c.Truncate(n)
		})),
		plain("cache_close", 1, cacheClose),
		{"sampler_open", []api.ValueType{f32, f32, i64}, []api.ValueType{i32}, answered("sampler_open", samplerOpen)},
		plain("sample", 4, sample),
		plain("sampler_close", 1, func(_ context.Context, g *Guest, p []uint64) (int32, error) {
			_, err := object[Sampler](g, "sampler_close", p[0])
			if err == nil {
				g.remove(int32(uint32(p[0])))
			}
			return 0, err
		}),
	}
}

// plain is a function of n i32 parameters.
func plain(name string, n int, f func(context.Context, *Guest, []uint64) (int32, error)) Function {
	params := make([]api.ValueType, n)
	for i := range params {
		params[i] = i32
	}
	return Function{name, params, []api.ValueType{i32}, answered(name, f)}
}

// answered returns a function whose error becomes a Code, with the text for error_text.
func answered(name string, f func(context.Context, *Guest, []uint64) (int32, error)) func(context.Context, *Guest,
	[]uint64) {
	return func(ctx context.Context, g *Guest, stack []uint64) {
		n, err := f(ctx, g, stack)
		if err != nil {
			n = int32(g.Fail(name, err))
		}
		if len(stack) == 0 {
			return
		}
		stack[0] = api.EncodeI32(n)
	}
}

// Fail notes the error of a Function for error_text, and returns its Code for the guest.
func (g *Guest) Fail(name string, err error) Code {
	text := name + ": " + err.Error()
	g.world.Failure = text[:min(len(text), MaxFailure)]
	return CodeOf(err)
}

func errorText(_ context.Context, g *Guest, p []uint64) (int32, error) {
	b, err := g.memory.Range(p[0]&0xffffffff, p[1]&0xffffffff)
	if err != nil {
		return 0, err
	}
	return int32(copy(b, g.world.Failure)), nil
}

func printText(_ context.Context, g *Guest, p []uint64) (int32, error) {
	b, err := g.memory.Range(p[0]&0xffffffff, p[1]&0xffffffff)
	if err != nil {
		return 0, err
	}
	_, err = g.limits.Output.Write(b)
	return 0, err
}

func programOpen(ctx context.Context, g *Guest, p []uint64) (int32, error) {
	const op = "program_open"
	name, err := g.text(op, p[0], p[1], nameBytes)
	if err != nil {
		return 0, err
	}
	src, ok := g.host.config.programs[name]
	if !ok {
		return 0, &Error{Op: op, Name: name, Code: CodeName, Err: CodeName, Hint: "the host names the programs"}
	}
	return g.open(ctx, op, "name "+name, src)
}

func programCompile(ctx context.Context, g *Guest, p []uint64) (int32, error) {
	const op = "program_compile"
	if g.limits.Text < 0 {
		return 0, &Error{Op: op, Code: CodeUnsupported, Err: CodeUnsupported, Hint: "open a program of the host"}
	}
	text, err := g.text(op, p[0], p[1], g.limits.Text)
	if err != nil {
		return 0, err
	}
	return g.open(ctx, op, "text "+text, ane.Source{File: "guest.mil", Text: []byte(text)})
}

// open opens a program: the handle first, so that a guest at its limit compiles nothing.
func (g *Guest) open(ctx context.Context, op, key string, src ane.Source) (int32, error) {
	opened := &program{}
	handle, err := g.add(op, opened)
	if err != nil {
		return 0, err
	}
	if opened.model, err = g.host.open(ctx, key, src); err != nil {
		g.remove(handle)
		return 0, err
	}
	return handle, nil
}

func programClose(ctx context.Context, g *Guest, p []uint64) (int32, error) {
	const op = "program_close"
	o, err := object[*program](g, op, p[0])
	if err != nil {
		return 0, err
	}
	if o.users > 0 {
		return 0, &Error{Op: op, Code: CodeBusy, Err: CodeBusy, Detail: fmt.Sprintf("%d requests use it", o.users),
			Hint: "close them first"}
	}
	g.remove(int32(uint32(p[0])))
	return 0, g.host.drop(ctx, o.model)
}

// named returns the layout that a program's handle and a name stand for.
func (g *Guest) named(op string, p []uint64) (ane.Layout, error) {
	o, err := object[*program](g, op, p[0])
	if err != nil {
		return ane.Layout{}, err
	}
	name, err := g.text(op, p[1], p[2], nameBytes)
	if err != nil {
		return ane.Layout{}, err
	}
	l, _, err := o.port(op, name)
	return l, err
}

func tensorBytes(_ context.Context, g *Guest, p []uint64) (int32, error) {
	l, err := g.named("tensor_bytes", p)
	if err == nil && l.Bytes() > 1<<31-1 {
		return 0, &Error{Op: "tensor_bytes", Name: l.Name, Code: CodeLimit, Err: CodeLimit,
			Detail: fmt.Sprintf("%d bytes", l.Bytes())}
	}
	return int32(l.Bytes()), err
}

func tensorStride(_ context.Context, g *Guest, p []uint64) (int32, error) {
	l, err := g.named("tensor_stride", p)
	if err != nil {
		return 0, err
	}
	strides := []int{l.BatchStride, l.PlaneStride, l.DepthStride, l.RowStride, l.DType.Size()}
	if axis := uint32(p[3]); axis < uint32(len(strides)) && strides[axis] < 1<<31 {
		return int32(strides[axis]), nil
	}
	return 0, &Error{Op: "tensor_stride", Name: l.Name, Code: CodeArgument, Err: CodeArgument,
		Detail: fmt.Sprintf("axis %d", uint32(p[3])), Hint: "0 to 4 are N, C, D, H, W"}
}

func requestOpen(_ context.Context, g *Guest, p []uint64) (int32, error) {
	o, err := object[*program](g, "request_open", p[0])
	if err != nil {
		return 0, err
	}
	handle, err := g.add("request_open", &request{program: o, bindings: map[string]*binding{}})
	if err == nil {
		o.users++
	}
	return handle, err
}

func bindRange(_ context.Context, g *Guest, p []uint64) (int32, error) {
	r, err := object[*request](g, "bind", p[0])
	if err != nil {
		return 0, err
	}
	name, err := g.text("bind", p[1], p[2], nameBytes)
	if err != nil {
		return 0, err
	}
	return 0, g.bind(r, name, p[3]&0xffffffff, p[4]&0xffffffff)
}

// bindCache binds a cache's tensor to an input.
func (g *Guest) bindCache(op string, p []uint64, side func(*kv.Cache, int) *ane.Tensor) error {
	r, err := object[*request](g, op, p[0])
	if err != nil {
		return err
	}
	name, err := g.text(op, p[1], p[2], nameBytes)
	if err != nil {
		return err
	}
	c, err := object[*cache](g, op, p[3])
	if err != nil {
		return err
	}
	_, input, err := r.program.port(op, name)
	switch {
	case err != nil:
		return err
	case !input:
		return &Error{Op: op, Name: name, Code: CodeMismatch, Err: CodeMismatch, Detail: "it is an output"}
	case r.run != nil:
		return &Error{Op: op, Name: name, Code: CodeBusy, Err: CodeBusy, Hint: "wait for the run first"}
	}
	t := side(c.Cache, int(int32(uint32(p[4]))))
	if t == nil {
		return &Error{Op: op, Name: name, Code: CodeArgument, Err: CodeArgument,
			Detail: fmt.Sprintf("layer %d of %d", int32(uint32(p[4])), c.Config().Layers)}
	}
	return r.set(name, &binding{tensor: t, input: true})
}

func requestClose(_ context.Context, g *Guest, p []uint64) (int32, error) {
	r, err := object[*request](g, "request_close", p[0])
	if err != nil {
		return 0, err
	}
	g.remove(int32(uint32(p[0])))
	return 0, r.close()
}

// onCache is a function of a cache and perhaps a number.
func onCache(op string, f func(*cache, int) (int, error)) func(context.Context, *Guest, []uint64) (int32, error) {
	return func(_ context.Context, g *Guest, p []uint64) (int32, error) {
		c, err := object[*cache](g, op, p[0])
		if err != nil {
			return 0, err
		}
		n := 0
		if len(p) > 1 {
			n = int(int32(uint32(p[1])))
		}
		got, err := f(c, n)
		return int32(got), err
	}
}

func cacheAppend(_ context.Context, g *Guest, p []uint64) (int32, error) {
	const op = "cache_append"
	c, err := object[*cache](g, op, p[0])
	if err != nil {
		return 0, err
	}
	config := c.Config()
	// At most 2^32 times 2^32 bytes: Limits.Caches keeps heads times dim below the second number.
	size := (p[4] & 0xffffffff) * uint64(config.Heads) * uint64(config.HeadDim) * uint64(config.DType.Size())
	k, err := g.memory.Range(p[2]&0xffffffff, size)
	if err != nil {
		return 0, err
	}
	v, err := g.memory.Range(p[3]&0xffffffff, size)
	if err != nil {
		return 0, err
	}
	if err := c.Append(int(int32(uint32(p[1]))), k, v); err != nil {
		return 0, err
	}
	g.AddCopied(int64(len(k) + len(v)))
	return 0, nil
}

func cacheClose(_ context.Context, g *Guest, p []uint64) (int32, error) {
	const op = "cache_close"
	c, err := object[*cache](g, op, p[0])
	if err != nil {
		return 0, err
	}
	if err := c.Close(); err != nil {
		if errors.Is(err, kv.ErrInUse) {
			return 0, &Error{Op: op, Code: CodeBusy, Err: CodeBusy, Cause: err, Hint: "close its requests first"}
		}
		return 0, err
	}
	g.caches -= c.bytes
	g.remove(int32(uint32(p[0])))
	return 0, nil
}

func samplerOpen(_ context.Context, g *Guest, p []uint64) (int32, error) {
	const op = "sampler_open"
	temperature, topP := float64(api.DecodeF32(p[0])), float64(api.DecodeF32(p[1]))
	if !(temperature >= 0) || !(topP > 0 && topP <= 1) {
		return 0, &Error{Op: op, Code: CodeArgument, Err: CodeArgument,
			Detail: fmt.Sprintf("temperature %g, top_p %g", temperature, topP),
			Hint:   "a temperature of 0 or more, a top_p above 0 and at most 1"}
	}
	s, err := g.host.config.sampler(temperature, topP, p[2])
	if err != nil {
		return 0, err
	}
	return g.add(op, s)
}

func sample(_ context.Context, g *Guest, p []uint64) (int32, error) {
	const op = "sample"
	s, err := object[Sampler](g, op, p[0])
	if err != nil {
		return 0, err
	}
	ptr, count, bits := p[1]&0xffffffff, p[2]&0xffffffff, uint32(p[3])
	if bits != 16 && bits != 32 || count == 0 {
		return 0, &Error{Op: op, Code: CodeArgument, Err: CodeArgument,
			Detail: fmt.Sprintf("%d logits of %d bits", count, bits), Hint: "one or more of 16 or 32 bits"}
	}
	b, err := g.memory.Range(ptr, count*uint64(bits/8))
	if err != nil {
		return 0, err
	}
	if bits == 32 {
		logits, err := unimem.View[float32](b)
		if err != nil {
			return 0, misaligned(op, ptr, 4, err)
		}
		return chosen(op, s.Next(logits))
	}
	halves, err := unimem.View[fp16.Bits](b)
	if err != nil {
		return 0, misaligned(op, ptr, 2, err)
	}
	logits := make([]float32, count)
	fp16.Decode(logits, halves)
	g.AddCopied(int64(len(b)))
	return chosen(op, s.Next(logits))
}

// chosen is the result of a Sampler.
func chosen(op string, token int) (int32, error) {
	if token < 0 {
		return 0, &Error{Op: op, Code: CodeArgument, Err: CodeArgument, Detail: "no logit is a number"}
	}
	return int32(token), nil
}

func misaligned(op string, ptr uint64, align int, err error) error {
	return &Error{Op: op, Code: CodeAligned, Err: CodeAligned, Cause: err,
		Detail: fmt.Sprintf("pointer %d is not a multiple of %d", ptr, align)}
}
