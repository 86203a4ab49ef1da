package run

// Leap goes to another step, unless its operand is true. Without an operand it always does. As a mark, to which others
// leap, it goes to step To = 0, so it does not.
type Leap struct{}

// Run implements Runner.
func (Leap) Run(c *Call) { c.Leaps = c.To > 0 && (len(c.In) == 0 || c.In[0].Raw[0] == 0) }

// Span implements Runner.
func (Leap) Span(*Call, int, int, int) {}
