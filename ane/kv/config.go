package kv

import (
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// Step is the number of tokens by which memory is reserved: Context is rounded up to a multiple of it, and Grow adds
// this many at a time.
const Step = 256

// Config describes a cache. The zero DType is fp16.
type Config struct {
	Layers  int // of the model
	Heads   int // key-value heads of a layer
	HeadDim int // elements of a head
	Context int // tokens to reserve memory for
	DType   mil.DType

	// Grow adds Step tokens in new memory when the tokens reach beyond Context. Without it Append returns ErrFull.
	Grow bool
	// Window, if it is above 0 and not above Context, is the number of tokens that the cache keeps. A further token
	// takes the slot of the oldest one; positions continue to grow. The memory is that of Window tokens, not rounded.
	// Context may then be 0.
	Window int

	// Surface is the least number of bytes of each surface that New makes, for an engine with ane.Info.MinSurface; 0
	// for as many as the tokens take.
	Surface int

	// Sparing keeps few pages in the cache's own mapping of its memory: Append drops those that it no longer needs, and
	// Save and Restore use the mapping of the engine. Without it, an engine that maps the surfaces itself counts these
	// pages a second time. The next access takes a page fault; until then the page is not pinned. It is for Linux, for
	// caches without options, and for Tapes with unimem.SurfacePerSpan.
	Sparing bool
}

// maxCount bounds each number of a Config, so that products of a few of them cannot overflow before they are checked.
const maxCount = 1 << 24

// capacity is the number of tokens of a new cache, and whether it is a window.
func (c Config) capacity() (tokens int, slides bool) {
	if c.Window > 0 && (c.Context == 0 || c.Window <= c.Context) {
		return c.Window, true
	}
	return inSteps(c.Context), false
}

// inSteps rounds a number of tokens up to a multiple of Step.
func inSteps(tokens int) int { return (tokens + Step - 1) / Step * Step }

// checked returns c with its defaults, or the fault.
func (c Config) checked(op string) (Config, error) {
	if c.DType == mil.NoType {
		c.DType = mil.FP16
	}
	for _, v := range []struct {
		name     string
		n, least int
	}{{"Layers", c.Layers, 1}, {"Heads", c.Heads, 1}, {"HeadDim", c.HeadDim, 1}, {"Context", c.Context, 0},
		{"Window", c.Window, 0}} {
		if v.n < v.least || v.n > maxCount {
			return c, newError(op, ErrSize, fmt.Sprintf("%s is %d", v.name, v.n),
				fmt.Sprintf("it is from %d to %d", v.least, maxCount))
		}
	}
	if c.Surface < 0 {
		return c, newError(op, ErrSize, fmt.Sprintf("Surface is %d", c.Surface), "it is a number of bytes, or 0")
	}
	if n, _ := c.capacity(); n == 0 {
		return c, newError(op, ErrSize, "neither Context nor Window", "reserve at least one token")
	}
	return c, nil
}

// layout is the layout of the keys or values of a layer with room for tokens.
func (c Config) layout(name string, tokens int) (ane.Layout, error) {
	return ane.NewLayout(name, c.DType, 1, c.Heads, tokens, c.HeadDim)
}

// DTypeFor is the element type of a cache for a model whose key projection has weights of type weight and scales of
// type scales (mil.NoType without). It is the type of the scales if there are any, because packed weights have the type
// of their container. Otherwise it is the type of the weights if that is fp16, bf16 or fp32, else fp16. The rule is
// that of OptMLX, section 3.2.3. No surface holds bf16, so New refuses it: use fp32 or fp16 then.
func DTypeFor(scales, weight mil.DType) mil.DType {
	if scales != mil.NoType {
		return scales
	}
	switch weight {
	case mil.FP16, mil.BF16, mil.FP32:
		return weight
	}
	return mil.FP16
}
