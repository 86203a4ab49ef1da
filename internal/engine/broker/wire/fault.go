package wire

// Fault answers a request that failed. Its fields are those of ane.Error.
type Fault struct {
	Code   uint32   // number of the sentinel; 0 for none
	Causes []uint32 // further sentinels that the error matches
	Text   string   // of a cause that is no sentinel

	Op, Engine, Name, Detail, Rule, Hint, Domain string
	NSCode                                       int64

	Entitlement string // the one that is missing, when the call was denied
	Return      uint32 // the driver's return code, 0 where it was not the driver

	Lines []Line  // faults in a program's text
	Also  []Fault // further errors of the same call; theirs are left out
}

// Line is a fault in a program's text.
type Line struct {
	File      string
	Line, Col uint32
	Msg, Hint string
}

func (p *Fault) fields(c *coder) {
	p.own(c)
	for i := range items(c, "also", &p.Also, MaxFaults) {
		p.Also[i].own(c)
	}
}

// own is everything but Also, which nests once.
func (p *Fault) own(c *coder) {
	c.u32("code", &p.Code)
	for i := range items(c, "causes", &p.Causes, MaxCauses) {
		c.u32("cause", &p.Causes[i])
	}
	c.text("text", &p.Text, MaxText)
	c.text("op", &p.Op, MaxName)
	c.text("engine", &p.Engine, MaxName)
	c.text("name", &p.Name, MaxPath)
	c.text("detail", &p.Detail, MaxText)
	c.text("rule", &p.Rule, MaxText)
	c.text("hint", &p.Hint, MaxText)
	c.text("domain", &p.Domain, MaxName)
	c.i64("nscode", &p.NSCode)
	c.text("entitlement", &p.Entitlement, MaxName)
	c.u32("return", &p.Return)
	for i := range items(c, "lines", &p.Lines, MaxLines) {
		l := &p.Lines[i]
		c.text("file", &l.File, MaxPath)
		c.u32("line", &l.Line)
		c.u32("col", &l.Col)
		c.text("msg", &l.Msg, MaxText)
		c.text("hint", &l.Hint, MaxText)
	}
}
