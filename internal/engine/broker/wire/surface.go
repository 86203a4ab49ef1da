package wire

// Surface registers the memory of a Block; its memfd is the frame's one descriptor.
type Surface struct {
	ID    uint32 // the client's Block.ID, for logs
	Size  uint64 // bytes, as Block.Size
	Token uint32 // the number by which this connection will name it, chosen by the client
}

// SurfaceReply accepts one.
type SurfaceReply struct {
	Token uint32
}

// Drop forgets a surface.
type Drop struct {
	Token uint32
}

func (p *Surface) fields(c *coder) {
	c.u32("id", &p.ID)
	c.size("size", &p.Size)
	c.u32("token", &p.Token)
}

func (p *SurfaceReply) fields(c *coder) { c.u32("token", &p.Token) }

func (p *Drop) fields(c *coder) { c.u32("token", &p.Token) }
