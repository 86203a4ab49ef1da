package detect

import (
	"math"

	"github.com/anekit/anekit/internal/engine/soft/run"
)

// Classify is the runner of classify: the index of the greatest of n probabilities, of equal ones the first, and the
// probabilities.
type Classify int

// Run implements run.Runner.
func (n Classify) Run(c *run.Call) { c.Spread(1, 2*int(n)) }

// Span does all, whatever the piece.
func (n Classify) Span(c *run.Call, _, _, worker int) {
	best, label := math.Inf(-1), 0
	for i := range int(n) {
		if i%pauseEvery == 0 && c.Pause(worker) {
			return
		}
		if p := c.In[0].Value(i); p > best {
			best, label = p, i
		}
	}
	c.Out[0].Ints[0] = int32(label)
	copy(c.Out[1].Raw, c.In[0].Raw)
}
