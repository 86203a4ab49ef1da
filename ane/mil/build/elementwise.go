package build

import "github.com/anekit/anekit/internal/ops"

// GeluMode is the formula of Gelu.
type GeluMode string

// The modes of Gelu.
const (
	GeluExact   GeluMode = ops.GeluExact   // the default
	GeluTanh    GeluMode = ops.GeluTanh    // by tanh
	GeluSigmoid GeluMode = ops.GeluSigmoid // x * sigmoid(1.702 x)
)

func (m GeluMode) set(c *call) { c.put("mode", string(m)) }

// Gelu returns the Gaussian error linear unit. The last of several modes applies.
func (f *Func) Gelu(x Value, mode ...GeluMode) Value { return f.plain("gelu", x, each(mode)) }
