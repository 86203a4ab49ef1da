package mil

// Blobs returns every reference to a weight file in the program, in the order of
// the text.
func (p *Program) Blobs() []*Blob {
	return p.collect().found
}

// Weights returns every value whose elements are in a weight file, in the order of
// the text.
func (p *Program) Weights() []*Value {
	return p.collect().values
}

func (p *Program) collect() (c collector) {
	for _, f := range p.Funcs {
		for _, op := range f.Body {
			c.args(op.Args)
			c.args(op.Attrs)
		}
	}
	return c
}

// collector gathers the Blobs of literals, and the values that consist of one.
type collector struct {
	found  []*Blob
	values []*Value
}

func (c *collector) args(args []Arg) {
	for _, a := range args {
		c.operand(a.Value)
	}
}

func (c *collector) operand(o Operand) {
	switch o := o.(type) {
	case *Value:
		c.literal(o)
	case *Values:
		for _, i := range o.Items {
			c.operand(i)
		}
	case *Nested:
		c.args(o.Args)
		c.args(o.Attrs)
	}
}

func (c *collector) literal(l Literal) {
	switch l := l.(type) {
	case *Value:
		if l.Blob() != nil {
			c.values = append(c.values, l)
		}
		c.literal(l.Literal)
	case *Blob:
		c.found = append(c.found, l)
	case *ListLit:
		c.literals(l.Items)
	case *TupleLit:
		c.literals(l.Items)
	case *DictLit:
		for _, p := range l.Pairs {
			c.literals([]Literal{p.Key, p.Value})
		}
	}
}

func (c *collector) literals(items []Literal) {
	for _, i := range items {
		c.literal(i)
	}
}
