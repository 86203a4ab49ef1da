package wire

// Report asks how the broker has one surface of this connection mapped, so that a client can check that nothing is
// copied. No other answer tells an address.
type Report struct {
	Surface uint32 // token
	Page    uint32 // first page whose frame is asked for
	Pages   uint32 // how many, at most MaxFrames; 0 for none
	Memory  bool   // asks for Mapping and Rest too, which the kernel counts page by page
}

// Reported answers Report.
type Reported struct {
	PID     uint32 // the broker's process
	Address uint64 // of the surface's first byte there; 0 while no request is bound to it

	Hidden bool     // the system shows the broker no page frames
	Frames []uint64 // of the pages asked for; 0 where Hidden, and after the surface's end

	Mapping Mapping // of the surface, if Memory was asked for
	Rest    Amounts // of the process without the surfaces of its clients and files on disk, likewise
}

// Mapping is what the kernel tells of a range of addresses of the broker.
type Mapping struct {
	Device, Inode uint64 // of the memory
	Offset        uint64 // of the first byte in the memory
	Shared        bool   // writes reach the memory
	Amounts
}

// Amounts are bytes of memory, as proc_pid_smaps(5) has them.
type Amounts struct {
	Resident, Proportional, PrivateDirty uint64
}

func (p *Report) fields(c *coder) {
	c.u32("surface", &p.Surface)
	c.u32("page", &p.Page)
	c.below("pages", &p.Pages, MaxFrames+1)
	c.flag("memory", &p.Memory)
}

func (p *Reported) fields(c *coder) {
	c.u32("pid", &p.PID)
	c.u64("address", &p.Address)
	c.flag("hidden", &p.Hidden)
	for i := range items(c, "frames", &p.Frames, MaxFrames) {
		c.u64("frame", &p.Frames[i])
	}
	c.u64("device", &p.Mapping.Device)
	c.u64("inode", &p.Mapping.Inode)
	c.u64("offset", &p.Mapping.Offset)
	c.flag("shared", &p.Mapping.Shared)
	p.Mapping.fields(c)
	p.Rest.fields(c)
}

func (a *Amounts) fields(c *coder) {
	c.u64("resident", &a.Resident)
	c.u64("proportional", &a.Proportional)
	c.u64("private dirty", &a.PrivateDirty)
}
