package matrix

import (
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// Integers is the runner of a product of int32 matrices, whose sums wrap around. Its items are the rows of the result,
// counted through the batch. Input 2 is added to each row if there is a bias.
type Integers struct {
	ops.Matmul
	ByX, ByY []int // strides in matrices along the batch axes
	Bias     bool
}

// Run implements run.Runner.
func (r *Integers) Run(c *run.Call) {
	cost := r.K
	if r.N <= 1<<31/max(r.K, 1) {
		cost *= r.N
	}
	c.Spread(ops.Volume(r.Batch)*r.M, cost)
}

// Span computes rows lo to hi.
func (r *Integers) Span(c *run.Call, lo, hi, worker int) {
	xRow, xStep, yStep, yCol := r.K, 1, r.N, 1
	if r.TransposeX {
		xRow, xStep = 1, r.M
	}
	if r.TransposeY {
		yStep, yCol = 1, r.K
	}
	for i := lo; i < hi && !c.Pause(worker); i++ {
		x := c.In[0].Ints[Offset(i/r.M, r.Batch, r.ByX)*r.M*r.K+i%r.M*xRow:]
		y := c.In[1].Ints[Offset(i/r.M, r.Batch, r.ByY)*r.K*r.N:]
		for col := 0; col < r.N && !c.Pause(worker); col++ {
			var sum int32
			for k := range r.K {
				sum += x[k*xStep] * y[k*yStep+col*yCol]
			}
			if r.Bias {
				sum += c.In[2].Ints[col]
			}
			c.Out[0].Ints[i*r.N+col] = sum
		}
	}
}
