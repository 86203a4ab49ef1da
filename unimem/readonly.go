package unimem

// ReadOnly marks adopted memory that must not be written to. Only AdoptMemory accepts it.
func ReadOnly() Option { return func(c *config) { c.ReadOnly = true } }

// ReadOnly reports whether the memory must not be written to: a write may end the process. It is
// true for Blocks of MapFile and of AdoptMemory with ReadOnly, also after Close.
func (b *Block) ReadOnly() bool { return b != nil && b.readOnly }
