package build

// Gamma is the factor of normalized values: for LayerNorm of the shape of the axes, for BatchNorm and InstanceNorm one
// number for each channel. The default is 1.
type Gamma Value

// Beta is added after the multiplication by Gamma, of the same shape. The default is 0.
type Beta Value

// Epsilon is added to the variance, by L2Norm to the sum of squares. The default is 1e-5, that of L2Norm 1e-6.
type Epsilon float64

func (g Gamma) set(c *call)   { c.put("gamma", Value(g)) }
func (b Beta) set(c *call)    { c.put("beta", Value(b)) }
func (e Epsilon) set(c *call) { c.put("epsilon", float64(e)) }

// LayerNorm scales x to a mean of 0 and a variance of 1 over axes.
func (f *Func) LayerNorm(x Value, axes []int, options ...Optional) Value {
	return f.plain("layer_norm", x, nil, nil, axes, options)
}

// BatchNorm subtracts mean from x [N, C, ..] and divides by the square root of variance; both have one number for each
// channel.
func (f *Func) BatchNorm(x, mean, variance Value, options ...Optional) Value {
	return f.plain("batch_norm", x, mean, variance, options)
}

// InstanceNorm scales each channel of each image of x [N, C, ..] to a mean of 0 and a variance of 1.
func (f *Func) InstanceNorm(x Value, options ...Optional) Value {
	return f.plain("instance_norm", x, options)
}

// L2Norm divides x by the square root of the sum of squares over its last three axes.
func (f *Func) L2Norm(x Value, options ...Optional) Value {
	return f.plain("l2_norm", x, options)
}

// LocalResponse holds the settings of LocalResponseNorm.
type LocalResponse struct {
	Size           int     // channels of a neighborhood
	Alpha, Beta, K float64 // usually 1e-4, 0.75 and 1
}

// LocalResponseNorm divides each element of x [N, C, ..] by (K + Alpha/Size * sum)^Beta, where sum is that of the
// squares of the channels at a distance of up to Size/2.
func (f *Func) LocalResponseNorm(x Value, r LocalResponse) Value {
	return f.plain("local_response_norm", x, r.Size, r.Alpha, r.Beta, r.K)
}
